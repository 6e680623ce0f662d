import { expect, test } from 'vitest'
import { ReceivedCounts } from '../../src/ingest/pipeline/received-counts.ts'

test('what a portion received of a stream is counted whole, though the stream was forgotten in its midst', () => {
  const counts = new ReceivedCounts(2)
  const boiler = { id: 'boiler', received: 7, portion: 1 }
  const pump = { id: 'pump', received: 0, portion: 0 }
  const boilerAgain = { id: 'boiler', received: 0, portion: 0 }
  for (const stream of [boiler, pump, boiler, boilerAgain]) counts.add(stream, 1)

  expect(counts.byId()).toEqual(
    new Map([
      ['boiler', 3],
      ['pump', 1],
    ]),
  )
})
