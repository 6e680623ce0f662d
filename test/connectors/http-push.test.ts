import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { httpPush } from '../../connectors/http/http-push.ts'
import { ReceiptClock, systemClock } from '../../src/core/clock.ts'
import { StreamDirectory } from '../../src/ingest/pipeline/stream-directory.ts'
import { LocalPipeline, type LocalVersion } from '../support/local-pipeline.ts'

/** Sends a reading under an Idempotency-Key to a stream that is changed while the key is looked up. */
async function pushAcrossChange(pipeline: LocalPipeline, next: LocalVersion, body: object) {
  const directory = new StreamDirectory(async () => {
    const stream = pipeline.stream()
    return { ...stream, transform: pipeline.versionOf(stream.version).transform ?? [] }
  })
  const { streamId, ownerId } = pipeline.stream()
  const app = Fastify()
  app.setValidatorCompiler(() => () => true)
  await app.register(
    httpPush({
      intake: pipeline.parts.intake,
      findStream: (id) => directory.find(id),
      receipts: new ReceiptClock(systemClock),
      receiptOf: async (_, receivedAtUs) => {
        pipeline.change(next)
        directory.forget(streamId)
        return { receivedAtUs, isRepeated: false }
      },
      assertReady: () => {},
      callerOf: () => ({ userId: ownerId }),
    }),
  )
  const { statusCode } = await app.inject({
    method: 'POST',
    url: `/streams/${streamId}/data`,
    headers: { 'content-type': 'application/json', 'idempotency-key': 'one' },
    payload: JSON.stringify(body),
  })
  await app.close()
  await pipeline.decide()
  await pipeline.ship()
  return statusCode
}

test('a reading that fits the schema before, and not the new one, is refused', async () => {
  await using pipeline = await LocalPipeline.open({ fields: { level: { type: 'number' } } })

  const status = await pushAcrossChange(
    pipeline,
    { fields: { level: { type: 'string' } } },
    { level: 1 },
  )

  expect(status).toBe(422)
  expect(await pipeline.counters()).toMatchObject({ received: 1, quarantined: 1, pending: 0 })
})

test('a transform that has come meanwhile changes the whole reading', async () => {
  const fields = { level: { type: 'number' } } as const
  await using pipeline = await LocalPipeline.open({ fields })
  const transform = [{ scale: { field: 'level', factor: 10, offset: 0 } }]

  await pushAcrossChange(pipeline, { fields, transform }, { level: 1 })

  expect(await pipeline.stored()).toMatchObject([{ values: { level: 10 } }])
})
