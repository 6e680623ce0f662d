import { expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import { samplesOfMessages } from '../../src/streams/data-streams/message-samples.ts'
import { proposeStream } from '../../src/streams/data-streams/stream-proposal.ts'

const nowUs = parseRfc3339('2026-03-01T12:00:00Z') as number

function proposed(...texts: readonly string[]) {
  const sent = texts.map((text) => ({ payload: Buffer.from(text) }))
  return proposeStream(samplesOfMessages(sent, nowUs), { judgeOf, nowUs })
}

const nan = ['-inf', 'inf', 'nan']

test.each([
  [['{"t":NaN,"u":1}', '{"t":2,"u":1}'], { t: { type: 'number', missing: nan } }],
  [['{"e":{"t":-Infinity}}'], { e_t: { type: 'number', from: 'e.t', missing: nan } }],
  [['{"t":NaN}\n{"t":1}'], { t: { type: 'number', missing: nan } }],
])('NaN is no value of a field that has been it: %j', (texts, fields) => {
  const { proposal, misfits } = proposed(...texts)

  expect(misfits).toEqual([])
  expect(proposal.schema).toMatchObject(fields)
})

test('a long integer is a text where paths lead around it', () => {
  const { proposal, misfits } = proposed('{"id":9007199254740993,"a":{"b":1}}')

  expect(misfits).toEqual([])
  expect(proposal.schema).toEqual({
    id: { type: 'string' },
    a_b: { type: 'number', from: 'a.b' },
  })
})

test('a long integer is named where none do', () => {
  const { misfits } = proposed('{"id":9007199254740993,"b":1}')

  expect(misfits).toMatchObject([{ index: 0, error: 'malformed' }])
})

test.each([
  ['a form', ['t=21.5&h=40', 't=22&h=41'], { format: 'form' }, { t: 'number', h: 'number' }],
  ['zeros in front', ['id=007&h=40', 'id=008&h=4'], { format: 'form' }, { id: 'string' }],
  ['lines', ['c,host=a v=1.5\n'], { format: 'line-protocol' }, { host: 'string', v: 'number' }],
  [
    'lines with seconds',
    ['c,host=a v=1i 1769853598'],
    { format: 'line-protocol', precision: 's' },
    { v: 'number' },
  ],
  [
    'lines with nanoseconds',
    ['c v="x y=2" 1769853598000000000\r\n'],
    { format: 'line-protocol' },
    { v: 'string' },
  ],
  [
    'what an exporter shows',
    ['# TYPE up gauge\nup 1\n', 'up{host="a"} NaN\n'],
    { format: 'prometheus', missing: ['nan'] },
    { metric: 'string', host: 'string', value: 'number' },
  ],
  [
    'a file of a logger',
    [
      '"TOA5","1"\n"TIMESTAMP","V"\n"TS",""\n"","Smp"\n"2026-01-31 09:59:58","NAN"\n"2026-01-31 09:59:59",1\n',
    ],
    { format: 'csv', headerLines: 4, columnsLine: 2, timestampField: 'TIMESTAMP' },
    { V: 'number' },
  ],
  ['one pair', ['state=on', 'state=off'], { format: 'plain' }, { value: 'string' }],
  ['a sentence', ['the level is=3 now'], { format: 'plain' }, { value: 'string' }],
  ['a name and a number', ['temperature 21.5'], { format: 'plain' }, { value: 'string' }],
])('%s shows its format', (_, texts, source, types) => {
  const { proposal, misfits } = proposed(...texts)

  expect(misfits).toEqual([])
  expect(proposal.source).toMatchObject(source)
  const found = Object.keys(types).map((name) => [name, proposal.schema[name]?.type])
  expect(Object.fromEntries(found)).toEqual(types)
})

test('a text in another format than most messages is named', () => {
  const { proposal, misfits } = proposed('c v=1', 'c v=2', 'c v=3', 'c v')

  expect(proposal.source).toMatchObject({ format: 'line-protocol' })
  expect(misfits).toMatchObject([{ index: 3, error: 'malformed' }])
})
