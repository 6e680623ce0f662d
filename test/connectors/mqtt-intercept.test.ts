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
