import type { Removal } from '../shipment.ts'
import { literal, quoted, tableOf } from './layout.ts'
import type { WritePlace } from './write-place.ts'

/** In the place of the entry that has removed a reading: no entry is needed when its stream is gone. */
export const removedWithStream = -1

/** Where readings of a stream are. */
export interface StreamPlace extends WritePlace {
  /** Ids of the shapes that its readings have had. */
  readonly shapes: Iterable<string>
}

/**
 * Marks readings as removed by the entry at `from`, and says how many: QuestDB has no statement that
 * deletes rows. A repetition after a crash finds its own marks and comes to the same count.
 */
export async function removeReadings(
  { connection, unapplied, shapes }: StreamPlace,
  { streamId, startUs, endUs, from }: Removal,
): Promise<number> {
  if (startUs >= endUs) return 0
  await unapplied.applied(connection)
  const doomed = `"streamId" = ${literal(streamId)}
    AND "timestamp" >= ${startUs} AND "timestamp" < ${endUs}
    AND "$offset" < ${from} AND ("$removedBy" = null OR "$removedBy" = ${from})`
  let deleted = 0
  for (const shape of shapes) {
    const table = quoted(tableOf(connection.server.prefix, shape))
    const { rows } = await connection.run(`SELECT count() FROM ${table} WHERE ${doomed}`)
    const count = Number(rows[0]?.[0])
    if (count === 0) continue
    deleted += count
    unapplied.addUnknown()
    await connection.run(`UPDATE ${table} SET "$removedBy" = ${from} WHERE ${doomed}`)
  }
  return deleted
}

/** The newest timestamp of a stream outside of a range that is removed, or -1. */
export async function newestOutside(
  { connection, shapes }: StreamPlace,
  { streamId, startUs, endUs }: Pick<Removal, 'streamId' | 'startUs' | 'endUs'>,
): Promise<number> {
  let newestUs = -1
  for (const shape of shapes) {
    const { rows } = await connection.run(
      `SELECT "timestamp"::LONG FROM ${quoted(tableOf(connection.server.prefix, shape))}
       WHERE "streamId" = ${literal(streamId)} AND "$removedBy" = null
         AND NOT ("timestamp" >= ${startUs} AND "timestamp" < ${endUs})
       ORDER BY "timestamp" DESC LIMIT 1`,
    )
    newestUs = Math.max(newestUs, Number(rows[0]?.[0] ?? -1))
  }
  return newestUs
}

/** Marks all readings of streams that get no more. Returns what does so again. */
export async function markStreamsRemoved(
  { connection, unapplied }: WritePlace,
  streams: readonly { readonly id: string; readonly shapes: Iterable<string> }[],
): Promise<string[]> {
  const byShape = new Map<string, string[]>()
  for (const { id, shapes } of streams) {
    for (const shape of shapes) byShape.set(shape, [...(byShape.get(shape) ?? []), id])
  }
  const statements: string[] = []
  for (const [shape, ids] of byShape) {
    const table = quoted(tableOf(connection.server.prefix, shape))
    unapplied.addUnknown()
    const statement = `UPDATE ${table} SET "$removedBy" = ${removedWithStream}
       WHERE "streamId" IN (${ids.map(literal).join()}) AND "$removedBy" = null`
    await connection.run(statement)
    statements.push(statement)
  }
  return statements
}
