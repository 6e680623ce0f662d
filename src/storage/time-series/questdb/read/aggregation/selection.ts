import type {
  AggregatedField,
  AggregateFunction,
  AggregateQuery,
} from '../../../aggregate-query.ts'
import { columnsOf, isReadableAs, unitedFields } from '../../../aggregation/united-fields.ts'
import type { Column, Shape } from '../../../shape.ts'
import { type SplitField, splitKeyOf } from '../../../split-series.ts'
import type { RollupAsOf } from '../../rollups/known-rollups.ts'
import { fieldValue } from '../field-values.ts'
import type { Stored } from '../session.ts'
import { streamsPerStatement } from '../statement.ts'

/**
 * Functions that rows of rollups know. Deviations that are put together again cost the more digits
 * the smaller they are.
 */
const rolledUpFunctions: ReadonlySet<AggregateFunction> = new Set([
  'avg',
  'sum',
  'min',
  'max',
  'count',
  'first',
  'latest',
] as const)

/** What a query is about, in terms of the tables. */
export interface Selection {
  readonly query: AggregateQuery
  /** The fields with the types that their values have in the tables together. */
  readonly fields: readonly AggregatedField[]
  /** The names among them, each once. */
  readonly columns: readonly Column[]
  readonly sources: readonly Source[]
  /** The longest hold of a stream that is averaged by time; 0 where none is. */
  readonly holdUsMax: number
  /** Behind the newest reading of them all. */
  readonly endUs: number
  /** What rows of rollups say of streams; of none where the query needs readings themselves. */
  readonly rolledUp: ReadonlyMap<string, RollupAsOf>
  /** What makes the series of readings, where their values do and not their streams. */
  readonly split?: SelectedSplit | undefined
}

/** A field with the series of its values, by their keys. */
export interface SelectedSplit {
  readonly field: SplitField
  readonly series: ReadonlyMap<string, number>
}

/** The series of a cell: -1 for a value that no reading of the range has. */
export function splitSeriesOf(
  { field, series }: SelectedSplit,
  cell: unknown,
  stored: Column | undefined,
): number {
  return series.get(splitKeyOf(splitCell(cell, stored), field.type)) ?? -1
}

/** A cell of the field as `splitKeyOf` takes it: whole numbers are exact, also those that no double is. */
export function splitCell(cell: unknown, stored: Column | undefined): unknown {
  return stored?.type === 'boolean' ? fieldValue(cell, stored.type) : cell
}

/** Streams of one table that a statement can name; none is there twice. */
export interface Source {
  readonly shape: Shape
  readonly streams: ReadonlyMap<string, SelectedStream>
  /** The columns of the selection as they are stored here; undefined where none can be read as that. */
  readonly stored: readonly (Column | undefined)[]
  /** The field that splits the query, as it is stored here. */
  readonly storedSplit?: Column | undefined
}

export interface SelectedStream {
  readonly streamId: string
  readonly series: number
  /** For how long a reading counts at most; nothing where each counts once. */
  readonly holdUs: number | undefined
}

export function select(stored: Stored, query: AggregateQuery): Selection {
  const holdsUs = query.fields.some((field) => field.function === 'avg')
    ? query.timeWeights?.holdsUs
    : undefined
  const byShape = new Map<string, [Shape, SelectedStream[]]>()
  let holdUsMax = 0
  let newestUs = -1
  for (const [series, { streamIds }] of query.series.entries()) {
    for (const streamId of streamIds) {
      const stream = stored.stream(streamId)
      if (!stream) continue
      const holdUs = holdsUs?.get(streamId)
      holdUsMax = Math.max(holdUsMax, holdUs ?? 0)
      newestUs = Math.max(newestUs, stream.timestampMaxUs)
      for (const shape of stored.shapesOf(streamId)) {
        const known = byShape.get(shape.id) ?? [shape, []]
        known[1].push({ streamId, series, holdUs })
        byShape.set(shape.id, known)
      }
    }
  }
  const all = [...byShape.values()]
  const fields = unitedFields(
    query.fields,
    all.flatMap(([shape]) => shape.columns),
  )
  const columns = columnsOf(fields)
  const sources = all.flatMap(([shape, streams]) => {
    const own = columns.map((column) => storedAs(column, shape.columns))
    const storedSplit = query.splitBy && storedAs(query.splitBy, shape.columns)
    return statementsOf(streams).map(
      (some): Source => ({ shape, streams: some, stored: own, storedSplit }),
    )
  })
  const isRolledUp =
    !query.splitBy &&
    holdUsMax === 0 &&
    fields.every((field) => rolledUpFunctions.has(field.function))
  const rolledUp = isRolledUp ? rollupsOf(stored, query) : new Map<string, RollupAsOf>()
  const split = query.splitBy && { field: query.splitBy, series: new Map<string, number>() }
  return { query, fields, columns, sources, holdUsMax, endUs: newestUs + 1, rolledUp, split }
}

function rollupsOf(stored: Stored, { series }: AggregateQuery): ReadonlyMap<string, RollupAsOf> {
  const ids = new Set(series.flatMap(({ streamIds }) => streamIds))
  const found = [...ids].flatMap((id) => {
    const rollup = stored.rollupOf(id)
    return rollup ? [[id, rollup] as const] : []
  })
  return new Map(found)
}

function storedAs({ name, type }: Column, stored: readonly Column[]): Column | undefined {
  const found = stored.find((column) => column.name === name)
  return found && isReadableAs(found.type, type) ? found : undefined
}

export function statementsOf(streams: readonly SelectedStream[]): Map<string, SelectedStream>[] {
  const statements: Map<string, SelectedStream>[] = []
  for (const stream of streams) {
    let last = statements.at(-1)
    if (!last || last.size === streamsPerStatement || last.has(stream.streamId)) {
      last = new Map()
      statements.push(last)
    }
    last.set(stream.streamId, stream)
  }
  return statements
}
