import type { AggregatedField, AggregateFunction } from '../../aggregate-query.ts'
import type { Range } from '../../aggregation/point-reader.ts'
import { isReadableAs } from '../../aggregation/united-fields.ts'
import { bucketRuns } from '../../bucket-runs.ts'
import { coveredRanges, type RolledUpStream } from '../../rollups/covered.ts'
import type { Column, Shape } from '../../shape.ts'
import { gapsOf } from '../../windows/window-starts.ts'
import type { Catalog } from '../catalog.ts'
import { rollupTable } from '../rollups/rollup-catalog.ts'
import { hasPart, partName, type RollupPart } from '../rollups/rollup-columns.ts'
import { bucketSql } from './bucket.ts'
import { columnName, rowsSql, seriesJoin, sqlTypes } from './rows.ts'
import type { SelectedColumn, SelectedStream, Selection } from './selection.ts'

/** Parts of rows that each function needs; undefined for one that needs the readings themselves. */
const partsOfFunctions: Readonly<Record<AggregateFunction, readonly RollupPart[] | undefined>> = {
  avg: ['n', 'sum'],
  sum: ['sum'],
  count: ['n'],
  min: ['min'],
  max: ['max'],
  first: ['first', 'firstAt', 'firstDigest'],
  latest: ['last', 'lastAt', 'lastDigest'],
  // To put deviations together again costs the more digits the smaller they are beside the values.
  stddev: undefined,
  p50: undefined,
  p95: undefined,
  p99: undefined,
}

/** A part of one column of a selection, by its index. */
interface NeededPart {
  readonly part: RollupPart
  readonly index: number
}

/**
 * SQL of the points of a range of which rollups know a part: what they do not cover comes out of the readings. The same
 * columns as `pointsSql`, and `$isFinite`, which is false where sums go beyond what a double can hold: then
 * only the readings tell. Nothing where rollups do not help.
 */
export function rolledUpPointsSql(
  catalog: Catalog,
  selection: Selection,
  chunk: Range,
): string | undefined {
  const parts = neededParts(selection)
  const streams = selection.streams.filter((stream) => stream.rollup !== undefined)
  if (!parts || streams.length === 0) return undefined
  const { buckets } = selection.query
  const covered = coveredRanges(streams.flatMap(rolledUpAsOfNow), buckets, chunk)
  if (covered.length === 0) return undefined
  const others = selection.streams.filter((stream) => stream.rollup === undefined)
  const needs: Needs = { catalog, selection, parts, chunk }
  const sources = [
    ...rollupSources({ ...needs, selection: { ...selection, streams } }, covered),
    ...gapsOf(chunk, covered).flatMap((range) =>
      readingsSource({ ...needs, selection: { ...selection, streams } }, range),
    ),
    ...readingsSource({ ...needs, selection: { ...selection, streams: others } }, chunk),
  ]
  // Everything is covered, and there is nothing in it.
  if (sources.length === 0) return undefined
  const values = selection.fields.map(
    (field, index) => `, ${valueSql(field, selection)} AS "$${index}"`,
  )
  return `SELECT "$series", "$bucket", sum("$rows") AS "$count",
      ${isFiniteSql(selection, parts)} AS "$isFinite"${values.join('')}
    FROM (${sources.join('\nUNION ALL ')}) GROUP BY "$series", "$bucket"`
}

function rolledUpAsOfNow({ rollup, keptFromUs }: SelectedStream): readonly RolledUpStream[] {
  return rollup ? [{ marked: rollup.marks.all, keptFromUs }] : []
}

function neededParts({
  fields,
  columns,
  holdUsMax,
  split,
}: Selection): readonly NeededPart[] | undefined {
  if (holdUsMax > 0 || split) return undefined
  const needed = new Map<string, NeededPart>()
  for (const field of fields) {
    const parts = partsOfFunctions[field.function]
    if (!parts) return undefined
    const index = columns.findIndex(({ name }) => name === field.name)
    for (const part of parts) needed.set(partName(part, index), { part, index })
  }
  return [...needed.values()]
}

interface Needs {
  readonly catalog: Catalog
  readonly selection: Selection
  readonly parts: readonly NeededPart[]
  readonly chunk: Range
}

/** Rows of rollups: of each shape a table. */
function rollupSources(
  { catalog, selection, parts, chunk }: Needs,
  covered: readonly Range[],
): readonly string[] {
  const runs = bucketRuns(selection.query.buckets, chunk.fromUs, chunk.toUs)
  const within = covered.map(({ fromUs, toUs }) => `start_us >= ${fromUs} AND start_us < ${toUs}`)
  const keys = selection.streams.map(({ key }) => key)
  const [least, greatest] = [Math.min(...keys), Math.max(...keys)]
  return [...new Set(selection.tables.map(({ shape }) => shape))]
    .filter((shape) => catalog.rollups.shapes.has(shape))
    .map((shape) => {
      const stored = catalog.shapes.get(shape)?.columns ?? []
      const list = parts.map(
        (part) => `, ${storedPart(selection.columns[part.index] as SelectedColumn, part, stored)}`,
      )
      return `SELECT s."$series" AS "$series", ${bucketSql(runs, 'start_us')} AS "$bucket",
          count AS "$rows"${list.join('')}
        FROM ${rollupTable(shape)} r ${seriesJoin(selection)}
        WHERE r."streamId" BETWEEN ${least} AND ${greatest} AND (${within.join(' OR ')})`
    })
}

/** What a table of rows has of a part. Tables of other shapes may lack it, or have something else there. */
function storedPart(
  { name, type, measured }: SelectedColumn,
  { part, index }: NeededPart,
  stored: Shape['columns'],
): string {
  const place = stored.findIndex((column) => column.name === name)
  const found = stored[place]
  const sqlType = partSqlType(part, type)
  const as = ` AS ${partName(part, index)}`
  if (!found || !isReadableAs(found.type, measured ?? type) || !hasPart(found.type, part)) {
    return `${part === 'n' ? '0' : 'NULL'}::${sqlType}${as}`
  }
  const column = partName(part, place)
  if (measured && isValue(part)) return `strlen(${column})${as}`
  const isInstant = found.type === 'timestamp' && isValue(part)
  return `${isInstant ? `epoch_us(${column})` : column}::${sqlType}${as}`
}

function isValue(part: RollupPart): boolean {
  return part === 'min' || part === 'max' || part === 'first' || part === 'last'
}

function partSqlType(part: RollupPart, type: Column['type']): string {
  if (part === 'n') return 'BIGINT'
  if (part === 'firstAt' || part === 'lastAt') return 'TIMESTAMP'
  if (part === 'firstDigest' || part === 'lastDigest') return 'UBIGINT'
  if (part === 'sum' && type === 'bigint') return 'HUGEINT'
  return sqlTypes[type]
}

/** Readings, each as a row that stands for itself. */
function readingsSource({ catalog, selection, parts }: Needs, range: Range): readonly string[] {
  if (selection.streams.length === 0) return []
  const rows = rowsSql(catalog, selection, { ...range, withStream: true })
  if (rows === '') return []
  const list = parts.map(({ part, index }) => {
    const value = readingPart(part, selection.columns[index] as Column, columnName(index))
    return `, ${value} AS ${partName(part, index)}`
  })
  return [
    `SELECT s."$series" AS "$series", "$bucket" AS "$bucket", 1::BIGINT AS "$rows"${list.join('')}
     FROM (${rows}) r ${seriesJoin(selection)}`,
  ]
}

function readingPart(part: RollupPart, { type }: Column, column: string): string {
  switch (part) {
    case 'n':
      return `(${column} IS NOT NULL)::BIGINT`
    case 'firstAt':
    case 'lastAt':
      return '"timestamp"'
    case 'firstDigest':
    case 'lastDigest':
      return '"$digest"'
    case 'sum':
    case 'min':
    case 'max':
    case 'first':
    case 'last':
      return `${column}::${partSqlType(part, type)}`
    default:
      return part satisfies never
  }
}

/** SQL of a function over parts that were put together. */
function valueSql(field: AggregatedField, { columns }: Selection): string {
  const index = columns.findIndex(({ name }) => name === field.name)
  const of = (part: RollupPart) => partName(part, index)
  const sum = field.type === 'bigint' ? `sum(${of('sum')})::DOUBLE` : `fsum(${of('sum')})`
  switch (field.function) {
    case 'avg':
      return `${sum} / sum(${of('n')})`
    case 'sum':
      return sum
    case 'count':
      return `sum(${of('n')})::BIGINT`
    case 'min':
    case 'max':
      return `${field.function}(${of(field.function)})`
    case 'first':
      return `arg_min(${of('first')}, (${of('firstAt')}, ${of('firstDigest')}))`
    case 'latest':
      return `arg_max(${of('last')}, (${of('lastAt')}, ${of('lastDigest')}))`
    case 'stddev':
    case 'p50':
    case 'p95':
    case 'p99':
      throw new Error(`rollups know nothing of ${field.function}`)
    default:
      return field.function satisfies never
  }
}

function isFiniteSql({ columns }: Selection, parts: readonly NeededPart[]): string {
  const sums = parts
    .filter(({ part, index }) => part === 'sum' && columns[index]?.type === 'double')
    .map(({ index }) => `coalesce(isfinite(fsum(${partName('sum', index)})), true)`)
  return sums.length === 0 ? 'true' : sums.join(' AND ')
}
