import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { protobufDecoder } from '../../processors/decode-protobuf.ts'
import type { StreamSchema } from '../../src/contracts/stream-schema.ts'
import { readingsOf } from '../support/binary-messages.ts'
import { decodedStream } from '../support/decoded-stream.ts'
import { plantFile, zeros } from '../support/plant-protobuf.ts'
import { base64, descriptorOf, encoderOf } from '../support/protobuf-messages.ts'

const descriptor = base64(descriptorOf(plantFile))

function decoder(message: string, times: Partial<StreamSchema> = {}) {
  const protobuf = { descriptor, message: `plant.${message}` }
  return protobufDecoder(decodedStream({}, { protobuf }, times))
}

const decode = decoder('Reading')
const encode = encoderOf(plantFile, 'plant.Reading')

describe('a Protobuf message', () => {
  test('is a reading with the fields of its type', () => {
    const message = {
      temperature: 21.5,
      level: 0.25,
      i32: -7,
      i64: -(2n ** 53n),
      u32: 2 ** 32 - 1,
      u64: 2n ** 53n,
      s32: -(2 ** 31),
      s64: -1n,
      f32: 9,
      sf64: -3n,
      f64: 5n,
      sf32: -6,
      open: true,
      note: 'é',
      raw: Buffer.from('hi'),
      state: 1,
      inner: { temperature: 1 },
      values: [1.5, -2],
      limits: { high: 3, ['__proto__']: 4 },
      codes: { '-5': 'x' },
      timestamp: { seconds: 1767225600n, nanos: 250_001_999 },
      maybe: 0,
      choice: { case: 'one', value: 'first' },
      names: ['a', ''],
      unpacked: [1, -1],
      wrapped: 2.5,
      states: [0, 1],
    }
    const [reading] = readingsOf(decode(encode(message)))

    expect(reading).toEqual({
      ...message,
      i64: -(2 ** 53),
      u64: 2 ** 53,
      s64: -1,
      sf64: -3,
      f64: 5,
      raw: 'aGk=',
      state: 'ON',
      inner: { ...zeros, temperature: 1 },
      timestamp: '2026-01-01T00:00:00.250001Z',
      choice: undefined,
      one: 'first',
      states: ['OFF', 'ON'],
    })
  })

  test('without anything in it is the zeros of its fields, but of its time', () => {
    expect(readingsOf(decode(encode({})))).toEqual([zeros])
    const small = decoder('Small', { timestampField: 'at', timestampFormat: 'epoch_ms' })
    expect(readingsOf(small(new Uint8Array()))).toEqual([{ temperature: 0 }])
  })

  test('may have fields that nobody knows', () => {
    const writer = new BinaryWriter()
    writer.tag(99, WireType.LengthDelimited).string('x')
    writer.tag(98, WireType.StartGroup).tag(1, WireType.Varint).int32(1).tag(98, WireType.EndGroup)
    writer.tag(1, WireType.Bit64).double(2)
    expect(readingsOf(decode(writer.finish()))).toEqual([{ ...zeros, temperature: 2 }])
  })

  test('leaves NaN to the judge, who refuses its reading', () => {
    expect(readingsOf(decode(encode({ temperature: Number.NaN })))).toMatchObject([
      { temperature: Number.NaN },
    ])
  })

  test.each<[string, (writer: BinaryWriter) => unknown, string]>([
    [
      'an integer beyond 2^53',
      (to) => to.tag(4, WireType.Varint).int64(2n ** 53n + 1n),
      'beyond 2^53',
    ],
    [
      'a negative one',
      (to) => to.tag(10, WireType.Bit64).sfixed64(-(2n ** 60n) - 1n),
      'beyond 2^53',
    ],
    ['an unsigned one', (to) => to.tag(6, WireType.Varint).uint64(2n ** 64n - 1n), 'beyond 2^53'],
    [
      'a field twice',
      (to) => to.tag(1, WireType.Bit64).double(1).tag(1, WireType.Bit64).double(2),
      'temperature comes twice',
    ],
    [
      'two fields of one group',
      (to) => to.tag(21, WireType.LengthDelimited).string('x').tag(22, WireType.Varint).int32(1),
      'two fields of choice',
    ],
    [
      'a value that its enum does not have',
      (to) => to.tag(14, WireType.Varint).int32(7),
      '7 is not a value of state',
    ],
    ['no UTF-8', (to) => to.tag(12, WireType.LengthDelimited).bytes(Buffer.of(0xff)), 'UTF-8'],
    ['U+0000', (to) => to.tag(12, WireType.LengthDelimited).string('\0'), 'U+0000'],
    [
      'another type',
      (to) => to.tag(1, WireType.Varint).int32(1),
      'temperature is not written as its type',
    ],
    [
      'a key of a map twice',
      (to) => {
        for (const _ of [1, 2])
          to.tag(17, WireType.LengthDelimited)
            .fork()
            .tag(1, WireType.LengthDelimited)
            .string('a')
            .join()
      },
      'the same key twice',
    ],
    [
      'too many nanos',
      (to) =>
        to
          .tag(19, WireType.LengthDelimited)
          .fork()
          .tag(2, WireType.Varint)
          .int32(1_000_000_000)
          .join(),
      'nanos',
    ],
    [
      'a time far away',
      (to) =>
        to
          .tag(19, WireType.LengthDelimited)
          .fork()
          .tag(1, WireType.Varint)
          .int64(2n ** 52n)
          .join(),
      'years 0001',
    ],
    [
      'a length beyond its end',
      (to) => to.tag(12, WireType.LengthDelimited).uint32(2 ** 32 - 1),
      'cut off',
    ],
    [
      'a length beyond that of what is around',
      (to) =>
        to.tag(15, WireType.LengthDelimited).uint32(2).tag(12, WireType.LengthDelimited).uint32(9),
      'cut off',
    ],
    [
      'a number beyond the end of what is around',
      (to) => to.tag(15, WireType.LengthDelimited).uint32(3).tag(1, WireType.Bit64).double(1),
      'cut off',
    ],
    ['half a number', (to) => to.tag(1, WireType.Bit64).raw(Buffer.of(1, 2)), 'not valid Protobuf'],
    ['a field number of zero', (to) => to.raw(Buffer.of(0, 0)), 'not valid Protobuf'],
    ['the end of no group', (to) => to.tag(1, WireType.EndGroup), 'a group ends'],
    ['a group without its end', (to) => to.tag(99, WireType.StartGroup), 'cut off'],
    [
      'too many elements',
      (to) => to.tag(16, WireType.LengthDelimited).bytes(new Uint8Array(8 * 10_001)),
      'more than 10000',
    ],
  ])('with %s is refused with the reason', (_, write, problem) => {
    const writer = new BinaryWriter()
    write(writer)
    expect(decode(writer.finish())).toEqual({
      ok: false,
      problem: expect.stringContaining(problem) as string,
    })
  })

  test('nested deeper than any reading is refused', () => {
    let payload: Uint8Array = new Uint8Array()
    for (let level = 0; level < 10_000; level++) {
      payload = new BinaryWriter().tag(15, WireType.LengthDelimited).bytes(payload).finish()
    }
    expect(decode(payload)).toMatchObject({ problem: expect.stringContaining('too deep') })
  })

  test('with too many values is refused before all of them are made', () => {
    const lists = new BinaryWriter()
    for (const number of [24, 26]) {
      lists.tag(number, WireType.LengthDelimited).bytes(new Uint8Array(10_000))
    }
    const level = lists.finish()
    let payload: Uint8Array = new Uint8Array()
    for (let index = 0; index < 55; index++) {
      const inner = new BinaryWriter().tag(15, WireType.LengthDelimited).bytes(payload).finish()
      payload = Buffer.concat([level, inner])
    }
    expect(decode(payload)).toMatchObject({
      problem: expect.stringContaining('too many values') as string,
    })
  })

  const integer = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
  const double = fc.double({ noNaN: true, noDefaultInfinity: true })
  const content = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'))

  test('that the library has written is what was written', () => {
    const message = fc.record({
      temperature: double,
      i32: integer,
      s32: integer,
      s64: fc.maxSafeInteger(),
      u64: fc.maxSafeNat(),
      open: fc.boolean(),
      note: content,
      values: fc.array(double),
      unpacked: fc.array(integer),
      names: fc.array(content),
      limits: fc.dictionary(content, double),
    })
    fc.assert(
      fc.property(message, (written) => {
        const { s64, u64 } = written
        const payload = encode({ ...written, s64: BigInt(s64), u64: BigInt(u64) })
        expect(readingsOf(decode(payload))).toEqual([{ ...zeros, ...written }])
      }),
    )
  })

  test('of any bytes is a reading or a problem', () => {
    const damaged = fc
      .tuple(
        fc.record({ note: content, values: fc.array(double), inner: fc.record({ note: content }) }),
        fc.nat(),
        fc.nat(255),
      )
      .map(([message, at, byte]) => {
        const payload = encode(message)
        if (payload.length > 0) payload[at % payload.length] = byte
        return payload
      })
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), damaged), (payload) => {
        expect(decode(payload)).toHaveProperty('ok')
      }),
      { numRuns: 1_000 },
    )
  })
})
