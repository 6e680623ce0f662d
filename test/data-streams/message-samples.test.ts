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
