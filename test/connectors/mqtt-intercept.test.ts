import { duplexPair } from 'node:stream'
import { expect, test } from 'vitest'
import { SharedBytes } from '../../connectors/mqtt-broker/guard/shared-bytes.ts'
import type { Arrival } from '../../connectors/mqtt-client/arrivals.ts'
import { MqttIntercept } from '../../connectors/mqtt-client/intercept.ts'

/** A PUBLISH of QoS 0 on the topic `a` with a payload of 1 MiB: its length takes three bytes. */
const packet = Buffer.concat([
  Buffer.from([0x30, 0x83, 0x80, 0x40, 0, 1, 0x61]),
  Buffer.alloc(1024 * 1024),
])

/** A connection to a broker, whose messages stay on their way to the disk. */
function connected(shared: SharedBytes) {
  const [ours, theirs] = duplexPair()
  const arrivals: Arrival[] = []
  const stored = Promise.withResolvers<void>()
  const intercept = new MqttIntercept(ours, {
    version: 4,
    kept: new Set(),
    take: async (taken) => {
      arrivals.push(...taken)
      await stored.promise
    },
    onSession: () => undefined,
    shared,
  })
  intercept.on('error', () => undefined)
  return { theirs, intercept, arrivals, stored }
}

test('of many brokers the one that has let a packet lie longest goes when memory is short', async () => {
  const shared = new SharedBytes(2 * packet.length)
  const brokers = [connected(shared), connected(shared), connected(shared)] as const
  const [first, second, third] = brokers
  for (const [index, { theirs }] of brokers.entries()) {
    theirs.write(packet.subarray(0, -1))
    const least = Math.min(index + 1, 2) * (packet.length - 1)
    await expect.poll(() => shared.total).toBe(least)
  }
  await expect.poll(() => first.intercept.closed).toBe(true)
  expect(String(first.intercept.errored)).toContain('takes too much memory')

  for (const { theirs } of [second, third]) theirs.write(packet.subarray(-1))
  await expect.poll(() => second.arrivals.length + third.arrivals.length).toBe(2)
  expect(shared.total).toBe(2 * 1024 * 1024)
  for (const { stored } of [second, third]) stored.resolve()
  await expect.poll(() => shared.total).toBe(0)
})

/** PUBLISHes of QoS 0 without a payload. */
function messages(count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => Buffer.from([0x30, 3, 0, 1, 0x61])))
}

const pingRequest = Buffer.from([0xc0, 0])
const pingResponse = Buffer.from([0xd0, 0])

test('the library is told that the broker lives as long as nothing is read of it', async () => {
  const { theirs, intercept, arrivals, stored } = connected(new SharedBytes(1024 ** 2))
  const answers: Buffer[] = []
  intercept.on('data', (bytes: Buffer) => answers.push(bytes))
  theirs.write(messages(1_200))
  await expect.poll(() => arrivals.length).toBeGreaterThanOrEqual(1_000)

  intercept.write(pingRequest)

  await expect.poll(() => Buffer.concat(answers)).toEqual(pingResponse)
  // What the broker itself answers comes behind what it has sent before.
  theirs.write(pingResponse)
  stored.resolve()
  await expect.poll(() => arrivals.length).toBe(1_200)
  await expect
    .poll(() => Buffer.concat(answers))
    .toEqual(Buffer.concat([pingResponse, pingResponse]))
})

test('a broker that is read says itself that it lives', async () => {
  const { theirs, intercept, arrivals } = connected(new SharedBytes(1024 ** 2))
  const answers: Buffer[] = []
  intercept.on('data', (bytes: Buffer) => answers.push(bytes))
  const heard: Buffer[] = []
  theirs.on('data', (bytes: Buffer) => heard.push(bytes))
  theirs.write(messages(900))
  await expect.poll(() => arrivals.length).toBe(900)

  intercept.write(pingRequest)

  await expect.poll(() => Buffer.concat(heard)).toEqual(pingRequest)
  expect(answers).toEqual([])
})
