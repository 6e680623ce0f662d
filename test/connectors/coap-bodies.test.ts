import type { ParsedPacket } from 'coap-packet'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wholeBody } from '../../connectors/coap/body.ts'
import { isNewer } from '../../connectors/coap/notification-order.ts'
import { blockOf, bytesOfBlock } from '../../connectors/coap/options.ts'

/** A part of a body that ends after so many of them. */
function part(body: Buffer, size: number, number: number, tag = 'a'): ParsedPacket {
  const begin = number * size
  const hasMore = begin + size < body.length
  const value = bytesOfBlock({ number, size })
  const block = Buffer.alloc(3)
  block.writeUIntBE(
    (value.length === 0 ? 0 : value.readUIntBE(0, value.length)) | (hasMore ? 8 : 0),
    0,
    3,
  )
  return {
    code: '2.05',
    confirmable: true,
    reset: false,
    ack: false,
    messageId: 1,
    token: Buffer.alloc(0),
    options: [
      { name: 'Block2', value: block },
      { name: 'ETag', value: Buffer.from(tag) },
    ],
    payload: body.subarray(begin, begin + size),
  }
}

/** The number of the part that was asked for. */
function numberOf(options: Parameters<Parameters<typeof wholeBody>[1]>[0]): number {
  return (
    blockOf({ ...part(Buffer.alloc(0), 16, 0), options: options as ParsedPacket['options'] })
      ?.number ?? 0
  )
}

describe('a body of several parts', () => {
  test('is put together, whatever its size and that of its parts', async () => {
    const sizes = fc.constantFrom(16, 32, 64, 128, 256, 512, 1_024)
    const property = fc.asyncProperty(
      fc.uint8Array({ maxLength: 3_000 }),
      sizes,
      async (bytes, size) => {
        const body = Buffer.from(bytes)
        const whole = await wholeBody(part(body, size, 0), async (options) =>
          part(body, size, numberOf(options)),
        )
        expect(whole).toEqual({ payload: body })
      },
    )
    await fc.assert(property)
  })

  test('has an end: one that never comes to it is refused with its first part', async () => {
    const endless = Buffer.alloc(1_024)
    const large = Buffer.alloc(2 * 1024 * 1024)
    let asked = 0
    const whole = await wholeBody(part(large, 1_024, 0), async (options) => {
      asked++
      return part(large, 1_024, numberOf(options))
    })
    expect(whole).toEqual({ payload: endless, problem: 'it is larger than 1048576 bytes' })
    expect(asked).toBe(1_024)
  })

  test('that has changed meanwhile is left out', async () => {
    const body = Buffer.alloc(100)
    const whole = wholeBody(part(body, 64, 0), async () => part(body, 64, 1, 'b'))
    expect(await whole).toBeUndefined()
  })

  test.each([0, 2])('whose next part is number %i does not fit', async (number) => {
    const body = Buffer.alloc(200)
    const whole = await wholeBody(part(body, 64, 0), async () => part(body, 64, number))
    expect(whole?.problem).toBe('its parts do not fit')
  })

  test('whose device does not have the rest is tried again', async () => {
    const body = Buffer.alloc(200)
    const gone = async () => ({ ...part(body, 64, 1), code: '4.08' })
    await expect(wholeBody(part(body, 64, 0), gone)).rejects.toThrow('answered 4.08')
  })
})

describe('the order of notifications', () => {
  const number = fc.integer({ min: 0, max: 2 ** 24 - 1 })
  const step = fc.integer({ min: 1, max: 2 ** 23 - 1 })

  test('goes around 24 bits', () => {
    const property = fc.property(number, step, (from, ahead) => {
      const earlier = { number: from, atMs: 0 }
      const later = { number: (from + ahead) % 2 ** 24, atMs: 128_000 }
      expect(isNewer(later, earlier)).toBe(true)
      expect(isNewer({ ...earlier, atMs: 128_000 }, { ...later, atMs: 0 })).toBe(false)
      expect(isNewer({ ...earlier, atMs: 128_000 }, earlier)).toBe(false)
    })
    fc.assert(property)
  })

  test('is that of their coming after 128 s', () => {
    fc.assert(
      fc.property(number, number, (one, other) => {
        expect(isNewer({ number: one, atMs: 128_001 }, { number: other, atMs: 0 })).toBe(true)
      }),
    )
  })
})
