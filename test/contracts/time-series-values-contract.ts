import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FieldType } from '../../src/contracts/stream-schema.ts'
import { canonicalJson } from '../../src/core/canonical-json.ts'
import { formatUs } from '../../src/core/time.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import { anyNumber } from '../support/any-numbers.ts'
import { naughtyTexts } from '../support/naughty-texts.ts'
import {
  allAggregates,
  allPoints,
  marchUs,
  type ReadingNotes,
  ship,
  storedReading,
} from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

/** Values of each type as a reading has them after validation. */
const valueOf: Readonly<Record<FieldType, fc.Arbitrary<unknown>>> = {
  number: anyNumber,
  integer: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2 ** 53, -(2 ** 53), 0)),
  boolean: fc.boolean(),
  string: fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
    fc.constantFrom(...naughtyTexts),
  ),
  datetime: fc
    .oneof(
      fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
      fc.constantFrom(-62_135_596_800_000_000n, 253_402_300_799_999_999n, 0),
      fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n }),
    )
    .map(formatUs),
  object: fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom(...naughtyTexts)).filter((key) => key !== '__proto__'),
    fc.oneof(fc.jsonValue(), fc.constantFrom(...naughtyTexts)),
  ),
  array: fc.array(fc.jsonValue()),
}

/** What every store promises about values: a part of `timeSeriesContract`. */
export function timeSeriesValuesContract(open: OpenNewStore): void {
  test.each(Object.keys(valueOf) as FieldType[])('every %s as it was', async (type) => {
    const shape = shapeOf({ value: { type }, other: { type: 'number' } })
    const several = fc.array(valueOf[type], { minLength: 1, maxLength: 50 })
    await withStreams(open, async (opened, newStream) => {
      await fc.assert(
        fc.asyncProperty(several, async (values) => {
          const streamId = newStream()
          await ship(
            opened.store,
            values.map((value, index) =>
              storedReading({ streamId, shape, values: { value }, timestampUs: marchUs + index }),
            ),
          )

          const points = await allPoints(opened.store, { streamId })

          const given = values.map((value) => JSON.parse(canonicalJson({ value })))
          expect(points.map((point) => point.values)).toEqual(given)
        }),
        { numRuns: 20 },
      )
    })
  })

  test('every naughty text, as it was sent and as the first and the last of its second', async () => {
    const shape = shapeOf({ value: { type: 'string' } })
    await using opened = await open()
    await ship(
      opened.store,
      naughtyTexts.map((value, index) =>
        storedReading({ shape, values: { value }, timestampUs: marchUs + index * 1_000_000 }),
      ),
    )
    await opened.reopen()

    const points = await allPoints(opened.store)
    const seconds = await allAggregates(opened.store, {
      buckets: { kind: 'fixed', widthUs: 1_000_000 },
      fields: (['first', 'latest'] as const).map((name) => {
        return { key: name, name: 'value', type: 'varchar', function: name }
      }),
    })

    expect(points.map(({ values }) => values['value'])).toEqual(naughtyTexts)
    expect(seconds.map(({ values }) => values['first'])).toEqual(naughtyTexts)
    expect(seconds.map(({ values }) => values['latest'])).toEqual(naughtyTexts)
  })

  test('the least, the greatest, the first and the last instant of any years, to the microsecond', async () => {
    const shape = shapeOf({ value: { type: 'datetime' } })
    const instants = [
      '1684-01-01T00:00:00.000001Z',
      '9999-12-31T23:59:59.999999Z',
      '0001-01-01T00:00:00.000001Z',
      '2255-06-05T23:47:34.740993Z',
    ]
    await using opened = await open()
    await ship(
      opened.store,
      instants.map((value, index) =>
        storedReading({ shape, values: { value }, timestampUs: marchUs + index }),
      ),
    )

    const [day] = await allAggregates(opened.store, {
      fields: (['min', 'max', 'first', 'latest'] as const).map((name) => {
        return { key: name, name: 'value', type: 'timestamp', function: name }
      }),
    })

    expect(day?.values).toEqual({
      min: '0001-01-01T00:00:00.000001Z',
      max: '9999-12-31T23:59:59.999999Z',
      first: '1684-01-01T00:00:00.000001Z',
      latest: '2255-06-05T23:47:34.740993Z',
    })
  })

  test('fields that are named as SQL and JavaScript name things', async () => {
    const names = ['select', 'order', 'values', 'constructor', 'toString', 'rowid', 'row', '_', 'A']
    const shape = shapeOf(Object.fromEntries(names.map((name) => [name, { type: 'integer' }])))
    const values = Object.fromEntries(names.map((name, index) => [name, index]))
    await using opened = await open()
    await ship(opened.store, [storedReading({ shape, values })])

    expect((await allPoints(opened.store))[0]?.values).toEqual(values)
    const fields = names.map(
      (name) => ({ key: name, name, type: 'bigint', function: 'max' }) as const,
    )
    const [day] = await allAggregates(opened.store, { fields })
    expect(day?.values).toEqual(values)
  })

  test('what the schema does not know, and which fields were out of range', async () => {
    await using opened = await open()
    const notes: ReadingNotes[] = [
      { extra: { pressure: [1, { unit: 'bar' }], '': null } },
      { flagged: ['temperature', 'humidity'] },
      {},
    ]
    await ship(
      opened.store,
      notes.map((one, index) => storedReading({ ...one, timestampUs: marchUs + index })),
    )
    await opened.reopen()

    const values = { temperature: 21.5 }
    expect(await allPoints(opened.store)).toEqual([
      { timestampUs: marchUs, values, extra: { pressure: [1, { unit: 'bar' }], '': null } },
      { timestampUs: marchUs + 1, values, flagged: ['temperature', 'humidity'] },
      { timestampUs: marchUs + 2, values },
    ])
  })
}
