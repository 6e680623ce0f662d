import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeJson } from '../../processors/decode-json.ts'
import { judgeOf } from '../../processors/index.ts'
import { scanOf } from '../../processors/scan.ts'
import type { CompiledStream, StreamVersion } from '../../src/contracts/reading.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { SparkplugNodes } from '../../src/ingest/pipeline/sparkplug-nodes.ts'
import { movesOf, secondUs } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { metric, payloadOf } from '../support/sparkplug-payloads.ts'

const version: StreamVersion = {
  streamId: newId<StreamId>(),
  ownerId: newId<UserId>(),
  version: 1,
  schema: {
    fields: { level: { type: 'number', required: true } },
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  },
}
const stream: CompiledStream = {
  ...version,
  decode: decodeJson,
  judge: judgeOf(version.schema),
  scan: scanOf(version.schema),
}

/** Data whose alias only a birth that was not heard could explain. */
const payload = Buffer.from(payloadOf([metric('Double', 1, { alias: 1 })], { seq: 7 }))
const topic = 'spBv1.0/plant/NDATA/node7'

test('however the wall clock is set, an edge node is asked for its births every 30 seconds', () => {
  fc.assert(
    fc.property(movesOf(25 * secondUs), (moves) => {
      const clock = new HandClock()
      const nodes = new SparkplugNodes(clock.monotonicMs)
      let askedUs = Number.NEGATIVE_INFINITY
      for (const { passUs, stepUs } of moves) {
        clock.atUs += passUs
        clock.step(stepUs)
        const message = { stream, payload, source: 'mqtt', topic }
        const { request } = nodes.hear(message, topic, clock.nowUs())
        const isDue = clock.steadyUs() - askedUs >= 30 * secondUs
        expect(request !== undefined).toBe(isDue)
        if (isDue) askedUs = clock.steadyUs()
      }
    }),
  )
})
