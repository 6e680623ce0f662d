import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PacketIds } from '../../src/ingest/mqtt-sessions/packet-ids.ts'
import { type Queued, Session } from '../../src/ingest/mqtt-sessions/session.ts'

const packetIdMax = 65_535

function queued(packetId: number): Queued {
  const states = { isDurable: true, wasSent: true, isInFlight: true }
  return { packetId, position: packetId, qos: 1, retain: false, message: undefined, ...states }
}

function newSession(): Session {
  return new Session({ number: 1, userId: 'ada', clientId: 'pump', createdAtUs: 0, usedAtUs: 0 })
}

/** Packet ids of a client, however they are kept. */
interface Numbering {
  take(): number | undefined
  release(packetId: number): void
}

const numberings: readonly (readonly [string, () => Numbering])[] = [
  ['a clean session', () => new PacketIds()],
  [
    'a session that is kept',
    () => {
      const session = newSession()
      return {
        take() {
          const packetId = session.nextPacketId()
          session.add(queued(packetId))
          return packetId
        },
        release: (packetId) => session.queue.delete(packetId),
      }
    },
  ],
]

describe.each(numberings)('[MQTT-2.3.1-4] packet ids of %s', (_, newNumbering) => {
  test('go on with 1 after 65,535, and leave out those that are in use', () => {
    const ids = newNumbering()
    const held = new Set([1, 2, 4, packetIdMax - 1])
    for (let expected = 1; expected <= packetIdMax; expected++) {
      expect(ids.take()).toBe(expected)
      if (!held.has(expected)) ids.release(expected)
    }

    expect([ids.take(), ids.take(), ids.take()]).toEqual([3, 5, 6])
  })

  test('are never those that are in use', () => {
    // Steps as large as a lap, so that the numbers come around again and again.
    const steps = fc.array(
      fc.record({
        burst: fc.integer({ min: 1, max: 9_000 }),
        keeps: fc.integer({ min: 0, max: 5 }),
      }),
      { minLength: 10, maxLength: 20 },
    )
    fc.assert(
      fc.property(steps, (bursts) => {
        const ids = newNumbering()
        const held = new Set<number>()
        for (const { burst, keeps } of bursts) {
          for (let index = 0; index < burst; index++) {
            const packetId = ids.take() ?? 0
            if (packetId < 1 || packetId > packetIdMax || held.has(packetId)) {
              throw new Error(`${packetId} is no free packet id`)
            }
            if (index < keeps) held.add(packetId)
            else ids.release(packetId)
          }
        }
      }),
      { numRuns: 20 },
    )
  })
})

test('a client that has acknowledged nothing of 65,535 messages gets no more', () => {
  const ids = new PacketIds()
  for (let count = 0; count < packetIdMax; count++) ids.take()

  expect(ids.take()).toBeUndefined()
  ids.release(7)
  expect(ids.take()).toBe(7)
})
