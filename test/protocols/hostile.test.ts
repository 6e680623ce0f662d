import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Bomb, bombs } from '../support/protocol-bombs.ts'
import { deviceField, type ProtocolDoor, protocolDoors } from '../support/protocol-doors.ts'
import { createFleet, type ProtocolFleet, streamsByDevice } from '../support/protocol-fleet.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** Hostile bodies where other protocols are taken: each is refused soon, and others are answered meanwhile. */

const service = runningService()

const authorization = `Basic ${Buffer.from(`${adminKey}:${adminSecret}`).toString('base64')}`

/** For what hangs: on a machine with many others. */
const soonMs = 5_000

let fleet: ProtocolFleet
let neighbour = ''

beforeAll(async () => {
  fleet = await createFleet(service.api, { name: 'plant', deviceField })
  neighbour = await service.api.createStream()
})

async function post(door: ProtocolDoor, body: Uint8Array, headers: object = {}, to = fleet) {
  const beganMs = performance.now()
  const answer = await fetch(service.process.http + door.path(to.fleetId), {
    method: 'POST',
    headers: { ...door.headers, authorization, ...headers },
    body,
  })
  const text = await answer.text()
  return { status: answer.status, text, tookMs: performance.now() - beganMs }
}

/** Sends readings of a neighbour until something is over; resolves with how long each took to be acknowledged. */
async function whileSending(over: Promise<unknown>): Promise<readonly number[]> {
  const tookMs: number[] = []
  const ending = new AbortController()
  void over.finally(() => ending.abort()).catch(() => undefined)
  const path = `/streams/${neighbour}/data`
  do {
    const beganMs = performance.now()
    const { status } = await service.api.withToken('POST', path, { temperature: tookMs.length })
    expect(status).toBe(202)
    tookMs.push(performance.now() - beganMs)
    await sleep(5)
  } while (!ending.signal.aborted)
  return tookMs
}

function named({ door, name }: Bomb): string {
  return `${door.name}: ${name}`
}

test.each(bombs.map((bomb) => [named(bomb), bomb] as const))('%s', async (_, bomb) => {
  const answering = post(bomb.door, bomb.body, bomb.headers)
  const others = await whileSending(answering)
  const { status, text, tookMs } = await answering

  expect(status, text.slice(0, 500)).toBe(bomb.status)
  if (status === 200) expect(text).toContain('nested too deep')
  else expect(bomb.door.isRefusal(text), text.slice(0, 500)).toBe(true)
  expect(text.length).toBeLessThan(20_000)
  expect(tookMs).toBeLessThan(soonMs)
  expect(Math.max(...others)).toBeLessThan(soonMs)
})

test('all of them at once hold nobody up', async () => {
  const answering = Promise.all(
    bombs.map(async ({ door, body, headers, status }) => [
      status,
      (await post(door, body, headers)).status,
    ]),
  )
  const others = await whileSending(answering)

  for (const [expected, status] of await answering) expect([expected, 503]).toContain(status)
  const slowest = others.toSorted((left, right) => left - right)
  expect(slowest[Math.floor(0.99 * slowest.length)]).toBeLessThan(soonMs)
})

describe('10,000 new devices in one body', () => {
  const devices = Array.from({ length: 10_000 }, (_, index) => `device${index}`)

  test.each(protocolDoors.map((door) => [door.name, door] as const))(
    'make no more streams than streamsMax by %s',
    async (name, door) => {
      const streamsMax = 20
      const crowd = await createFleet(service.api, {
        name: `crowd ${name}`,
        deviceField,
        streamsMax,
      })
      const answering = post(door, door.body(devices), {}, crowd)
      const others = await whileSending(answering)
      const { status, text } = await answering

      expect(status, text).toBe(door.partly)
      expect(text).toContain('streamsMax')
      expect(text.length).toBeLessThan(20_000)
      expect((await streamsByDevice(service.api, crowd)).size).toBe(streamsMax)
      expect(Math.max(...others)).toBeLessThan(soonMs)
    },
  )
})

test('nothing of all that was stored', async () => {
  const streams = await streamsByDevice(service.api, fleet)

  // The lines that can be read as far as their device are in its quarantine.
  expect([...streams.keys()]).toEqual(['a'])
  const { stored, quarantined } = await service.api.settled(streams.get('a') ?? '')
  expect(stored).toBe(0)
  expect(quarantined).toBeGreaterThan(0)
})
