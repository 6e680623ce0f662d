import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PacketFramer } from '../../connectors/mqtt-broker/guard/framing.ts'
import { connectPacket, publishPacket, subscribePacket } from '../support/mqtt-packets.ts'

/** What a framer hands out when bytes arrive in these portions. */
function framed(portions: readonly Buffer[]): Buffer[] {
  const framer = new PacketFramer()
  framer.expectLaterPackets()
  return portions.flatMap((portion) => {
    framer.push(portion)
    return packetsOf(framer)
  })
}

function packetsOf(framer: PacketFramer): Buffer[] {
  const packets: Buffer[] = []
  for (let packet = framer.next(); packet !== undefined; packet = framer.next()) {
    packets.push(Buffer.from(packet.bytes.subarray(packet.start, packet.end)))
  }
  return packets
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function memoryInUse(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const packets = fc.array(
  fc.oneof(
    fc.constant(Buffer.from([0xc0, 0])),
    fc.integer({ min: 1, max: 65_535 }).map((id) => subscribePacket(id, 'a/+/b')),
    fc
      .string({ maxLength: 20_000 })
      .map((payload) => publishPacket({ topic: 'a/b', payload, packetId: 7 })),
  ),
  { minLength: 1, maxLength: 20 },
)

describe('packets', () => {
  test('come out as they were sent, whatever portions they arrive in', () => {
    fc.assert(
      fc.property(packets, fc.array(fc.nat()), (sent, cuts) => {
        const bytes = Buffer.concat(sent)
        const at = cuts.map((cut) => cut % bytes.length).toSorted((left, right) => left - right)
        const portions = [0, ...at].map((start, index) => bytes.subarray(start, at[index]))
        expect(framed(portions)).toEqual(sent)
      }),
      { numRuns: 300 },
    )
  })

  test('that were handed out stay as they are while others arrive behind them', () => {
    const framer = new PacketFramer()
    framer.expectLaterPackets()
    const [first, second] = [subscribePacket(1, 'a/b'), subscribePacket(2, 'c/d')]
    framer.push(first.subarray(0, 4))
    framer.push(Buffer.concat([first.subarray(4), second.subarray(0, 5)]))
    const packet = framer.next()
    framer.push(second.subarray(5))

    expect(packet?.bytes.subarray(packet.start, packet.end)).toEqual(first)
    expect(packetsOf(framer)).toEqual([second])
  })
})

describe('a packet that is dribbled', () => {
  test('takes no more than twice the memory of what has arrived', () => {
    const framer = new PacketFramer()
    framer.expectLaterPackets()
    const header = Buffer.from([0x30, 0x80, 0x80, 0x80, 0x02])
    framer.push(header)
    const before = memoryInUse()

    // Each byte is memory of its own, as the network hands it over.
    for (let sent = 0; sent < 100_000; sent++) {
      framer.push(Buffer.allocUnsafeSlow(1))
      if (framer.next() !== undefined) throw new Error('the packet is not complete')
    }

    expect(memoryInUse() - before).toBeLessThan(2_000_000)
    expect(framer.unread).toBe(100_005)
  })
})

function newFramer(isConnected: boolean): PacketFramer {
  const made = new PacketFramer()
  if (isConnected) made.expectLaterPackets()
  return made
}

describe('before anything of it is kept', () => {
  test.each([
    ['a packet of 268 MB', [0x30, 0xff, 0xff, 0xff, 0x7f], 'too_large'],
    ['a PUBLISH of 4 MiB and 1,025 bytes', [0x30, 0x81, 0x88, 0x80, 0x02], 'too_large'],
    ['a SUBSCRIBE of more than 64 KiB', [0x82, 0x81, 0x80, 0x04], 'too_large'],
    ['a length of five bytes', [0x30, 0x80, 0x80, 0x80, 0x80], 'protocol'],
    ['a PINGREQ with content', [0xc0, 1], 'protocol'],
    ['a PUBACK without a packet id', [0x40, 0], 'protocol'],
    ['a PUBACK with more than a packet id', [0x40, 3], 'protocol'],
    ['a second CONNECT [MQTT-3.1.0-2]', [0x10, 12], 'protocol'],
    ['a PUBLISH with QoS 3 [MQTT-3.3.1-4]', [0x36, 10], 'protocol'],
    ['a PUBLISH with DUP and QoS 0 [MQTT-3.3.1-2]', [0x38, 10], 'protocol'],
    ['a SUBSCRIBE without its flags [MQTT-3.8.1-1]', [0x80, 10], 'protocol'],
    ['a PUBREL without its flags [MQTT-3.6.1-1]', [0x60, 2], 'protocol'],
    ['a PINGREQ with flags [MQTT-2.2.2-2]', [0xc1, 0], 'protocol'],
    ['a packet of the reserved type 15', [0xf0, 0], 'protocol'],
    ['a packet that only servers send', [0xd0, 0], 'protocol'],
  ])('%s is refused', (_, bytes, reason) => {
    const framing = newFramer(true)
    framing.push(Buffer.from(bytes))
    expect(() => framing.next()).toThrow(expect.objectContaining({ reason }))
  })

  test.each([
    ['a PUBLISH [MQTT-3.1.0-1]', [0x30, 10], 'protocol'],
    ['a CONNECT of more than 64 KiB', [0x10, 0x81, 0x80, 0x04], 'too_large'],
    ['a CONNECT with flags [MQTT-2.2.2-2]', [0x11, 20], 'protocol'],
  ])('%s is refused as the first packet', (_, bytes, reason) => {
    const framing = newFramer(false)
    framing.push(Buffer.from(bytes))
    expect(() => framing.next()).toThrow(expect.objectContaining({ reason }))
  })

  test('the largest packets there may be are not refused', () => {
    const [first, later] = [newFramer(false), newFramer(true)]
    first.push(connectPacket({ clientId: 'a', will: { topic: 'a', payload: 'x'.repeat(60_000) } }))
    later.push(publishPacket({ topic: 'a', payload: 'x'.repeat(4 * 1024 * 1024), packetId: 1 }))

    expect(first.next()).toBeDefined()
    expect(later.next()).toBeDefined()
  })
})
