import { DomainError } from '../../../../core/errors.ts'
import type { Range } from '../../../aggregation/point-reader.ts'
import { inOrder } from '../../../raw-page.ts'
import type { Column } from '../../../time-series-store.ts'
import { fieldValue, type Row, selectedField, storedDigestOf } from '../field-values.ts'
import type { ReadSession } from '../session.ts'
import {
  atInstants,
  instantsPerStatement,
  microseconds,
  ofStreams,
  piecesOf,
  within,
} from '../statement.ts'
import type { SelectedStream, Source } from './selection.ts'

/** Rows that are read at a time. */
const rowsPerPage = 20_000

/** Rows of one instant, or of some that are looked up: they are in memory together. */
const rowsMax = 320_000

/** A reading of a source, with some of the columns of a selection. */
export interface SourceRow {
  readonly stream: SelectedStream
  readonly timestampUs: number
  readonly digest: bigint
  /** In the order in which they were asked for. */
  readonly values: readonly unknown[]
}

/** The readings of some sources in the order of (time, digest), in pages. */
export async function* rowsInOrder(
  session: ReadSession,
  sources: readonly Source[],
  { range, columns }: { readonly range: Range; readonly columns: readonly number[] },
): AsyncGenerator<readonly SourceRow[]> {
  const readers = sources.map((source) => new SourceReader(session, source, { range, columns }))
  for (;;) {
    for (const reader of readers) await reader.fill()
    const completeUs = Math.min(...readers.map((reader) => reader.completeUs))
    const rows = readers.flatMap((reader) => reader.takeBefore(completeUs))
    if (rows.length > 0) yield rows.sort(inOrder)
    if (completeUs === Number.POSITIVE_INFINITY) return
  }
}

/** Reads one source page by page. */
class SourceReader {
  readonly #session: ReadSession
  readonly #source: Source
  readonly #columns: readonly number[]
  #range: Range
  #rows: SourceRow[] = []
  /** All readings before it are in the rows, or have been. */
  completeUs = Number.NEGATIVE_INFINITY

  constructor(
    session: ReadSession,
    source: Source,
    { range, columns }: { readonly range: Range; readonly columns: readonly number[] },
  ) {
    this.#session = session
    this.#source = source
    this.#columns = columns
    this.#range = range
  }

  /** Reads the next page, when all rows have been taken. */
  async fill(): Promise<void> {
    let limit = rowsPerPage
    while (this.#rows.length === 0 && this.completeUs < Number.POSITIVE_INFINITY) {
      const condition = within(this.#range)
      const order = `ORDER BY "timestamp" LIMIT ${limit}`
      const rows = await rowsOf(this.#session, this.#source, {
        condition,
        order,
        columns: this.#columns,
      })
      const isEnd = rows.length < limit
      const lastUs = rows.at(-1)?.timestampUs ?? 0
      // Of the last instant there may be more.
      this.#rows = isEnd ? rows : rows.filter(({ timestampUs }) => timestampUs < lastUs)
      this.completeUs = isEnd ? Number.POSITIVE_INFINITY : lastUs
      this.#range = { fromUs: lastUs, toUs: this.#range.toUs }
      if (this.#rows.length === 0) limit = larger(limit)
    }
  }

  takeBefore(instantUs: number): SourceRow[] {
    const end = this.#rows.findIndex(({ timestampUs }) => timestampUs >= instantUs)
    return this.#rows.splice(0, end < 0 ? this.#rows.length : end)
  }
}

function larger(limit: number): number {
  if (limit >= rowsMax) throw tooMany()
  return limit * 4
}

/** The readings of a source at some instants, in no order. */
export async function rowsAt(
  session: ReadSession,
  source: Source,
  {
    instants,
    columns,
  }: { readonly instants: ReadonlySet<number>; readonly columns: readonly number[] },
): Promise<readonly SourceRow[]> {
  const found: SourceRow[] = []
  for (const some of piecesOf([...instants], instantsPerStatement)) {
    const condition = atInstants(some)
    const order = `LIMIT ${rowsMax + 1 - found.length}`
    found.push(...(await rowsOf(session, source, { condition, order, columns })))
    if (found.length > rowsMax) throw tooMany()
  }
  return found
}

interface RowsQuestion {
  readonly condition: string
  readonly order: string
  readonly columns: readonly number[]
}

async function rowsOf(
  session: ReadSession,
  { shape, streams, stored }: Source,
  { condition, order, columns }: RowsQuestion,
): Promise<SourceRow[]> {
  const list = columns.map((index) => selectedOrNothing(stored[index]))
  const rows = await session.rows(
    `SELECT ${['"streamId"', microseconds('"timestamp"'), '"$digest"', ...list].join(', ')}
     FROM ${session.tableOf(shape).name}
     WHERE ${ofStreams([...streams.keys()])} AND ${condition} AND ${session.visible} ${order}`,
  )
  const types = columns.map((index) => stored[index]?.type)
  return rows.map((row) => ({
    stream: streams.get(String(row[0])) as SelectedStream,
    timestampUs: Number(row[1]),
    digest: storedDigestOf(row[2]),
    values: types.map((type, index) => valueAt(row, index, type)),
  }))
}

function selectedOrNothing(stored: Column | undefined): string {
  return stored ? selectedField(stored) : 'null'
}

function valueAt(row: Row, index: number, type: Column['type'] | undefined): unknown {
  return type === undefined ? undefined : fieldValue(row[index + 3], type)
}

function tooMany(): DomainError {
  return new DomainError('query_too_slow', 'the query needs more memory than there is')
}
