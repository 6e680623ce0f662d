import { expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import { samplesOfMessages } from '../../src/streams/data-streams/message-samples.ts'
import { proposeStream } from '../../src/streams/data-streams/stream-proposal.ts'

const nowUs = parseRfc3339('2026-03-01T12:00:00Z') as number

function proposed(pack: readonly object[]) {
  const payload = Buffer.from(JSON.stringify(pack))
  const samples = samplesOfMessages([{ payload }, { payload }], nowUs)
  const { proposal, misfits } = proposeStream(samples, { judgeOf, nowUs })
  expect(misfits).toEqual([])
  return proposal
}

test.each([
  ['a base time', [{ bn: 'urn:dev:1:', bt: 1_769_853_590, n: 't', u: 'Cel', v: 1.5 }]],
  ['times before the receipt', [{ bn: 'urn:dev:1:', n: 't', v: 1.5, t: -5 }]],
])('a pack of SenML with %s is of that format, which has its time', (_, pack) => {
  const { source, schema } = proposed([...pack, { n: '5700', v: 40, t: 1 }, { n: 'on', vb: true }])

  expect(source).toEqual({ format: 'senml-json' })
  expect(schema).toEqual({
    t: { type: 'number' },
    _5700: { type: 'number' },
    on: { type: 'boolean' },
  })
})

test.each([
  [
    'without a base',
    [
      { n: 't', v: 1 },
      { n: 'h', v: 2 },
    ],
  ],
  [
    'with other members',
    [
      { bn: 't', v: 1, site: 'x' },
      { n: 'h', v: 2 },
    ],
  ],
])('a list %s is none', (_, list) => {
  expect(proposed(list).source).not.toHaveProperty('format')
})
