import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InFlight } from '../../connectors/mqtt-broker/guard/in-flight.ts'

/** A packet whose first byte is its number, so that a test can tell which one came back. */
function packetOf(number: number, bytes = Buffer.from([number & 255])) {
  return { bytes, start: 0, end: bytes.length }
}

function packetIds(acknowledgements: Buffer | undefined): number[] {
  const bytes = acknowledgements ?? Buffer.alloc(0)
  return Array.from({ length: bytes.length / 4 }, (_, index) => {
    expect([...bytes.subarray(index * 4, index * 4 + 2)]).toEqual([0x40, 2])
    return bytes.readUInt16BE(index * 4 + 2)
  })
}

/** One thing that may happen: to the client, on the disk, or when a failure is tried again. */
const action = fc.constantFrom(
  'qos 0',
  'qos 1',
  'waits',
  'durable',
  'failed',
  'again',
  'acknowledge',
)

describe('what is in flight', () => {
  test('is acknowledged once and in the order of arrival, whatever fails how often', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
        const inFlight = new InFlight()
        const states: ('pending' | 'durable' | 'failed')[] = []
        const packets: number[] = []
        let handedOn: number[] = []
        const acknowledged: number[] = []
        const finish = (outcome: 'durable' | 'failed') => {
          const number = handedOn.shift()
          if (number === undefined) return
          states[number] = outcome
          inFlight.finish(outcome)
        }
        const again = () => {
          const failed = states.flatMap((state, number) => (state === 'failed' ? [number] : []))
          expect(inFlight.takeFailed().map(({ bytes }) => bytes[0])).toEqual(failed)
          for (const number of failed) states[number] = 'pending'
          handedOn = [...handedOn, ...failed]
        }
        const acknowledge = () => {
          acknowledged.push(...packetIds(inFlight.takeAcknowledgements()))
          const waiting = states.findIndex((state) => state !== 'durable')
          const durable = packets.slice(0, waiting === -1 ? packets.length : waiting)
          expect(acknowledged).toEqual(durable.filter((packetId) => packetId !== 0))
        }
        for (const one of actions) {
          if (one === 'durable' || one === 'failed') finish(one)
          else if (one === 'again') again()
          else if (one === 'acknowledge') acknowledge()
          else {
            const number = packets.length
            packets.push(one === 'qos 0' ? 0 : number + 1)
            states.push(one === 'waits' ? 'failed' : 'pending')
            if (one === 'waits') inFlight.addFailed(packetOf(number), number + 1)
            else {
              handedOn.push(number)
              inFlight.add(packetOf(number), packets[number] ?? 0)
            }
          }
        }
        again()
        while (handedOn.length > 0) finish('durable')
        acknowledge()

        expect(acknowledged).toEqual(packets.filter((packetId) => packetId !== 0))
      }),
      { numRuns: 500 },
    )
  })

  test('remembers no more, the longer a disk is full', () => {
    const inFlight = new InFlight()
    for (let number = 0; number < 100; number++) inFlight.add(packetOf(number), number + 1)
    for (let attempt = 0; attempt < 50; attempt++) {
      for (let number = 0; number < 100; number++) inFlight.finish('failed')
      expect(inFlight.takeFailed()).toHaveLength(100)
      expect(inFlight.remembered).toBeLessThanOrEqual(200)
    }
  })

  test('is full at 2,000 readings, until the first of them is acknowledged', () => {
    const inFlight = new InFlight()
    for (let packetId = 1; packetId <= 2_000; packetId++) {
      expect(inFlight.isFull).toBe(false)
      inFlight.add(packetOf(packetId), packetId)
    }
    expect(inFlight.isFull).toBe(true)

    inFlight.finish('durable')
    inFlight.takeAcknowledgements()
    expect(inFlight.isFull).toBe(false)
  })

  test('is full at 4 MiB of memory that it keeps, until that is acknowledged', () => {
    const inFlight = new InFlight()
    const mebibyte = 1024 * 1024
    for (let packetId = 1; packetId <= 4; packetId++) {
      expect(inFlight.isFull).toBe(false)
      inFlight.add(packetOf(packetId, Buffer.alloc(mebibyte)), packetId)
    }
    expect(inFlight.isFull).toBe(true)

    inFlight.finish('durable')
    inFlight.takeAcknowledgements()
    expect(inFlight.isFull).toBe(false)
  })

  test('counts memory that several packets lie in once', () => {
    const inFlight = new InFlight()
    const bytes = Buffer.alloc(64 * 1024)
    for (let at = 0; at < 1_000; at++) inFlight.add({ bytes, start: at, end: at + 1 }, at + 1)

    expect(inFlight.isFull).toBe(false)
  })
})
