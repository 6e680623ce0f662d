import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../../src/core/canonical-json.ts'
import { formatUs } from '../../src/core/time.ts'
import type { FieldType } from '../../src/pipeline/stream-schema.ts'
import { shapeOf } from '../../src/time-series/shape.ts'
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
  number: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 5e-320, 0.1, -0),
  ),
  integer: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2 ** 53, -(2 ** 53), 0)),
  boolean: fc.boolean(),
  string: fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
    fc.constantFrom('', "'", '"', '\\', 'a\nb\r\n', '🌡️ 21 °C', 'null', '{"a":1}', ' \t', '\u202e'),
  ),
  datetime: fc
    .oneof(
      fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
      fc.constantFrom(-62_135_596_800_000_000, 253_402_300_799_000_000, 0),
    )
    .map(formatUs),
  object: fc.dictionary(
    fc.string().filter((key) => key !== '__proto__'),
    fc.jsonValue(),
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
