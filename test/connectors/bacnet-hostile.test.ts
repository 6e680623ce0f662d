import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bacnetPoll } from '../../connectors/bacnet/bacnet-poll.ts'
import { pollOnce } from '../support/bacnet-device.ts'

/** What it says to a request. */
let answer: (request: Buffer) => readonly Buffer[]
const requests: Buffer[] = []
const peer = createSocket('udp4')
const stranger = createSocket('udp4')
let from: RemoteInfo

beforeAll(async () => {
  peer.on('message', (request, sender) => {
    // A message that acknowledges segments does not ask.
    if ((request.readUInt8(6) & 0xf0) === 0x40) return
    requests.push(request)
    from = sender
    for (const said of answer(request)) peer.send(said, sender.port, sender.address)
  })
  peer.bind(0, '127.0.0.1')
  await once(peer, 'listening')
})

afterAll(() => {
  peer.close()
  stranger.close()
})

beforeEach(() => {
  requests.length = 0
})

const objects = [{ field: 'one', object: 'analog-input:1' }]
const two = [...objects, { field: 'two', object: 'analog-input:2' }]

function polled(changes: object = {}, options: Parameters<typeof pollOnce>[1] = {}) {
  const endpoint = `bacnet://127.0.0.1:${peer.address().port}`
  return pollOnce({ endpoint, objects, timeout: '1s', ...changes }, options)
}

/** BVLC, NPDU and APDU. */
function datagram(...apdu: readonly number[]): Buffer {
  return Buffer.from([0x81, 0x0a, 0, apdu.length + 6, 1, 0, ...apdu])
}

/** The invoke id is the third byte of the APDU, and the service the fourth. */
const invokeIdOf = (request: Buffer) => request.readUInt8(8)
const isMultiple = (request: Buffer) => request[9] === 14

/** The present value 1 of the first analog input, as an answer to ReadProperty. */
const one = [0x0c, 0, 0, 0, 1, 0x19, 85, 0x3e, 0x44, 0x3f, 0x80, 0, 0, 0x3f]
const ack = (request: Buffer, content = one, id = invokeIdOf(request)) =>
  datagram(0x30, id, 12, ...content)

/** The present values of the first two analog inputs, as an answer to ReadPropertyMultiple. */
const both = [1, 2].flatMap((instance) => [
  0x0c,
  0,
  0,
  0,
  instance,
  0x1e,
  0x29,
  85,
  0x4e,
  0x44,
  0x3f,
  0x80,
  0,
  0,
  0x4f,
  0x1f,
])

/** A part of it: more follow behind all but the last one. */
function segment(request: Buffer, sequence: number, bytes = 8): Buffer {
  const content = both.slice(sequence * bytes, (sequence + 1) * bytes)
  const type = 0x38 | ((sequence + 1) * bytes < both.length ? 0b0100 : 0)
  return datagram(type, invokeIdOf(request), sequence, 4, 14, ...content)
}

/** The value of each property, by a device that knows no ReadPropertyMultiple. */
const oneByOne = (request: Buffer): readonly Buffer[] =>
  isMultiple(request)
    ? [datagram(0x60, invokeIdOf(request), 9)]
    : [ack(request, [...one.slice(0, 4), request.readUInt8(14), ...one.slice(5)])]

/** What gets no answer, and is no answer. */
const rubbish = (request: Buffer): readonly Buffer[] => [
  Buffer.alloc(0),
  Buffer.from([0x81]),
  Buffer.from('GET / HTTP/1.1\r\n\r\n'),
  Buffer.from([0x81, 0x0a, 0, 200, 1, 0, 0x30]),
  ack(request, one, (invokeIdOf(request) + 1) % 256),
  // An answer of another service.
  datagram(0x30, invokeIdOf(request), 6, ...one),
  datagram(0x30, invokeIdOf(request), 14, ...both),
  // To all.
  Buffer.from(ack(request).with(1, 0x0b)),
  // Passed on from somewhere, with an address to reply to.
  Buffer.from([0x81, 4, 0, 14, 10, 0, 0, 1, 0xba, 0xc0, 1, 4, 0, 5]),
  // A request: the library would reply.
  datagram(0x00, 0x05, invokeIdOf(request), 12, 0x0c, 0, 0, 0, 1, 0x19, 85),
  // A text that is said to have 4 GiB, and one of 60,000 bytes.
  ack(request, [...one.slice(0, 8), 0x75, 255, 255, 255, 255, 255, 0, 0x3f]),
  ack(request, [...one.slice(0, 8), 0x75, 254, 0xea, 0x60, 0, 0x3f]),
  // A number of three bytes, which the library takes for 0.
  ack(request, [...one.slice(0, 8), 0x43, 1, 2, 3, 0x3f]),
  ack(request, one.slice(0, 11)),
  // An error that ends too early.
  datagram(0x50, invokeIdOf(request), 12, 0x91),
]

describe('a device that does not keep to the protocol', () => {
  test('is given up when it says nothing, after three requests', async () => {
    answer = () => []
    await expect(polled()).rejects.toThrow('the device has not answered in 1 s, 3 times')
    expect(requests).toHaveLength(3)
  })

  test('is given up when it says nothing that can be understood', async () => {
    answer = rubbish
    await expect(polled()).rejects.toThrow('not answered in a way that can be understood')
    expect(requests).toHaveLength(3)
  })

  test('is understood in spite of what else it says, and gets no reply to that', async () => {
    answer = (request) => [...rubbish(request), ack(request)]
    expect(await polled({ timeout: '60s' })).toBe('{"one":1}')
    expect(requests).toHaveLength(1)
  })

  test('is the only one that is listened to', async () => {
    answer = (request) => {
      stranger.send(ack(request), from.port, from.address)
      return requests.length === 1 ? [] : [ack(request)]
    }
    expect(await polled()).toBe('{"one":1}')
    expect(requests).toHaveLength(2)
  })

  test('is asked again where a datagram was lost, and late answers are of no account', async () => {
    answer = (request) => {
      const [first = request] = requests
      return requests.length === 1 ? [] : [ack(first), ack(request)]
    }
    expect(await polled()).toBe('{"one":1}')
  })

  test('cannot keep a round going for ever', async () => {
    answer = () => []
    const connector = bacnetPoll({ roundMs: 100 })
    await expect(polled({}, { connector })).rejects.toThrow('the round has not ended in 0.1 s')
  })

  test('can answer in segments, twice and out of order', async () => {
    answer = (request) => {
      if (!isMultiple(request)) return []
      const segments = [0, 1, 2, 3].map((sequence) => segment(request, sequence))
      return [segments[0], segments[0], segments[2], ...segments.slice(1)].flatMap((sent) =>
        sent === undefined ? [] : [sent],
      )
    }
    expect(await polled({ objects: two })).toBe('{"one":1,"two":1}')
  })

  test('can answer in segments again when some of them were lost', async () => {
    let asked = 0
    answer = (request) => {
      if (!isMultiple(request)) return []
      const known = [0, 1, 2, 3].slice(0, asked++ === 0 ? 2 : 4)
      const segments = known.map((sequence) => segment(request, sequence))
      // A late one of the first answer, with another value.
      const late = segment(requests[0] ?? request, 1)
      late.writeUInt8(1, late.length - 3)
      return asked === 1 ? segments : [segments.slice(0, 1), late, segments.slice(1)].flat()
    }
    expect(await polled({ objects: two })).toBe('{"one":1,"two":1}')
    expect(asked).toBe(2)
  })

  test('that knows no ReadPropertyMultiple is asked for each property', async () => {
    const three = [...two, { field: 'three', object: 'analog-input:3' }]
    answer = oneByOne
    expect(await polled({ objects: three, timeout: '60s' })).toBe('{"one":1,"two":1,"three":1}')
    expect(requests.map(isMultiple)).toEqual([true, false, false, false])
  })

  test('is asked by ids that are long not used again: an answer to another request may come late', async () => {
    const many = Array.from({ length: 60 }, (_, at) => ({
      field: `of${at}`,
      object: `analog-input:${at}`,
    }))
    answer = oneByOne
    await polled({ objects: many, timeout: '60s' })
    expect(requests).toHaveLength(61)
    expect(new Set(requests.map(invokeIdOf)).size).toBe(61)
  })

  test('that answers about something else is not believed', async () => {
    answer = (request) => [ack(request, [...one.slice(0, 4), 9, ...one.slice(5)])]
    await expect(polled()).rejects.toThrow('the device has answered what it was not asked')
    answer = (request) => [datagram(0x30, invokeIdOf(request), 14, ...both.slice(0, 16))]
    await expect(polled({ objects: two })).rejects.toThrow('not answered all that it was asked')
  })

  test('that aborts is asked again later', async () => {
    answer = (request) => [datagram(0x70, invokeIdOf(request), 9)]
    const failing = polled({ objects: two })
    await expect(failing).rejects.toThrow('(one): abort: out of resources')
  })

  test('does no harm, whatever it says', async () => {
    const changed = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 255 })), { maxLength: 4 })
    const shortened = fc.nat({ max: 40 })
    await fc.assert(
      fc.asyncProperty(changed, shortened, fc.boolean(), async (changes, cut, isLong) => {
        answer = (request) => {
          const id = invokeIdOf(request)
          const good = isMultiple(request) ? datagram(0x30, id, 14, ...both) : ack(request)
          for (const [at, byte] of changes) if (at < good.length) good[at] = byte
          const sent = good.subarray(0, isLong ? good.length : cut)
          if (sent.length > 3) sent[3] = sent.length
          return [sent]
        }
        const connector = bacnetPoll({ roundMs: 30 })
        const outcome = await polled({ objects: two }, { connector }).catch(
          (error: unknown) => error,
        )
        if (typeof outcome === 'string') expect(() => JSON.parse(outcome) as unknown).not.toThrow()
        else expect(outcome).toBeInstanceOf(Error)
      }),
      { numRuns: 60 },
    )
  })
})
