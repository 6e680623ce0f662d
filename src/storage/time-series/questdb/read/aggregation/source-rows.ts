import type { Range } from '../../../aggregation/point-reader.ts'
import { inOrder } from '../../../raw-page.ts'
import type { Column } from '../../../shape.ts'
import { quoted } from '../../layout.ts'
import { fieldValue, type Row, selectedField, storedDigestOf } from '../field-values.ts'
import { needsTooMuchMemory } from '../memory-limits.ts'
import type { ReadSession } from '../session.ts'
import {
  atInstants,
  instantsPerStatement,
  microseconds,
  ofStreams,
  piecesOf,
  within,
} from '../statement.ts'
import { type SelectedSplit, type SelectedStream, type Source, splitSeriesOf } from './selection.ts'

/** Rows that are read at a time, of all sources together, and at least of each. */
export const rowsTogether = 100_000
const rowsPerPageMin = 1_000

/** Rows of one instant, or of some that are looked up: they are in memory together. */
const rowsMax = 320_000

/** A reading of a source, with some of the columns of a selection. */
export interface SourceRow {
  readonly stream: SelectedStream
  /** That of its stream, or of its value; -1 for a value that no reading of the range has. */
  readonly series: number
  readonly timestampUs: number
  readonly digest: bigint
  /** In the order in which they were asked for. */
  readonly values: readonly unknown[]
}

/** What is wanted of rows. */
interface Wanted {
  /** Columns of the selection, by their indices. */
  readonly columns: readonly number[]
  /**
   * Whether it matters of which stream a row is, and what its digest is; otherwise only its series is
   * known, which makes rows half as long.
   */
  readonly isIdentified: boolean
  /** Whether values are the bytes that texts have: columns are none but such. */
  readonly isMeasured?: boolean | undefined
  /** What makes the series of a row, where its value does. */
  readonly split: SelectedSplit | undefined
}

/** The readings of some sources in the order of time, and of digest when they are identified, in pages. */
export async function* rowsInOrder(
  session: ReadSession,
  sources: readonly Source[],
  wanted: Wanted & { readonly range: Range },
): AsyncGenerator<readonly SourceRow[]> {
  const rowsEach = Math.max(rowsPerPageMin, Math.floor(rowsTogether / sources.length))
  const readers = sources.map(
    (source) => new SourceReader({ ...wanted, session, source, rowsEach }),
  )
  for (;;) {
    for (const reader of readers) await reader.fill()
    const completeUs = Math.min(...readers.map((reader) => reader.completeUs))
    const rows = readers.flatMap((reader) => reader.takeBefore(completeUs))
    if (rows.length > 0) yield rows.sort(inOrder)
    if (completeUs === Number.POSITIVE_INFINITY) return
  }
}

interface ReaderNeeds extends Wanted {
  readonly session: ReadSession
  readonly source: Source
  readonly range: Range
  readonly rowsEach: number
}

/** Reads one source page by page. */
class SourceReader {
  readonly #needs: ReaderNeeds
  #range: Range
  #rows: SourceRow[] = []
  /** All readings before it are in the rows, or have been. */
  completeUs = Number.NEGATIVE_INFINITY

  constructor(needs: ReaderNeeds) {
    this.#needs = needs
    this.#range = needs.range
  }

  /** Reads the next page, when all rows have been taken. */
  async fill(): Promise<void> {
    const { session, source, rowsEach, ...wanted } = this.#needs
    let limit = rowsEach
    while (this.#rows.length === 0 && this.completeUs < Number.POSITIVE_INFINITY) {
      const condition = within(this.#range)
      const order = `ORDER BY "timestamp" LIMIT ${limit}`
      const rows = await rowsOf(session, source, { ...wanted, condition, order })
      const isEnd = rows.length < limit
      const lastUs = rows.at(-1)?.timestampUs ?? 0
      // The last instant may have more rows than these.
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
  if (limit >= rowsMax) throw needsTooMuchMemory()
  return limit * 4
}

interface WantedAt extends Omit<Wanted, 'isIdentified'> {
  readonly instants: ReadonlySet<number>
}

/** The readings of a source at some instants, in no order. */
export async function rowsAt(
  session: ReadSession,
  source: Source,
  { instants, ...wanted }: WantedAt,
): Promise<readonly SourceRow[]> {
  let found: SourceRow[] = []
  for (const some of piecesOf([...instants], instantsPerStatement)) {
    const condition = atInstants(some)
    const order = `LIMIT ${rowsMax + 1 - found.length}`
    const rows = await rowsOf(session, source, { ...wanted, isIdentified: true, condition, order })
    found = found.concat(rows)
    if (found.length > rowsMax) throw needsTooMuchMemory()
  }
  return found
}

interface RowsQuestion extends Wanted {
  readonly condition: string
  readonly order: string
}

async function rowsOf(
  session: ReadSession,
  { shape, streams, stored, storedSplit }: Source,
  { condition, order, columns, isIdentified, isMeasured, split }: RowsQuestion,
): Promise<SourceRow[]> {
  const [any] = streams.values()
  const isOneSeries = streams.values().every(({ series }) => series === any?.series)
  const hasStream = isIdentified || !isOneSeries
  const list = [
    ...(hasStream ? ['"streamId"'] : []),
    ...(isIdentified ? ['"$digest"'] : []),
    microseconds('"timestamp"'),
    ...(storedSplit ? [selectedField(storedSplit)] : []),
    ...columns.map((index) => selectedOrNothing(stored[index], isMeasured)),
  ]
  const rows = await session.rows(
    `SELECT ${list.join(', ')} FROM ${session.tableOf(shape).name}
     WHERE ${ofStreams([...streams.keys()])} AND ${condition} AND ${session.visible} ${order}`,
  )
  const types = columns.map(
    (index) => stored[index] && (isMeasured ? 'bigint' : stored[index].type),
  )
  const valuesAt = list.length - columns.length
  const timeAt = valuesAt - (storedSplit ? 2 : 1)
  const cellOfSplit = (row: Row) => (storedSplit ? row[valuesAt - 1] : undefined)
  return rows.map((row) => {
    const stream = (hasStream ? streams.get(String(row[0])) : any) as SelectedStream
    return {
      stream,
      series: split ? splitSeriesOf(split, cellOfSplit(row), storedSplit) : stream.series,
      timestampUs: Number(row[timeAt]),
      digest: isIdentified ? storedDigestOf(row[1]) : 0n,
      values: types.map((type, index) => type && fieldValue(row[valuesAt + index], type)),
    }
  })
}

function selectedOrNothing(stored: Column | undefined, isMeasured = false): string {
  if (!stored) return 'null'
  return isMeasured ? `length_bytes(${quoted(stored.name)})` : selectedField(stored)
}
