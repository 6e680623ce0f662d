import type { AggregatedField, AggregateQuery } from '../../aggregate-query.ts'
import { columnsOf, isText, unitedFields } from '../../aggregation/united-fields.ts'
import type { Column } from '../../shape.ts'
import type { SplitField } from '../../split-series.ts'
import type { StreamWindows } from '../../windows/stream-windows.ts'
import type { Catalog, ReadingsTable } from '../catalog.ts'

/** What a query is about, in terms of the file. */
export interface Selection {
  readonly query: AggregateQuery
  /** The fields with the types that their values have in the tables together. */
  readonly fields: readonly AggregatedField[]
  /** The names among them, each once: columns of the rows that are aggregated, by index. */
  readonly columns: readonly SelectedColumn[]
  /** Streams that have readings, by their numbers, with the index of their series. */
  readonly streams: readonly SelectedStream[]
  /** Tables that may have some of them in the range, or as long before it as one holds, by month. */
  readonly tables: readonly ReadingsTable[]
  /** The longest hold of a stream that is averaged by time; 0 where none is. */
  readonly holdUsMax: number
  /** What makes the series of readings, where their values do and not their streams. */
  readonly split: SelectedSplit | undefined
}

/** A field with the keys of its values, by the index of their series. */
export interface SelectedSplit {
  readonly field: SplitField
  readonly keys: readonly string[]
}

export interface SelectedColumn extends Column {
  /** The type of texts whose bytes are selected, as whole numbers, in place of them. */
  readonly measured?: Column['type']
}

export interface SelectedStream {
  readonly key: number
  readonly series: number
  /** For how long a reading counts at most; nothing where each counts once. */
  readonly holdUs: number | undefined
  /** What is to be computed anew of its rollup; nothing where it has none. */
  readonly rollup: StreamWindows | undefined
  readonly keptFromUs: number
}

/**
 * Selects the bytes of the texts of the same points, and nothing else; nothing where they have no
 * texts.
 */
export function withTextsMeasured(selection: Selection): Selection | undefined {
  const texts = selection.fields.filter(isText)
  if (texts.length === 0) return undefined
  const fields = texts.map((field) => ({ ...field, type: 'bigint' as const }))
  const columns = columnsOf(texts).map(({ name, type }) => {
    return { name, type: 'bigint' as const, measured: type }
  })
  return { ...selection, fields, columns, holdUsMax: 0 }
}

export function select(catalog: Catalog, query: AggregateQuery): Selection {
  const streams: SelectedStream[] = []
  const shapes = new Set<string>()
  const holdsUs = query.fields.some((field) => field.function === 'avg')
    ? query.timeWeights?.holdsUs
    : undefined
  let holdUsMax = 0
  for (const [series, { streamIds }] of query.series.entries()) {
    for (const id of streamIds) {
      const stream = catalog.streams.get(id)
      if (!stream) continue
      const holdUs = holdsUs?.get(id)
      holdUsMax = Math.max(holdUsMax, holdUs ?? 0)
      const rollup = catalog.rollups.streams.get(id)
      const { keptFromUs } = stream.counts
      streams.push({ key: stream.key, series, holdUs, rollup, keptFromUs })
      for (const shape of stream.shapes) shapes.add(shape)
    }
  }
  const startUs = Math.max(0, query.startUs - holdUsMax)
  const tables = [...shapes]
    .flatMap((shape) => catalog.tablesOf(shape, startUs, query.endUs))
    .sort((left, right) => left.month - right.month)
  const stored = [...shapes].flatMap((shape) => catalog.shapes.get(shape)?.columns ?? [])
  const fields = unitedFields(query.fields, stored)
  const split = query.splitBy && { field: query.splitBy, keys: [] }
  return { query, fields, columns: columnsOf(fields), streams, tables, holdUsMax, split }
}
