import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, compareText } from '../../src/core/canonical-json.ts'
import { readingText } from '../../src/ledgers/seals/reading-text.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import { anyNotes, anyReading } from '../support/any-readings.ts'
import { allPoints, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

/** What every store promises about the canonical text of a reading, which seals cover: a part of `timeSeriesContract`. */
export function timeSeriesTextsContract(open: OpenNewStore): void {
  test('a reading of any content has the text of what was sent', async () => {
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(anyNotes, async (notes) => {
          const streamId = newStream()
          const all = notes.map((one) => anyReading(streamId, one))
          await ship(
            store,
            all.map(({ reading }) => reading),
          )

          expect(await textsOf(store, streamId)).toEqual(
            all.map(({ text }) => text).sort(compareText),
          )
        }),
        { numRuns: 40 },
      )
    })
  })

  test('a reading has the same text when a later schema declares a field that was extra', async () => {
    await using opened = await open()
    const values = { a: -0, b: 1e21, c: [null, { d: 5e-324 }] }
    await ship(opened.store, [
      storedReading({ streamId: 'x', shape: shapeOf({}), values: {}, extra: values }),
      storedReading({
        streamId: 'x',
        shape: shapeOf({ a: { type: 'integer' }, b: { type: 'number' }, c: { type: 'array' } }),
        values,
      }),
      storedReading({
        streamId: 'x',
        shape: shapeOf({ b: { type: 'number' } }),
        values: { b: 1e21 },
        extra: { a: -0, c: values.c },
      }),
    ])

    const text =
      '{"stream":"x","time":"2026-03-01T00:00:00.000000Z","values":{"a":0,"b":1e+21,"c":[null,{"d":5e-324}]}}'
    expect(await textsOf(opened.store, 'x')).toEqual([text, text, text])
  })

  // V8 reads such keys as the one that was in the same place before.
  test('a reading has its own names of members, also where they have escapes', async () => {
    await using opened = await open()
    const shape = shapeOf({ object: { type: 'object' } })
    const names = ['\\', '\n', '"', '\\\\', '\\n', '\\"', '\r', '\\']
    await ship(
      opened.store,
      names.map((name, us) => {
        const member = { '': us, [name]: us }
        return storedReading({
          streamId: 'x',
          timestampUs: marchUs + us,
          shape,
          values: { object: member },
          extra: member,
        })
      }),
    )

    const texts = await textsOf(opened.store, 'x')

    expect(texts.map((text) => text.slice(text.indexOf('"values":') + 9, -1))).toEqual(
      names.map((name, us) =>
        canonicalJson({ '': us, [name]: us, object: { '': us, [name]: us } }),
      ),
    )
  })
}

/** The texts of all readings of a stream, sorted. */
export async function textsOf(store: TimeSeriesStore, streamId: string): Promise<string[]> {
  const points = await allPoints(store, { streamId })
  return points.map((point) => readingText(streamId, point)).sort(compareText)
}
