import type { Client } from 'aedes'
import { expect, test } from 'vitest'
import { Drops } from '../../connectors/mqtt-broker/drops.ts'
import type { TakePublish } from '../../connectors/mqtt-broker/guard/framing.ts'
import { Publisher } from '../../connectors/mqtt-broker/publisher.ts'
import { Routes } from '../../connectors/mqtt-broker/routes.ts'
import type { Session } from '../../connectors/mqtt-broker/sessions.ts'
import { DomainError } from '../../src/core/errors.ts'
import { type FleetId, newId } from '../../src/core/ids.ts'
import { LocalPipeline } from '../support/local-pipeline.ts'

const fleetId = newId<FleetId>()

const nothingTaken: TakePublish = () => false

/** A client of a fleet with one device, whose stream is found unless too many wait. */
async function openClient() {
  const pipeline = await LocalPipeline.open({ fields: { temperature: { type: 'number' } } })
  const stream = pipeline.stream()
  const { streamId, ownerId: userId } = stream
  const control = { isOverloaded: false }
  const topics = {
    streamsOf: () => [],
    devicesOf: () => [{ fleetId, device: 'a' }],
    cover: () => true,
  }
  const routes = new Routes({
    streams: { cached: () => stream, slot: () => ({ stream }), find: async () => stream },
    topics: { generation: 0, cached: () => topics, find: async () => topics },
    devices: {
      cached: () => undefined,
      async find() {
        if (control.isOverloaded)
          throw new DomainError('overloaded', 'too many wait', { retryAfter: 1 })
        return { streamId }
      },
      refused: () => undefined,
    },
  })
  let taken: TakePublish = nothingTaken
  const conn = { open: (take: TakePublish) => void (taken = take), holdFor: () => undefined }
  const session: Partial<Session> = {
    userId,
    mayPublish: true,
    hasEnded: false,
    source: 'mqtt',
    route: undefined,
    lookingUp: undefined,
  }
  const publisher = new Publisher({
    intake: pipeline.parts.intake,
    assertReady: () => undefined,
    routes,
    drops: new Drops({ count: () => 1 }),
    fanOut: { isHeardBy: () => false },
    sessions: { of: () => session },
  } as never)
  publisher.open({ conn } as unknown as Client, async () => undefined)
  /** Resolves with whether it was taken, and is on disk. */
  const publish = (temperature: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const payload = Buffer.from(JSON.stringify({ temperature }))
    const rest = { qos: 1, isDuplicate: false, isRetained: false, packetId: temperature }
    taken({ topic: { text: 'tele/a' }, payload, ...rest }, (error) => resolve(error === undefined))
    return promise
  }
  return { pipeline, control, publish }
}

test('what waits behind a message whose look-up fails is offered again behind it', async () => {
  const { pipeline, control, publish } = await openClient()
  await using _ = pipeline
  control.isOverloaded = true

  const first = publish(1)
  const behind = publish(2)
  // In the next turn its failure is known here, and not to the client.
  await new Promise((resolve) => setImmediate(resolve))
  control.isOverloaded = false
  const late = publish(3)

  expect(await Promise.all([first, behind, late])).toEqual([false, false, false])
  expect(await Promise.all([publish(1), publish(2), publish(3)])).toEqual([true, true, true])
  await pipeline.ship()
  expect((await pipeline.stored()).map(({ values }) => values['temperature'])).toEqual([1, 2, 3])
})
