import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api'
import type { ReadingsCursor } from '../readings-query.ts'
import type { SeriesColumn, SeriesPage, SeriesQuery } from '../series.ts'
import { type Catalog, quoted } from './catalog.ts'
import { type Source, sourcesOf, type Window, within } from './raw-readings.ts'

/** After a stretch of time that has less than this part of a page follows a longer one. */
const fullEnough = 1 / 4
const widening = 4

/** How long the first stretch is, and the shortest one, in microseconds. */
const firstSpanUs = 1_000_000
const spanUsMin = 1_000

type NumericType = 'number' | 'boolean'

/**
 * A page of numbers, in the order of (time, digest). It is read in stretches of time, because DuckDB
 * leaves out what is of another time, but not what is behind a limit. How long they are follows from how
 * many readings there were in those before.
 *
 * @returns undefined where a field has been something else than numbers, or true and false
 */
export async function readSeries(
  connection: DuckDBConnection,
  catalog: Catalog,
  query: SeriesQuery,
): Promise<SeriesPage | undefined> {
  const { startUs, endUs, after, fields, limit } = query
  const raw = { ...query, bytesMax: Number.POSITIVE_INFINITY }
  // Before the snapshot: what the catalog knows now will be there.
  const sources = sourcesOf(catalog, raw)
  const types = fields.map((field) => typeOf(sources, field))
  if (!types.every((type) => type !== undefined)) return undefined
  await connection.run('BEGIN')
  const page = new Page(types, limit)
  let spanUs = after?.spanUs ?? firstSpanUs
  const hasCursor = after !== undefined && after.timestampUs >= startUs
  for (let atUs = hasCursor ? after.timestampUs : startUs; atUs < endUs; ) {
    const [source] = sources.filter((each) => each.endUs > atUs)
    if (source === undefined) break
    // Between two months that have readings there may be some that have none.
    atUs = Math.max(atUs, source.startUs)
    const window: Window = {
      startUs: atUs,
      endUs: Math.min(atUs + spanUs, endUs),
      afterDigest: hasCursor && atUs === after.timestampUs ? after.digest : undefined,
    }
    const found = await page.read(connection, sqlOf(sources, query, window))
    if (page.isFull) return page.close(hasCursor ? after.timestampUs : startUs)
    if (found < limit * fullEnough) spanUs *= widening
    atUs = window.endUs
  }
  return page.close(undefined)
}

/** What a field has been; numbers where nobody has ever sent it, nothing where it is no such thing. */
function typeOf(sources: readonly Source[], field: string): NumericType | undefined {
  const columns = sources.flatMap(({ columns: all }) => all.filter(({ name }) => name === field))
  if (columns.every(({ type }) => type === 'double' || type === 'bigint')) return 'number'
  return columns.every(({ type }) => type === 'boolean') ? 'boolean' : undefined
}

function sqlOf(sources: readonly Source[], { fields, limit }: SeriesQuery, window: Window): string {
  const parts = sources
    .filter(({ startUs, endUs }) => startUs < window.endUs && endUs > window.startUs)
    .map(({ table, key, columns }) => {
      const values = fields.map((field, index) => {
        const column = columns.find(({ name }) => name === field)
        const value = column === undefined ? 'NULL' : quoted(column.name)
        // Not all types can be made a double of at once.
        const number = column?.type === 'boolean' ? `${value}::INTEGER` : value
        return `, ${number}::DOUBLE AS c${index}`
      })
      return `SELECT "timestamp" AS t, "$digest" AS d${values.join('')}
        FROM ${quoted(table)} WHERE ${within(key, window)}`
    })
  const columns = fields.map((_, index) => `, c${index}`).join('')
  return `SELECT epoch_us(t)::DOUBLE, d${columns} FROM (${parts.join(' UNION ALL ')}) AS found
    ORDER BY t, d LIMIT ${limit + 1}`
}

/** A page that is being filled. */
class Page {
  readonly #types: readonly NumericType[]
  readonly #limit: number
  readonly #timesUs: Float64Array<ArrayBuffer>
  readonly #values: readonly Float64Array<ArrayBuffer>[]
  #rows = 0
  #last: bigint = 0n
  isFull = false

  constructor(types: readonly NumericType[], limit: number) {
    this.#types = types
    this.#limit = limit
    this.#timesUs = new Float64Array(limit)
    this.#values = types.map(() => new Float64Array(limit))
  }

  /** Takes what a query finds, as far as there is room, and says how much it found. */
  async read(connection: DuckDBConnection, sql: string): Promise<number> {
    const before = this.#rows
    const result = await connection.run(sql)
    for (;;) {
      const chunk = await result.fetchChunk()
      if (chunk === null || chunk.rowCount === 0) return this.#rows - before
      this.#take(chunk)
      if (this.isFull) return this.#rows - before
    }
  }

  #take(chunk: DuckDBDataChunk): void {
    const taken = Math.min(chunk.rowCount, this.#limit - this.#rows)
    const columns = [this.#timesUs, ...this.#values]
    for (const [index, numbers] of columns.entries()) {
      // The second one is the digest.
      const vector = chunk.getColumnVector(index === 0 ? 0 : index + 1)
      for (let row = 0; row < taken; row++) {
        numbers[this.#rows + row] = (vector.getItem(row) as number | null) ?? Number.NaN
      }
    }
    if (taken > 0) this.#last = chunk.getColumnVector(1).getItem(taken - 1) as bigint
    this.#rows += taken
    this.isFull = taken < chunk.rowCount
  }

  /** @param startUs where a page begins that more follows on */
  close(startUs: number | undefined): SeriesPage {
    const rows = this.#rows
    const columns: readonly SeriesColumn[] = this.#values.map((values, index) => ({
      type: this.#types[index] ?? 'number',
      values: values.slice(0, rows),
    }))
    const timesUs = this.#timesUs.slice(0, rows)
    return { timesUs, columns, next: startUs === undefined ? undefined : this.#next(startUs) }
  }

  #next(startUs: number): ReadingsCursor {
    const timestampUs = this.#timesUs[this.#rows - 1] ?? startUs
    const coveredUs = timestampUs - startUs
    const spanUs = Math.ceil(Math.max(spanUsMin, coveredUs + coveredUs / 4))
    return { timestampUs, digest: this.#last, spanUs }
  }
}
