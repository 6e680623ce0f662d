import type { DuckDBConnection } from '@duckdb/node-api'
import { clearMarks, isCurrent, marksLeft, upTo } from '../../windows/computed-pieces.ts'
import { knownResult } from '../../windows/kept-rows.ts'
import {
  type KnownResult,
  type Revisions,
  revisionsOf,
  type WindowResult,
} from '../../windows/revisions.ts'
import type { ComputedPiece, WindowsWritten } from '../../windows/window-store.ts'
import { appendColumns } from '../append.ts'
import { type Catalog, type StreamRecord } from '../catalog.ts'
import { BigIntColumn, IntegerColumn, TextColumn } from '../columns.ts'
import { givenKeys, givenRows } from '../given-rows.ts'
import { monthOf } from '../months.ts'
import { rowsOf } from '../rows-of.ts'
import { appendMarks } from './mark-windows.ts'
import { type WindowCatalog, windowsTable } from './window-catalog.ts'

/** Results of one transaction that take the place of others; a piece that has more is done in parts. */
const replacedMax = 10_000

export interface WriteNeeds {
  readonly writer: DuckDBConnection
  readonly catalog: Catalog
  readonly nowUs: number
}

/** Results and marks in one transaction; memory follows once it is committed. */
export async function writeWindows(
  { writer, catalog, nowUs }: WriteNeeds,
  computed: readonly ComputedPiece[],
): Promise<WindowsWritten> {
  const { windows } = catalog
  const current = computed.filter((one) => isCurrent(windows, one, catalog.keptFromUs))
  if (current.length === 0) return { added: 0, revised: 0 }
  const known = await knownResults(writer, catalog, current)
  // Several pieces together do not have so many: the first one is alone then.
  const [first] = current as [ComputedPiece]
  const covered = known.length > replacedMax ? [upTo(first, known)] : current
  const byStream = Map.groupBy(known, ({ streamId }) => streamId)
  const revisions = covered.map((one) => revisionsOf(one, byStream.get(one.piece.streamId) ?? []))
  const { added, revised } = united(revisions)
  await createMissing(writer, windows, [...added, ...revised])

  await writer.run('BEGIN')
  await deleteResults(writer, catalog, revised)
  await appendResults({ writer, catalog, nowUs }, [...added, ...revised])
  await rewriteMarks(writer, catalog, covered)
  await writer.run('COMMIT')

  clearMarks(windows, covered)
  windows.added += added.length
  windows.revised += revised.length
  return { added: added.length, revised: revised.length }
}

function united(all: readonly Revisions[]): Revisions {
  return {
    added: all.flatMap(({ added }) => added),
    revised: all.flatMap(({ revised }) => revised),
  }
}

/** The results that there are for the windows of some pieces, in ascending time. */
async function knownResults(
  writer: DuckDBConnection,
  catalog: Catalog,
  computed: readonly ComputedPiece[],
): Promise<readonly KnownResult[]> {
  const found: KnownResult[] = []
  const firstUs = Math.min(...computed.map(({ piece }) => piece.fromUs))
  const endUs = Math.max(...computed.map(({ coveredToUs }) => coveredToUs))
  const pieces = givenRows({
    key: { type: 'INTEGER', values: computed.map(({ piece }) => keyOf(catalog, piece.streamId)) },
    piece: { type: 'INTEGER', values: computed.map((_, index) => index) },
    from_us: { type: 'BIGINT', values: computed.map(({ piece }) => piece.fromUs) },
    to_us: { type: 'BIGINT', values: computed.map(({ coveredToUs }) => coveredToUs) },
  })
  for (const month of catalog.windows.monthsOf(firstUs, endUs)) {
    const rows = await rowsOf(
      writer,
      `SELECT p.piece, start_us::DOUBLE AS start_us, count::DOUBLE AS count, revision, content
       FROM ${windowsTable(month)} JOIN ${pieces} p
         ON "streamId" = p.key AND start_us >= p.from_us AND start_us < p.to_us
       WHERE start_us >= ${firstUs} AND start_us < ${endUs}
       ORDER BY start_us LIMIT ${replacedMax + 1 - found.length}`,
    )
    for (const row of rows) {
      const { piece } = computed[row['piece'] as number] as ComputedPiece
      found.push(knownResult(piece.streamId, row))
    }
    if (found.length > replacedMax) break
  }
  return found
}

async function createMissing(
  writer: DuckDBConnection,
  { months }: WindowCatalog,
  results: readonly WindowResult[],
): Promise<void> {
  for (const { timestampUs } of results) {
    const month = monthOf(timestampUs)
    if (months.has(month)) continue
    await writer.run(
      `CREATE TABLE IF NOT EXISTS ${windowsTable(month)} (
         "streamId" INTEGER, start_us BIGINT, count BIGINT, revision INTEGER, computed_at_us BIGINT,
         content VARCHAR)`,
    )
    months.add(month)
  }
}

async function deleteResults(
  writer: DuckDBConnection,
  catalog: Catalog,
  results: readonly WindowResult[],
): Promise<void> {
  for (const [month, replaced] of byMonth(results)) {
    const times = replaced.map(({ timestampUs }) => timestampUs)
    const rows = givenRows({
      key: { type: 'INTEGER', values: replaced.map(({ streamId }) => keyOf(catalog, streamId)) },
      begins_us: { type: 'BIGINT', values: times },
    })
    await writer.run(
      `DELETE FROM ${windowsTable(month)} USING ${rows} r
       WHERE "streamId" = r.key AND start_us = r.begins_us
         AND start_us BETWEEN ${Math.min(...times)} AND ${Math.max(...times)}`,
    )
  }
}

async function appendResults(
  { writer, catalog, nowUs }: WriteNeeds,
  results: readonly WindowResult[],
): Promise<void> {
  for (const [month, own] of byMonth(results)) {
    const rows = own.length
    await appendColumns(writer, windowsTable(month), [
      new IntegerColumn(rows).fill(own.map(({ streamId }) => keyOf(catalog, streamId))),
      new BigIntColumn(rows).fill(own.map(({ timestampUs }) => timestampUs)),
      new BigIntColumn(rows).fill(own.map(({ count }) => count)),
      new IntegerColumn(rows).fill(own.map(({ revision }) => revision)),
      new BigIntColumn(rows).fill(own.map(() => nowUs)),
      new TextColumn(rows).fill(own.map(({ values }) => values)),
    ])
  }
}

/** Puts the marks that will be left of these streams in the place of those that there are. */
async function rewriteMarks(
  writer: DuckDBConnection,
  catalog: Catalog,
  computed: readonly ComputedPiece[],
): Promise<void> {
  const left = [...marksLeft(catalog.windows, computed)].map(([streamId, ranges]) => {
    return { key: keyOf(catalog, streamId), ranges }
  })
  const keys = left.map(({ key }) => key)
  await writer.run(`DELETE FROM window_marks WHERE "streamId" IN ${givenKeys(keys)}`)
  const rows = left.flatMap(({ key, ranges }) => ranges.map((range) => ({ ...range, key })))
  await appendMarks(writer, 'window_marks', rows)
}

function byMonth(results: readonly WindowResult[]): Iterable<[number, WindowResult[]]> {
  return Map.groupBy(results, ({ timestampUs }) => monthOf(timestampUs))
}

function keyOf({ streams }: Catalog, streamId: string): number {
  return (streams.get(streamId) as StreamRecord).key
}
