import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ModbusDevice, pollOnce } from '../support/modbus-device.ts'

let device: ModbusDevice

beforeAll(async () => {
  device = await ModbusDevice.start()
})

afterAll(async () => await device[Symbol.asyncDispose]())

const address = 1_000

/** Where the bytes of a number are sent, by the name that manuals have for it: the first letter is the highest. */
const sent = {
  AB: [0, 1],
  BA: [1, 0],
  ABCD: [0, 1, 2, 3],
  CDAB: [2, 3, 0, 1],
  BADC: [1, 0, 3, 2],
  DCBA: [3, 2, 1, 0],
  ABCDEFGH: [0, 1, 2, 3, 4, 5, 6, 7],
  GHEFCDAB: [6, 7, 4, 5, 2, 3, 0, 1],
  BADCFEHG: [1, 0, 3, 2, 5, 4, 7, 6],
  HGFEDCBA: [7, 6, 5, 4, 3, 2, 1, 0],
} as const

const orders = [
  { byteOrder: 'big', wordOrder: 'big', names: ['AB', 'ABCD', 'ABCDEFGH'] },
  { byteOrder: 'big', wordOrder: 'little', names: ['AB', 'CDAB', 'GHEFCDAB'] },
  { byteOrder: 'little', wordOrder: 'big', names: ['BA', 'BADC', 'BADCFEHG'] },
  { byteOrder: 'little', wordOrder: 'little', names: ['BA', 'DCBA', 'HGFEDCBA'] },
] as const

/** A number in the registers of a device, of bytes that begin with the highest. */
function registersOf(view: DataView, { names }: (typeof orders)[number]): readonly number[] {
  const name = names[Math.log2(view.byteLength) - 1] as keyof typeof sent
  const bytes = sent[name].map((place) => view.getUint8(place))
  return bytes.flatMap((byte, index) =>
    index % 2 === 0 ? [byte * 256 + (bytes[index + 1] ?? 0)] : [],
  )
}

const view = (bytes: number, write: (into: DataView) => void) => {
  const made = new DataView(new ArrayBuffer(bytes))
  write(made)
  return made
}

const bits = (count: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(count) - 1n })

/** What is in the registers of a number, as an integer without a sign. */
function asInteger(bytes: DataView): bigint {
  return BigInt(`0x${Buffer.from(bytes.buffer).toString('hex')}`)
}

/** What a number of so many bits stands for as one with a sign. */
const signed = (value: bigint, count: number) => BigInt.asIntN(count, value)

const integers = fc.tuple(fc.constantFrom(16, 32, 64), fc.boolean()).chain(([count, isSigned]) =>
  bits(count).map((value) => ({
    type: `${isSigned ? '' : 'u'}int${count}`,
    bytes: view(count / 8, (into) => {
      if (count === 16) into.setUint16(0, Number(value))
      else if (count === 32) into.setUint32(0, Number(value))
      else into.setBigUint64(0, value)
    }),
    text: String(isSigned ? signed(value, count) : value),
  })),
)

const doubles = fc.double().map((value) => ({
  type: 'float64',
  bytes: view(8, (into) => into.setFloat64(0, value)),
  text: Number.isFinite(value) ? String(value) : undefined,
}))

/** Each field of a payload, as it is written. */
function fieldsOf(payload: string): ReadonlyMap<string, string> {
  const members = payload.matchAll(/"(f\d+)":("(?:[^"\\]|\\.)*"|[^,}]+)/g)
  return new Map([...members].map(([, field = '', text = '']) => [field, text]))
}

const source = (registers: readonly object[]) => ({ endpoint: device.endpoint, registers })

describe('a value in registers', () => {
  test('is read in each type and each order, with all its digits', async () => {
    const numbers = fc.array(fc.tuple(fc.oneof(integers, doubles), fc.constantFrom(...orders)), {
      minLength: 1,
      maxLength: 60,
    })
    await fc.assert(
      fc.asyncProperty(numbers, fc.constantFrom('holding', 'input'), async (values, kind) => {
        let next = address
        const registers = values.map(([{ type, bytes }, order], index) => {
          device.set(kind, next, registersOf(bytes, order))
          const { byteOrder, wordOrder } = order
          const place = { kind, address: next, type, byteOrder, wordOrder }
          next += bytes.byteLength / 2
          return { field: `f${index}`, ...place }
        })
        const found = fieldsOf(await pollOnce(source(registers)))
        expect(values.map((_, index) => found.get(`f${index}`))).toEqual(
          values.map(([{ text }]) => text),
        )
      }),
      { numRuns: 40 },
    )
  })

  test('of single precision has the digits that stand for it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.float(), { minLength: 1, maxLength: 60 }), async (values) => {
        const registers = values.map((value, index) => {
          const bytes = view(4, (into) => into.setFloat32(0, value))
          device.set('holding', address + 2 * index, registersOf(bytes, orders[0]))
          return { field: `f${index}`, address: address + 2 * index, type: 'float32' }
        })
        const found = fieldsOf(await pollOnce(source(registers)))
        for (const [index, value] of values.entries()) {
          const text = found.get(`f${index}`)
          if (!Number.isFinite(value)) expect(text).toBe(undefined)
          else expect(Math.fround(Number(text)) === value).toBe(true)
        }
      }),
      { numRuns: 40 },
    )
    const bytes = view(4, (into) => into.setFloat32(0, 21.3))
    device.set('holding', address, registersOf(bytes, orders[0]))
    expect(await pollOnce(source([{ field: 'f0', address, type: 'float32' }]))).toBe('{"f0":21.3}')
  })

  test('is scaled as a decimal', async () => {
    const scaled = fc.record({
      raw: fc.integer({ min: -32_768, max: 32_767 }),
      factor: fc.integer({ min: 1, max: 9_999 }),
      addend: fc.integer({ min: -9_999, max: 9_999 }),
      digits: fc.integer({ min: 0, max: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(scaled, { minLength: 1, maxLength: 60 }), async (values) => {
        const registers = values.map(({ raw, factor, addend, digits }, index) => {
          device.set('input', address + index, [raw & 0xffff])
          const [scale, offset] = [Number(`${factor}e-${digits}`), Number(`${addend}e-${digits}`)]
          const place = { kind: 'input', address: address + index, type: 'int16' }
          return { field: `f${index}`, ...place, scale, offset }
        })
        const found = JSON.parse(await pollOnce(source(registers))) as Record<string, number>
        for (const [index, { raw, factor, addend, digits }] of values.entries()) {
          // The digits of the product, and where the point is: nothing is rounded on the way.
          expect(found[`f${index}`]).toBe(Number(`${raw * factor + addend}e-${digits}`))
        }
      }),
      { numRuns: 40 },
    )
  })

  test('is left out where its registers say that there is none, before it is scaled', async () => {
    const numbers = fc.array(fc.tuple(fc.oneof(integers, doubles), fc.boolean()), {
      minLength: 1,
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(numbers, fc.constantFrom(...orders), async (values, order) => {
        let next = address
        const registers = values.map(([{ type, bytes }, isMissing], index) => {
          device.set('holding', next, registersOf(bytes, order))
          const raw = asInteger(bytes)
          const other = raw === 0n ? 1n : raw - 1n
          const missing = [`0x${(isMissing ? raw : other).toString(16)}`]
          const place = { address: next, type, ...order, missing }
          next += bytes.byteLength / 2
          return { field: `f${index}`, ...place, scale: 0.5, offset: 1 }
        })
        const found = fieldsOf(await pollOnce(source(registers)))
        for (const [index, [{ text }, isMissing]] of values.entries()) {
          expect(found.has(`f${index}`)).toBe(text !== undefined && !isMissing)
        }
      }),
      { numRuns: 40 },
    )
  })

  test.each([
    ['int16', -32_768, 0x8000],
    ['int16', 0x8000, 0x8000],
    ['int16', '0x8000', 0x8000],
    ['uint16', 65_535, 0xffff],
  ])('of the type %s is none where %j is named and in its register', async (type, named, raw) => {
    device.set('holding', address, [raw, 7])
    const field = { address, type, missing: [1, named] }
    const other = { field: 'other', address: address + 1 }
    expect(await pollOnce(source([{ field: 'a', ...field }, other]))).toBe('{"other":7}')
  })

  test('of single precision is compared as such', async () => {
    const bytes = view(4, (into) => into.setFloat32(0, -999.9))
    device.set('holding', address, [...registersOf(bytes, orders[0]), 7])
    const place = { address, type: 'float32', scale: 0.1 }
    const other = { field: 'other', address: address + 2 }
    const missing = [-999.9]
    expect(await pollOnce(source([{ field: 'a', ...place, missing }, other]))).toBe('{"other":7}')
  })

  test('makes no reading where there is no other one', async () => {
    device.set('holding', address, [0x8000])
    const register = { field: 'a', address, type: 'int16', missing: [-32_768] }
    expect(await pollOnce(source([register]))).toBe('')
  })

  test('can be a bit, any bit, a coil, or a discrete input', async () => {
    await fc.assert(
      fc.asyncProperty(bits(16), fc.array(fc.boolean(), { minLength: 16 }), async (word, flags) => {
        const value = Number(word)
        device.set('holding', address, [value])
        for (const table of ['coil', 'discrete'] as const) {
          device.set(table, 3, flags.map(Number))
        }
        const registers = Array.from({ length: 16 }, (_, bit) => [
          { field: `bit${bit}`, address, type: 'bool', bit },
          { field: `coil${bit}`, kind: 'coil', address: 3 + bit },
          { field: `discrete${bit}`, kind: 'discrete', address: 3 + bit },
        ]).flat()
        const all = [...registers, { field: 'any', address, type: 'bool' }]
        const expected: Record<string, boolean> = { any: value > 0 }
        for (let bit = 0; bit < 16; bit++) {
          expected[`bit${bit}`] = Math.floor(value / 2 ** bit) % 2 === 1
          expected[`coil${bit}`] = flags[bit] as boolean
          expected[`discrete${bit}`] = flags[bit] as boolean
        }
        expect(JSON.parse(await pollOnce(source(all)))).toEqual(expected)
      }),
      { numRuns: 20 },
    )
  })

  test.each([
    { length: 5, bytes: 'Pump?!', order: 'big', text: 'Pump?' },
    { length: 6, bytes: 'Pu\0mp?', order: 'big', text: 'Pu' },
    { length: 6, bytes: 'Pump  ', order: 'big', text: 'Pump' },
    { length: 6, bytes: 'uPpm\0\0', order: 'little', text: 'Pump' },
    { length: 6, bytes: 'K\u00fchl"', order: 'big', text: 'K\u00fchl"' },
  ])('can be a text: $text', async ({ length, bytes, order, text }) => {
    const raw = Buffer.from(bytes)
    device.set(
      'holding',
      address,
      [0, 2, 4].map((at) => raw.readUInt16BE(at)),
    )
    const register = { field: 'f0', address, type: 'string', length, byteOrder: order }
    // Characters have no order of words: that of the numbers of a device is of no meaning for them.
    const found = await pollOnce({ ...source([register]), wordOrder: 'little' })
    expect(JSON.parse(found)).toEqual({ f0: text })
  })
})
