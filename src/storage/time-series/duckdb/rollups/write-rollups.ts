import type { DuckDBConnection } from '@duckdb/node-api'
import type { Catalog, StreamRecord } from '../catalog.ts'
import { givenKeys, givenRows } from '../given-rows.ts'
import { appendMarks } from '../windows/mark-windows.ts'
import { type ComputedRows, createRollupTables, replaceRows } from './compute-rollups.ts'
import { firstKeptUs, type RollupPiece } from './due-rollups.ts'
import { rollupTable } from './rollup-catalog.ts'

interface ComputedPieces {
  readonly pieces: readonly RollupPiece[]
  readonly computed: readonly ComputedRows[]
}

/**
 * Rows and marks in one transaction; memory follows once it is committed. All or nothing: false when readings of
 * a piece have changed since it was computed.
 */
export async function writeRollups(
  writer: DuckDBConnection,
  catalog: Catalog,
  { pieces, computed }: ComputedPieces,
): Promise<boolean> {
  if (!pieces.every((piece) => isCurrent(catalog, piece))) return false
  await createRollupTables(writer, catalog, computed)

  await writer.run('BEGIN')
  const rows = await replaceRows(writer, catalog, { pieces, computed })
  await rewriteMarks(writer, pieces)
  await writer.run('COMMIT')

  for (const { rollup, mark } of pieces) rollup.marks.clear(mark, mark.toUs)
  catalog.rollups.computed += rows
  return true
}

function isCurrent({ rollups }: Catalog, { id, rollup, mark, touched }: RollupPiece): boolean {
  return rollups.streams.get(id) === rollup && rollup.marks.isUntouched(mark, touched)
}

/** Puts the marks that will be left of these streams in the place of those that there are. */
async function rewriteMarks(
  writer: DuckDBConnection,
  pieces: readonly RollupPiece[],
): Promise<void> {
  const byRecord = Map.groupBy(pieces, ({ record }) => record)
  const left = [...byRecord].flatMap(([{ key }, own]) => {
    const done = new Set(own.map(({ mark }) => mark))
    const marks = own[0]?.rollup.marks.all ?? []
    return marks
      .filter((mark) => !done.has(mark))
      .map(({ fromUs, toUs }) => ({ key, fromUs, toUs }))
  })
  const keys = [...byRecord.keys()].map(({ key }) => key)
  await writer.run(`DELETE FROM rollup_marks WHERE "streamId" IN ${givenKeys(keys)}`)
  await appendMarks(writer, 'rollup_marks', left)
}

/** Removes rows whose readings are not kept any longer, of all streams. */
export async function removeOutdated(
  writer: DuckDBConnection,
  { rollups }: Catalog,
  outdated: readonly StreamRecord[],
): Promise<void> {
  const streams = givenRows({
    key: { type: 'INTEGER', values: outdated.map(({ key }) => key) },
    kept_us: { type: 'BIGINT', values: outdated.map(firstKeptUs) },
  })
  for (const shape of rollups.shapes) {
    await writer.run(
      `DELETE FROM ${rollupTable(shape)} USING ${streams} p
       WHERE "streamId" = p.key AND start_us < p.kept_us`,
    )
  }
}
