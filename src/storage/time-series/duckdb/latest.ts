import type { DuckDBConnection } from '@duckdb/node-api'
import type { LatestPage, LatestQuery, LatestReading } from '../readings-query.ts'
import type { Column } from '../shape.ts'
import { appendColumns } from './append.ts'
import { type Catalog, quoted, type StreamRecord, tableName } from './catalog.ts'
import { IntegerColumn, TimestampColumn, UnsignedBigIntColumn } from './columns.ts'
import { monthOf } from './months.ts'
import { newestOf } from './newest.ts'
import { pointOf, readingList, readingSize } from './reading-rows.ts'
import { rowsOf } from './rows-of.ts'

/** Where the newest reading of a stream is looked for; no field can have a name of these columns. */
const probeDdl = `CREATE OR REPLACE TEMP TABLE probe (
  "$place" INTEGER, "$key" INTEGER, "$newest" TIMESTAMP, "$wanted" UBIGINT)`

/** A stream that is asked about, and the time of its newest reading. */
interface Wanted {
  /** Place in the question. */
  readonly place: number
  readonly record: StreamRecord
  readonly newestUs: number
}

/** The newest reading of a stream. */
interface Newest extends Wanted {
  readonly digest: bigint
  readonly bytes: number
  readonly table: Table
}

interface Table {
  readonly name: string
  readonly columns: readonly Column[]
}

/**
 * The newest readings of some streams, by (time, digest), as many as fit in.
 *
 * The catalog knows when the newest reading of each stream is, so that only that moment is looked at. What is
 * stored at it may be large, so sizes come first, as for pages of readings.
 */
export async function readLatest(
  connection: DuckDBConnection,
  catalog: Catalog,
  { streamIds, bytesMax }: LatestQuery,
): Promise<LatestPage> {
  const wanted = streamIds.flatMap((id, place): Wanted[] => {
    const record = catalog.streams.get(id)
    if (!record || record.timestampMaxUs < 0) return []
    return [{ place, record, newestUs: record.timestampMaxUs }]
  })
  const found = await findNewest(connection, catalog, wanted)
  const moved = wanted.filter(({ place }) => !found.has(place))
  // A removal is taking away what was the newest: it says so only when it is done.
  for (const each of await lookAgain(connection, catalog, moved)) found.set(each.place, each)
  const { fitting, covered } = fittingOf(streamIds.length, found, bytesMax)
  return { readings: await readingsOf(connection, streamIds, fitting), covered }
}

async function lookAgain(
  connection: DuckDBConnection,
  catalog: Catalog,
  moved: readonly Wanted[],
): Promise<Iterable<Newest>> {
  const again: Wanted[] = []
  for (const each of moved) {
    const newestUs = await newestOf(connection, catalog, each.record)
    if (newestUs >= 0) again.push({ ...each, newestUs })
  }
  return (await findNewest(connection, catalog, again)).values()
}

/** By place; of several readings at one time the one with the greatest digest. */
async function findNewest(
  connection: DuckDBConnection,
  catalog: Catalog,
  wanted: readonly Wanted[],
): Promise<Map<number, Newest>> {
  const found = new Map<number, Newest>()
  const byPlace = new Map(wanted.map((each) => [each.place, each]))
  for (const [table, streams] of byTable(catalog, wanted)) {
    await probe(connection, streams)
    const rows = await rowsOf(
      connection,
      `SELECT "$place" AS place, max("$digest") AS digest,
         arg_max(${readingSize(table.columns)}, "$digest")::DOUBLE AS bytes
       FROM ${joined(table, streams)} GROUP BY "$place"`,
    )
    for (const row of rows) {
      const stream = byPlace.get(row['place'] as number) as Wanted
      const digest = row['digest'] as bigint
      const other = found.get(stream.place)
      if (other && other.digest > digest) continue
      found.set(stream.place, { ...stream, digest, bytes: row['bytes'] as number, table })
    }
  }
  return found
}

/** The tables that can hold the newest readings: of each shape of a stream the one of that month. */
function byTable(catalog: Catalog, wanted: readonly Wanted[]): Iterable<[Table, Wanted[]]> {
  const tables = new Map<string, [Table, Wanted[]]>()
  for (const stream of wanted) {
    for (const shape of stream.record.shapes) {
      const name = tableName(shape, monthOf(stream.newestUs))
      const columns = catalog.shapes.get(shape)?.columns
      if (!columns || !catalog.tables.has(name)) continue
      const known = tables.get(name) ?? [{ name, columns }, []]
      known[1].push(stream)
      tables.set(name, known)
    }
  }
  return tables.values()
}

async function probe(
  connection: DuckDBConnection,
  streams: readonly (Wanted & { readonly digest?: bigint })[],
): Promise<void> {
  const rows = streams.length
  await connection.run(probeDdl)
  await appendColumns(connection, 'probe', [
    new IntegerColumn(rows).fill(streams.map(({ place }) => place)),
    new IntegerColumn(rows).fill(streams.map(({ record }) => record.key)),
    new TimestampColumn(rows).fill(streams.map(({ newestUs }) => newestUs)),
    new UnsignedBigIntColumn(rows).fill(streams.map(({ digest = 0n }) => digest)),
  ])
}

/** The bounds of time let DuckDB leave out what is older than all that is looked for. */
function joined({ name }: Table, streams: readonly Wanted[]): string {
  const times = streams.map(({ newestUs }) => newestUs)
  const [first, last] = [Math.min(...times), Math.max(...times)]
  return `probe JOIN ${quoted(name)} ON "streamId" = "$key" AND "timestamp" = "$newest"
    AND "timestamp" BETWEEN make_timestamp(${first}::BIGINT) AND make_timestamp(${last}::BIGINT)`
}

/** The first ones that are not too large together, and how many streams are answered by that. */
function fittingOf(
  streams: number,
  found: ReadonlyMap<number, Newest>,
  bytesMax: number,
): { readonly fitting: readonly Newest[]; readonly covered: number } {
  const fitting: Newest[] = []
  let bytes = 0
  for (let place = 0; place < streams; place++) {
    const newest = found.get(place)
    if (!newest) continue
    if (fitting.length > 0 && bytes + newest.bytes > bytesMax) return { fitting, covered: place }
    bytes += newest.bytes
    fitting.push(newest)
  }
  return { fitting, covered: streams }
}

async function readingsOf(
  connection: DuckDBConnection,
  streamIds: readonly string[],
  fitting: readonly Newest[],
): Promise<readonly LatestReading[]> {
  const readings: (LatestReading & { readonly place: number })[] = []
  for (const [table, streams] of Map.groupBy(fitting, (newest) => newest.table)) {
    await probe(connection, streams)
    const rows = await rowsOf(
      connection,
      `SELECT "$place", ${readingList(table.columns)}
       FROM ${joined(table, streams)} AND "$digest" = "$wanted"`,
    )
    for (const row of rows) {
      const place = row['$place'] as number
      const streamId = streamIds[place] as string
      readings.push({ place, streamId, point: pointOf(row, table.columns, true) })
    }
  }
  return readings
    .sort((left, right) => left.place - right.place)
    .map(({ streamId, point }) => ({ streamId, point }))
}
