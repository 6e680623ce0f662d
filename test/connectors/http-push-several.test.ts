import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { httpPush } from '../../connectors/http/http-push.ts'
import { ReceiptClock, systemClock } from '../../src/core/clock.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { StreamDirectory } from '../../src/ingest/pipeline/stream-directory.ts'
import { LocalPipeline } from '../support/local-pipeline.ts'

/** Streams that are looked up before others have a turn, and more: so there is one in between. */
const otherStreams = 150

test.each(['while its key is looked up', 'while other streams are looked up'])(
  'a message for several streams brings nothing into one that was deleted %s',
  async (moment) => {
    await using pipeline = await LocalPipeline.open({ fields: { level: { type: 'number' } } })
    const { streamId, ownerId } = pipeline.stream()
    let isDeleted = false
    const directory = new StreamDirectory(async (id) =>
      id === streamId && !isDeleted ? pipeline.stream() : undefined,
    )
    const deleteStream = () => {
      isDeleted = true
      directory.forget(streamId)
    }
    const app = Fastify()
    app.setValidatorCompiler(() => () => true)
    await app.register(
      httpPush({
        intake: pipeline.parts.intake,
        findStream: (id) => directory.find(id),
        receipts: new ReceiptClock(systemClock),
        async receiptOf(_, receivedAtUs) {
          await directory.find(streamId)
          if (moment === 'while its key is looked up') deleteStream()
          // The turn of the event loop after this one comes when the first streams were looked up.
          else setImmediate(deleteStream)
          return { receivedAtUs, isRepeated: false }
        },
        assertReady: () => {},
        callerOf: () => ({ userId: ownerId }),
      }),
    )
    const others = Array.from({ length: otherStreams }, () => newId<StreamId>())
    const readings = [streamId, ...others].map((id) => ({ streamId: id, level: 1 }))

    const { body } = await app.inject({
      method: 'POST',
      url: '/data',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'one' },
      payload: JSON.stringify(readings),
    })
    await app.close()
    await pipeline.decide()
    await pipeline.ship()

    expect(isDeleted).toBe(true)
    expect(JSON.parse(body)).toMatchObject({ accepted: 0, rejected: { length: readings.length } })
    expect(await pipeline.counters()).toMatchObject({ received: 0 })
  },
)
