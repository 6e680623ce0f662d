import type { Offset } from '../../journal/journal.ts'
import { ceilTo } from '../windows/window-starts.ts'
import { literal, partitionOf, quoted } from './layout.ts'
import type { WritePlace } from './write-place.ts'

const hourUs = 3_600_000_000

export interface ExpiringPortion {
  readonly streamIds: readonly string[]
  readonly beforeUs: number
  /** Names of the tables that their readings are in. */
  readonly tables: Iterable<string>
  /** Grows with each portion that was counted, so that a repetition finds what it has marked itself. */
  readonly round: number
  /** The store's position. */
  readonly position: Offset
}

export interface MarkedReadings {
  /** By stream, how many there are. */
  readonly expired: ReadonlyMap<string, number>
  /** Statements that mark them again, and none that came later. */
  readonly statements: readonly string[]
}

/** Marks readings that are too old as removed. */
export async function markExpired(
  { connection, unapplied }: WritePlace,
  { streamIds, beforeUs, tables, round, position }: ExpiringPortion,
): Promise<MarkedReadings> {
  await unapplied.applied(connection)
  const mark = markOf(round)
  const isTooOld = `"streamId" IN (${streamIds.map(literal).join()}) AND "timestamp" < ${beforeUs}
    AND "$offset" < ${position} AND ("$removedBy" = null OR "$removedBy" = ${mark})`
  const expired = new Map<string, number>()
  const statements: string[] = []
  for (const table of tables) {
    const { rows } = await connection.run(
      `SELECT "streamId", count() FROM ${quoted(table)} WHERE ${isTooOld} GROUP BY "streamId"`,
    )
    if (rows.length === 0) continue
    for (const [id, count] of rows) {
      expired.set(String(id), (expired.get(String(id)) ?? 0) + Number(count))
    }
    unapplied.addUnknown()
    const statement = `UPDATE ${quoted(table)} SET "$removedBy" = ${mark} WHERE ${isTooOld}`
    await connection.run(statement)
    statements.push(statement)
  }
  return { expired, statements }
}

/** Below what removals and ends of streams write. */
export function markOf(round: number): number {
  return -2 - round
}

/**
 * Gives back the room of the oldest months in which nothing lives. Waits until what was sent is there:
 * a late reading that nobody sees yet would go with its month.
 */
export async function dropDeadMonths(
  { connection, unapplied }: WritePlace,
  { table, position }: { readonly table: string; readonly position: Offset },
): Promise<void> {
  await unapplied.applied(connection)
  const first = async (condition: string, order: 'ASC' | 'DESC') => {
    const { rows } = await connection.run(
      `SELECT "timestamp"::LONG FROM ${quoted(table)} WHERE ${condition}
       ORDER BY "timestamp" ${order} LIMIT 1`,
    )
    return rows[0] === undefined ? undefined : Number(rows[0][0])
  }
  const oldestUs = await first('true', 'ASC')
  const newestUs = await first('true', 'DESC')
  if (oldestUs === undefined || newestUs === undefined) return
  // What a removal has marked that is not counted yet is still needed.
  const livingUs = await first(`"$removedBy" = null OR "$removedBy" >= ${position}`, 'ASC')
  const keptUs = startOfMonthUs(Math.min(livingUs ?? newestUs, newestUs))
  if (oldestUs >= keptUs) return
  unapplied.addUnknown()
  await connection.run(`ALTER TABLE ${quoted(table)} DROP PARTITION WHERE "timestamp" < ${keptUs}`)
}

/**
 * Gives back the room of every hour or day of a class's table in which nothing lives, up to a time: streams keep their
 * readings for different times, so these need not be the oldest ones.
 */
export async function dropDeadPartitions(
  { connection, unapplied }: WritePlace,
  { table, position, round, beforeUs }: DeadPartitions,
): Promise<void> {
  await unapplied.applied(connection)
  const isHourly = partitionOf(table) === 'HOUR'
  const start = `timestamp_floor('${isHourly ? 'h' : 'd'}', "timestamp")`
  // Whole partitions: of one that the time falls into the rest may live.
  const untilUs = ceilTo(beforeUs, isHourly ? hourUs : 24 * hourUs)
  const isNeeded = `"$removedBy" = null OR "$removedBy" >= ${position}
    OR "$removedBy" <= ${markOf(round)} OR "$offset" >= ${position}`
  const { rows } = await connection.run(
    `SELECT ${start}::LONG start, sum(CASE WHEN ${isNeeded} THEN 1 ELSE 0 END) FROM ${quoted(table)}
     WHERE "timestamp" < ${untilUs} ORDER BY start`,
  )
  const { rows: newest } = await connection.run(
    `SELECT ${start}::LONG FROM ${quoted(table)} ORDER BY "timestamp" DESC LIMIT 1`,
  )
  const isDead = ([startUs, needed]: readonly unknown[]) =>
    Number(needed) === 0 && Number(startUs) < Number(newest[0]?.[0])
  for (const [firstUs, lastUs] of runsOf(rows, isDead)) {
    unapplied.addUnknown()
    await connection.run(
      `ALTER TABLE ${quoted(table)} DROP PARTITION WHERE "timestamp" >= ${firstUs} AND "timestamp" <= ${lastUs}`,
    )
  }
}

interface DeadPartitions {
  readonly table: string
  readonly position: Offset
  /** The round of the next portion: what bears its mark is not counted yet. */
  readonly round: number
  readonly beforeUs: number
}

/** First and last of each run of partitions. */
function runsOf(
  rows: readonly (readonly unknown[])[],
  isPart: (row: readonly unknown[]) => boolean,
): (readonly [firstUs: number, lastUs: number])[] {
  const runs: [number, number][] = []
  let isOpen = false
  for (const row of rows) {
    const startUs = Number(row[0])
    const run = runs.at(-1)
    if (!isPart(row)) isOpen = false
    else if (isOpen && run) run[1] = startUs
    else {
      runs.push([startUs, startUs])
      isOpen = true
    }
  }
  return runs
}

function startOfMonthUs(timestampUs: number): number {
  const date = new Date(timestampUs / 1_000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) * 1_000
}
