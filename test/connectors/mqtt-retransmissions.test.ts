import { describe, expect, test } from 'vitest'
import {
  type PacketIdentity,
  Retransmissions,
} from '../../connectors/mqtt-broker/retransmissions.ts'

function packet(overrides: Partial<PacketIdentity> = {}): PacketIdentity {
  return {
    userId: 'ada',
    clientId: 'pump',
    packetId: 1,
    payload: Buffer.from('{"level":1}'),
    ...overrides,
  }
}

/** Remembers packets, each with its place in the list as its time of receipt. */
function remembering(...packets: PacketIdentity[]): Retransmissions {
  const retransmissions = new Retransmissions()
  packets.forEach((one, index) => retransmissions.remember(one, index))
  return retransmissions
}

describe('Retransmissions', () => {
  test('finds the first time of receipt of a packet that is sent again', () => {
    expect(remembering(packet()).find(packet())).toBe(0)
  })

  test('finds nothing before anything was remembered', () => {
    expect(new Retransmissions().find(packet())).toBeUndefined()
  })

  test.each([
    ['packet id', { packetId: 2 }],
    ['payload', { payload: Buffer.from('{"level":2}') }],
    ['client', { clientId: 'fan' }],
    ['device', { deviceId: 'sv_dev_7' }],
    ['user', { userId: 'bob' }],
  ])('takes a packet with another %s for another packet', (_, difference) => {
    expect(remembering(packet()).find(packet(difference))).toBeUndefined()
  })

  test('remembers the last message of a packet id that was used again', () => {
    const later = packet({ payload: Buffer.from('{"level":2}') })
    const retransmissions = remembering(packet(), later)

    expect(retransmissions.find(later)).toBe(1)
    expect(retransmissions.find(packet())).toBeUndefined()
  })

  test('does not keep the payload itself, which its owner may write over', () => {
    const payload = Buffer.from('{"level":1}')
    const retransmissions = remembering(packet({ payload }))
    payload.fill(0)

    expect(retransmissions.find(packet())).toBe(0)
  })

  test('remembers the last hundred packets of a client', () => {
    const packets = Array.from({ length: 101 }, (_, packetId) => packet({ packetId }))
    const retransmissions = remembering(...packets)

    expect(packets.map((one) => retransmissions.find(one))).toEqual([
      undefined,
      ...Array.from({ length: 100 }, (_, index) => index + 1),
    ])
  })

  test('forgets a client when a thousand others came after it, and not before', () => {
    const others = Array.from({ length: 999 }, (_, index) => packet({ clientId: `fan ${index}` }))
    const retransmissions = remembering(packet({ clientId: 'first' }), packet(), ...others)

    expect(retransmissions.find(packet({ clientId: 'first' }))).toBeUndefined()
    expect(retransmissions.find(packet())).toBe(1)
  })
})
