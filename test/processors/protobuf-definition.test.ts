import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { protobufDecoder, protobufProblem } from '../../processors/decode-protobuf.ts'
import type { DecodedMessage } from '../../src/contracts/reading.ts'
import type { StreamSchema } from '../../src/contracts/stream-schema.ts'
import { readingsOf } from '../support/binary-messages.ts'
import { decodedStream } from '../support/decoded-stream.ts'
import { base64, descriptorOf, encoderOf, field, repeated } from '../support/protobuf-messages.ts'

const file = {
  package: 'plant',
  messageType: [
    {
      name: 'Small',
      field: [field('INT64', 'at', 1), field('DOUBLE', 'temperature', 2)],
    },
    {
      name: 'Batch',
      field: [
        field('STRING', 'device', 1),
        repeated('MESSAGE', 'samples', 2, { typeName: '.plant.Small' }),
        repeated('DOUBLE', 'numbers', 3),
        repeated('MESSAGE', 'clash', 4, { typeName: '.plant.Clash' }),
      ],
    },
    { name: 'Clash', field: [field('STRING', 'device', 1)] },
  ],
}

const descriptor = base64(descriptorOf(file))

function decoder(message: string, repeatedField: string, times: Partial<StreamSchema> = {}) {
  const protobuf = { descriptor, message: `plant.${message}`, repeated: repeatedField }
  return protobufDecoder(decodedStream({}, { protobuf }, times))
}

const big = (count: number) => ({
  messageType: Array.from({ length: count }, (_, index) => ({ name: `M${index}` })),
})
const nested = (levels: number): object =>
  levels === 0 ? { name: 'M' } : { name: 'M', nestedType: [nested(levels - 1)] }

describe('a repeated field of readings', () => {
  const write = encoderOf(file, 'plant.Batch')
  const decodeBatch = decoder('Batch', 'samples', { timestampField: 'at' })
  const batch = {
    device: 'pump',
    samples: [{ at: 1n, temperature: 1 }, { temperature: 2 }, { at: 2n ** 60n + 1n }],
    numbers: [1],
  }

  test('is a batch, with what stands beside it in each reading', () => {
    const payload = write(batch)
    const message = decodeBatch(payload) as DecodedMessage

    expect(message).toMatchObject({ isBatch: true, format: 'protobuf' })
    const shared = { device: 'pump', numbers: [1], clash: [] }
    expect(message.readings).toEqual([
      { ...shared, at: 1, temperature: 1 },
      { ...shared, temperature: 2 },
      undefined,
    ])
    expect([...(message.unreadable ?? [])]).toEqual([[2, expect.stringContaining('beyond 2^53')]])
  })

  test('is kept in parts that are messages', () => {
    const payload = write(batch)
    const { readings, elements } = decodeBatch(payload) as DecodedMessage
    const parts = elements?.(payload) ?? []

    expect(parts).toHaveLength(3)
    expect(parts.slice(0, 2).flatMap((part) => readingsOf(decodeBatch(part)))).toEqual(
      readings.slice(0, 2),
    )
  })

  test('is empty or too long, and is refused', () => {
    expect(decodeBatch(write({ device: 'pump' }))).toMatchObject({ problem: 'the batch is empty' })
    const samples = Array.from({ length: 10_001 }, () => ({}))
    expect(decodeBatch(write({ samples }))).toMatchObject({
      problem: expect.stringContaining('10000') as string,
    })
  })
})

describe('a small message that means a large reading', () => {
  const wide = {
    package: 'plant',
    messageType: [
      {
        name: 'Wide',
        field: Array.from({ length: 1_000 }, (_, index) => field('INT32', `f${index}`, index + 1)),
      },
      {
        name: 'Pack',
        field: [
          repeated('MESSAGE', 'wide', 1, { typeName: '.plant.Wide' }),
          repeated('MESSAGE', 'small', 2, { typeName: '.plant.Small' }),
          field('STRING', 'device', 3),
          field('MESSAGE', 'state', 4, { typeName: '.plant.Wide' }),
        ],
      },
      { name: 'Small', field: [] },
    ],
  }
  const protobuf = { descriptor: base64(descriptorOf(wide)), message: 'plant.Pack' }
  const write = encoderOf(wide, 'plant.Pack')
  const decode = (message: Record<string, unknown>, repeatedField?: string) => {
    const options =
      repeatedField === undefined ? protobuf : { ...protobuf, repeated: repeatedField }
    return protobufDecoder(decodedStream({}, { protobuf: options }))(write(message))
  }
  const many = Array.from({ length: 5_000 }, () => ({}))

  test('is refused for the zeros of its messages', () => {
    expect(decode({ wide: many.slice(0, 10) }).ok).toBe(true)
    expect(decode({ wide: many })).toMatchObject({
      problem: expect.stringContaining('too many values') as string,
    })
  })

  test('is refused where each reading repeats what stands beside it', () => {
    expect(decode({ small: many, device: 'pump' }, 'small').ok).toBe(true)
    expect(decode({ small: many, device: 'p'.repeat(10_000) }, 'small')).toMatchObject({
      problem: expect.stringContaining('too much stands beside') as string,
    })
    expect(decode({ small: many, state: {} }, 'small')).toMatchObject({
      problem: expect.stringContaining('too many values') as string,
    })
  })
})

describe('proto2', () => {
  const old = {
    package: 'old',
    syntax: 'proto2',
    messageType: [
      {
        name: 'Reading',
        field: [
          field('DOUBLE', 'temperature', 1, { required: true }),
          field('INT32', 'level', 2),
          field('GROUP', 'part', 3, { typeName: '.old.Reading.Part' }),
          repeated('INT32', 'values', 4),
        ],
        nestedType: [{ name: 'Part', field: [field('STRING', 'note', 1)] }],
      },
    ],
  }
  const protobuf = { descriptor: base64(descriptorOf(old)), message: 'old.Reading' }
  const decodeOld = protobufDecoder(decodedStream({}, { protobuf }))
  const encodeOld = encoderOf(old, 'old.Reading')

  test('leaves out what was not sent, and reads groups', () => {
    const message = { temperature: 1, part: { note: 'x' }, values: [1, 2] }
    expect(readingsOf(decodeOld(encodeOld(message)))).toEqual([message])
    expect(readingsOf(decodeOld(encodeOld({ temperature: 0 })))).toEqual([
      { temperature: 0, values: [] },
    ])
  })

  test('refuses a message without what is required', () => {
    expect(decodeOld(new Uint8Array())).toMatchObject({
      problem: 'temperature is required by old.Reading',
    })
  })
})

describe('a descriptor', () => {
  const members = {
    messageType: [
      {
        name: 'M',
        field: Array.from({ length: 3_001 }, (_, index) => field('INT32', `f${index}`, index + 1)),
      },
    ],
  }

  test.each<[string, string | object, RegExp]>([
    ['no base64', '***', /must be base64/],
    ['no descriptor', base64(Buffer.from('hello')), /is not a FileDescriptorSet/],
    ['too many messages', big(501), /more than 500/],
    ['too many fields', members, /more than 3000/],
    ['too deep a message', { messageType: [nested(40)] }, /levels deep/],
    ['a long package', { package: 'p'.repeat(251) }, /too long a name/],
    ['a long name', { messageType: [{ name: 'm'.repeat(251) }] }, /too long a name/],
    [
      'a long field',
      { messageType: [{ name: 'M', field: [field('INT32', 'f'.repeat(251), 1)] }] },
      /field or value with too long a name/,
    ],
    [
      'a long value',
      { enumType: [{ name: 'E', value: [{ name: 'v'.repeat(251), number: 0 }] }] },
      /field or value with too long a name/,
    ],
    [
      'an unknown type',
      { messageType: [{ name: 'M', field: [field('MESSAGE', 'a', 1, { typeName: '.Nowhere' })] }] },
      /is not a FileDescriptorSet/,
    ],
  ])('that is or has %s is refused', (_, given, problem) => {
    const text = typeof given === 'string' ? given : base64(descriptorOf(given))
    expect(protobufProblem({ descriptor: text, message: 'M' })).toEqual({
      descriptor: expect.stringMatching(problem) as string,
    })
  })

  test.each<[string, string | undefined, object | undefined]>([
    ['plant.Batch', undefined, undefined],
    ['plant.Batch', 'samples', undefined],
    ['plant.Nothing', undefined, { message: expect.any(String) as string }],
    ['plant.Batch', 'numbers', { repeated: expect.any(String) as string }],
    ['plant.Batch', 'device', { repeated: expect.any(String) as string }],
    ['plant.Batch', 'nothing', { repeated: expect.any(String) as string }],
    ['plant.Batch', 'clash', { repeated: expect.stringContaining('device') as string }],
  ])('is asked for %s, repeated %s', (message, samples, problem) => {
    const options = samples === undefined ? {} : { repeated: samples }
    expect(protobufProblem({ descriptor, message, ...options })).toEqual(problem)
  })

  test('of any bytes is refused, or has the message', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(protobufProblem({ descriptor: base64(bytes), message: 'M' })).toBeDefined()
      }),
    )
  })
})
