import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readingsOfMetrics, sparkplugDecoder } from '../../processors/decode-sparkplug.ts'
import type { DecodedMessage } from '../../src/contracts/reading.ts'
import { readingsOf } from '../support/binary-messages.ts'
import { decodedStream } from '../support/decoded-stream.ts'
import { type Metric, metric, payloadOf } from '../support/sparkplug-payloads.ts'

const stream = decodedStream({ temperature: { type: 'number' } })
const ms = Date.UTC(2026, 0, 1)

/** The readings of metrics that all have names. */
function readings(metrics: readonly Metric[], timestamp: number | undefined = ms) {
  return readingsOf(sparkplugDecoder(stream)(payloadOf(metrics, { timestamp })))
}

const at = { timestamp: '2026-01-01T00:00:00.000000Z' }

describe('metrics', () => {
  test.each<[Metric['type'], Metric['value'], unknown]>([
    ['Int8', -5, -5],
    ['Int16', -300, -300],
    ['Int32', -70_000, -70_000],
    ['UInt8', 200, 200],
    ['UInt16', 60_000, 60_000],
    ['UInt32', 4_000_000_000, 4_000_000_000],
    ['UInt64', 9_007_199_254_740_992, 2 ** 53],
    ['Float', 0.25, 0.25],
    ['Double', 21.7, 21.7],
    ['Boolean', true, true],
    ['String', 'é', 'é'],
    ['Text', '', ''],
    ['UUID', 'a-b', 'a-b'],
    ['DateTime', ms + 5, '2026-01-01T00:00:00.005000Z'],
  ])('of the type %s have values: %j', (type, value, expected) => {
    expect(readings([metric(type, value, { name: 'x' })])).toEqual([{ ...at, x: expected }])
  })

  test('of one time are one reading', () => {
    const metrics = [
      metric('Double', 1, { name: 'a' }),
      metric('Double', 2, { name: 'b', timestamp: ms + 1 }),
      metric('Double', 3, { name: 'c', timestamp: ms }),
      metric('Double', 4, { name: 'a' }),
    ]
    expect(readings(metrics)).toEqual([
      { ...at, a: 1, c: 3 },
      { timestamp: '2026-01-01T00:00:00.001000Z', b: 2 },
      { ...at, a: 4 },
    ])
  })

  test('without a time have that of the receipt', () => {
    const bytes = payloadOf([metric('Double', 1, { name: 'a' })])
    expect(readingsOf(sparkplugDecoder(stream)(bytes))).toEqual([{ a: 1 }])
  })

  test('have fields that are called like them, as far as fields can be', () => {
    const names = ['Temperature/Inlet', '1st', 'ü', 'timestamp']
    const metrics = names.map((name) => metric('Int8', 1, { name }))
    expect(readings(metrics)).toEqual([
      { ...at, Temperature_Inlet: 1, _1st: 1, _: 1, _timestamp: 1 },
    ])
  })

  test('have the fields that the definition gives them, by device where it says so', () => {
    const names = { 'Temp/In': 'a', 'pump/Temp/In': 'b', 'Node Control/Reboot': 'reboot' }
    const described = decodedStream({}, { names })
    const metrics = ['Temp/In', 'Node Control/Reboot', 'Node Control/Rebirth', 'bdSeq'].map(
      (name) => ({ name, datatype: 1, metric: { int_value: 1 } }),
    )
    const fields = (device: string | undefined) =>
      readingsOf(readingsOfMetrics({ metrics, payload: {}, device }, described))
    expect(fields(undefined)).toEqual([{ a: 1, reboot: 1 }])
    expect(fields('pump')).toEqual([{ b: 1, reboot: 1 }])
  })

  test('without a value, and of types that no field has, are left out', () => {
    const metrics = [
      metric('Double', null, { name: 'none', isNull: true }),
      metric('Bytes', Buffer.of(1), { name: 'bytes' }),
      metric(
        'DataSet',
        { numOfColumns: 1, types: ['Int8'], columns: ['c'], rows: [[1]] } as never,
        {
          name: 'set',
        },
      ),
      metric('Double', 1, { name: 'a' }),
    ]
    expect(readings(metrics)).toEqual([{ ...at, a: 1 }])
    expect(sparkplugDecoder(stream)(payloadOf(metrics.slice(0, 3)))).toMatchObject({
      problem: 'no metric has a value of a field',
    })
  })

  test('with an integer beyond 2^53 are refused', () => {
    const bytes = payloadOf([metric('UInt64', '4611686018427387905', { name: 'a' })])
    expect(sparkplugDecoder(stream)(bytes)).toMatchObject({
      problem: expect.stringContaining('beyond 2^53') as string,
    })
  })

  test('with a name that no field can have are refused', () => {
    const payload = payloadOf([metric('Double', 1, { name: '__proto__' })], { timestamp: ms })
    expect(sparkplugDecoder(stream)(payload)).toMatchObject({
      problem: expect.stringContaining('__proto__') as string,
    })
  })

  test('with aliases only cannot be read without a birth', () => {
    expect(sparkplugDecoder(stream)(payloadOf([metric('Double', 1, { alias: 7 })]))).toMatchObject({
      problem: 'no birth has said which metrics have the aliases 7',
    })
  })

  test('that cannot be read are refused alone, and kept as they came', () => {
    const beside = payloadOf([], { timestamp: ms })
    const good = fc.integer({ min: -1e6, max: 1e6 }).map((value) => ({
      isGood: true,
      bytes: payloadOf([metric('Double', value, { name: 'a' })]),
    }))
    const bad = fc
      .constantFrom(
        payloadOf([metric('UInt64', '4611686018427387905', { name: 'a' })]),
        payloadOf([metric('String', 'x\0', { name: 'a' })]),
        payloadOf([metric('Double', 1, { name: '__proto__' })]),
        payloadOf([metric('DateTime', 9e15, { name: 'a' })]),
        payloadOf([metric('Double', 1, { name: 'a', timestamp: 2 ** 52 })]),
        // A name that is no UTF-8.
        Uint8Array.of(0x12, 3, 0x0a, 1, 0xff),
      )
      .map((bytes) => ({ isGood: false, bytes }))
    const mixed = fc
      .array(fc.oneof(good, bad), { minLength: 1, maxLength: 8 })
      .filter((metrics) => metrics.some(({ isGood }) => isGood))
    fc.assert(
      fc.property(mixed, (metrics) => {
        const payload = Buffer.concat([...metrics.map(({ bytes }) => bytes), beside])
        const message = sparkplugDecoder(stream)(payload) as DecodedMessage
        const taken = metrics.filter(({ isGood }) => isGood)
        const refused = metrics.filter(({ isGood }) => !isGood)

        const alone = taken.flatMap(({ bytes }) =>
          readingsOf(sparkplugDecoder(stream)(Buffer.concat([bytes, beside]))),
        )
        expect(message.readings.slice(0, taken.length)).toEqual(alone)
        const places = refused.map((_, index) => taken.length + index)
        expect([...(message.unreadable?.keys() ?? [])]).toEqual(places)
        const kept = message.elements?.(payload).slice(taken.length) ?? []
        expect(kept.map((bytes) => Buffer.from(bytes).toString('hex')).sort()).toEqual(
          refused.map(({ bytes }) => Buffer.concat([beside, bytes]).toString('hex')).sort(),
        )
        // Judged again, each of them is refused for the same reason.
        for (const [index, bytes] of kept.entries()) {
          const problem = message.unreadable?.get(taken.length + index)
          expect(sparkplugDecoder(stream)(bytes)).toEqual({ ok: false, problem })
        }
      }),
    )
  })

  test('of any bytes are readings or a problem', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(sparkplugDecoder(stream)(bytes)).toHaveProperty('ok')
      }),
    )
  })
})
