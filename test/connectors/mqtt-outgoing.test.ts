import { Duplex } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import type { ClosingError } from '../../connectors/mqtt-broker/guard/closing.ts'
import { MqttGuards } from '../../connectors/mqtt-broker/guard/guards.ts'
import { Outgoing } from '../../connectors/mqtt-broker/guard/outgoing.ts'
import { publishPacket } from '../support/mqtt-packets.ts'

const limits = { ofAll: 10, ofAddress: 10, ofUser: 10 }

/** A client that reads nothing until it is told to, and what was written to it. */
function deafClient(guards = new MqttGuards(limits)) {
  const written: Buffer[] = []
  const waiting: (() => void)[] = []
  const transport = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _, callback) {
      written.push(chunk)
      waiting.push(callback)
    },
  })
  const closings: ClosingError[] = []
  const outgoing = new Outgoing({
    transport,
    guards,
    close: (error) => {
      closings.push(error)
      outgoing.forget()
    },
  })
  return { outgoing, guards, written, closings, readOne: () => waiting.shift()?.() }
}

const message = (qos: 0 | 1, bytes: number) =>
  publishPacket({ topic: 'a', payload: 'x'.repeat(bytes), packetId: 1, qos })

describe('to a client that does not read', () => {
  test('256 KiB wait, and then messages of QoS 0 are dropped and counted', () => {
    const { outgoing, guards, closings } = deafClient()
    for (let sent = 0; sent < 100; sent++) outgoing.write(message(0, 10_000))

    expect(closings).toEqual([])
    expect(guards.stats.undelivered).toBe(73)
    expect(guards.stats.unreadBytes).toBeLessThan(280_000)
  })

  test('others go on among those that are dropped, whole and in their order', async () => {
    const { outgoing, written, readOne } = deafClient()
    outgoing.write(message(0, 300_000))
    const [first, second] = [message(1, 1_000), message(1, 2_000)]
    outgoing.write(Buffer.concat([message(0, 500), first, message(0, 5), second, message(0, 200)]))
    readOne()
    await expect.poll(() => written.length).toBe(2)

    expect(written[1]).toEqual(Buffer.concat([first, second]))
  })

  test('1 MiB waits, and then it is closed', () => {
    const { outgoing, closings } = deafClient()
    for (let sent = 0; sent < 110; sent++) outgoing.write(message(1, 10_000))

    expect(closings.map(({ reason }) => reason)).toContain('slow')
    expect(closings.length).toBeLessThan(10)
  })

  test('it is closed after a minute, but not while it reads ever so slowly', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { outgoing, closings, readOne } = deafClient()
    for (let sent = 0; sent < 10; sent++) outgoing.write(message(1, 10_000))
    for (let read = 0; read < 4; read++) {
      vi.advanceTimersByTime(40_000)
      readOne()
    }
    expect(closings).toEqual([])

    vi.advanceTimersByTime(120_000)
    expect(closings.map(({ reason }) => reason)).toEqual(['slow'])
    vi.useRealTimers()
  })

  test('one message may be larger than that', () => {
    const { outgoing, closings } = deafClient()
    outgoing.write(message(1, 4_000_000))

    expect(closings).toEqual([])
  })

  test('64 MiB wait in all, and then those go that had most for longest', () => {
    const guards = new MqttGuards(limits)
    const clients = Array.from({ length: 70 }, () => deafClient(guards))
    for (const { outgoing } of clients) outgoing.write(message(1, 1_000_000))

    const closed = clients.map(({ closings }) => closings.map(({ reason }) => reason).join())
    expect(closed.slice(0, 2)).toEqual(['memory', 'memory'])
    expect(closed.slice(10).every((reason) => reason === '')).toBe(true)
    expect(guards.stats.unreadBytes).toBeLessThanOrEqual(64 * 1024 * 1024)
    for (const { outgoing } of clients) outgoing.forget()
  })
})
