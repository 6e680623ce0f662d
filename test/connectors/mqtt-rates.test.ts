import { describe, expect, test } from 'vitest'
import { PacketRate, type RatedPacket } from '../../connectors/mqtt-broker/guard/rates.ts'

const pingreq: RatedPacket = { type: 12, qos: 0, filters: 0 }
const subscribe: RatedPacket = { type: 8, qos: 0, filters: 100 }
const message: RatedPacket = { type: 3, qos: 1, filters: 0 }
const exactlyOnce: RatedPacket = { type: 3, qos: 2, filters: 0 }
const puback: RatedPacket = { type: 4, qos: 0, filters: 0 }

/** How many packets a client that waits when it has to can send until a moment. */
function sentUntil(endMs: number, packet: RatedPacket): { sent: number; isClosed: boolean } {
  const rate = new PacketRate()
  let sent = 0
  for (let nowMs = 0; nowMs <= endMs; ) {
    const waitMs = rate.waitMs(packet, nowMs)
    if (waitMs === undefined) return { sent, isClosed: true }
    sent++
    nowMs += waitMs
    if (waitMs === 0 && sent > 1_000_000) break
  }
  return { sent, isClosed: false }
}

describe('the rate of one client', () => {
  test.each([
    ['200 PINGREQs at once, and then 100 a second', pingreq, 200, 100],
    ['18 SUBSCRIBEs with 100 filters at once, and then 9 a second', subscribe, 18, 9],
    ['10,000 messages at once, and then 5,000 a second', message, 10_000, 5_000],
  ])('allows %s', (_, packet, burst, perSecond) => {
    expect(sentUntil(0, packet).sent).toBeGreaterThanOrEqual(burst)
    expect(sentUntil(0, packet).sent).toBeLessThanOrEqual(burst + 2)
    const { sent } = sentUntil(10_000, packet)
    expect(sent).toBeGreaterThanOrEqual(burst + 10 * perSecond)
    expect(sent).toBeLessThanOrEqual(burst + 11 * perSecond + 2)
  })

  test.each([
    ['acknowledgements', puback],
    ['messages of QoS 2, for which there is a window', exactlyOnce],
  ])('does not count %s', (_, packet) => {
    const rate = new PacketRate()
    for (let sent = 0; sent < 50_000; sent++) expect(rate.waitMs(packet, 0)).toBe(0)
  })

  test('closes who has asked too often for 30 s, but not who has much to say', () => {
    expect(sentUntil(29_000, pingreq).isClosed).toBe(false)
    expect(sentUntil(32_000, pingreq).isClosed).toBe(true)
    expect(sentUntil(120_000, message).isClosed).toBe(false)
  })

  test('forgets a flood that is over', () => {
    const rate = new PacketRate()
    for (let flood = 0; flood < 20; flood++) {
      const beginMs = flood * 10_000
      for (let sent = 0; sent < 250; sent++) {
        expect(rate.waitMs(pingreq, beginMs)).toBeDefined()
      }
    }
  })
})
