import { type Compilable, sql } from 'kysely'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Stretch } from './stretch-tree.ts'

/** A mark that is due: its stretch is to be sealed, or sealed again. */
export interface DueMark extends Stretch {
  readonly widthUs: number
  /** The entry that it was made for last. */
  readonly offset: number
}

export interface DueQuery {
  readonly untilUs: number
  readonly limit: number
  /** Streams whose marks come after those of all others. */
  readonly after: readonly string[]
}

/** Some of the marks that were due by a time, the oldest first. */
export async function dueMarks(
  state: StateDatabase,
  { untilUs, limit, after }: DueQuery,
): Promise<readonly DueMark[]> {
  let query = state.selectFrom('seal_marks').selectAll().where('due_at', '<=', untilUs)
  if (after.length > 0) query = query.where('stream_id', 'not in', after)
  const rows = await query.orderBy('due_at').orderBy('stream_id').limit(limit).execute()
  if (rows.length === 0 && after.length > 0) {
    return await dueMarks(state, { untilUs, limit, after: [] })
  }
  return rows.map((row) => ({
    streamId: row.stream_id,
    startUs: row.start_us,
    endUs: row.start_us + row.width_us,
    widthUs: row.width_us,
    offset: row.journal_offset,
  }))
}

/**
 * Has stretches that are over be due, where a clock that was ahead has said that they are due much later.
 *
 * @param aheadUs no mark of a stretch that is over is due so much later than now
 */
export async function bringForward(
  state: StateDatabase,
  nowUs: number,
  aheadUs: number,
): Promise<void> {
  await state
    .updateTable('seal_marks')
    .set({ due_at: sql<number>`max(start_us + width_us, ${nowUs})` })
    .where('due_at', '>', nowUs + aheadUs)
    .where(sql<boolean>`due_at > start_us + width_us`)
    .execute()
}

/** When the first mark is due; undefined without one. */
export async function firstDueUs(state: StateDatabase): Promise<number | undefined> {
  const { first } = await state
    .selectFrom('seal_marks')
    .select((row) => row.fn.min('due_at').as('first'))
    .executeTakeFirstOrThrow()
  return first ?? undefined
}

export async function countMarks(state: StateDatabase): Promise<number> {
  const { marks } = await state
    .selectFrom('seal_marks')
    .select((row) => row.fn.countAll<number>().as('marks'))
    .executeTakeFirstOrThrow()
  return marks
}

/** For the transaction of a seal: the mark goes, unless a reading has come for which it is to stay. */
export function sealedMark(state: StateDatabase, { offset, ...mark }: DueMark): Compilable {
  return ofMark(state.deleteFrom('seal_marks'), mark).where('journal_offset', '=', offset)
}

/** Has a stretch wait, with the reason. */
export function putOff(
  state: StateDatabase,
  mark: DueMark,
  why: { readonly untilUs: number; readonly problem?: object },
): Compilable {
  const problem = why.problem ? JSON.stringify(why.problem) : null
  const update = state.updateTable('seal_marks').set({ due_at: why.untilUs, problem })
  return ofMark(update, mark)
}

interface Conditional<Self> {
  where(condition: ReturnType<typeof sql<boolean>>): Self
}

function ofMark<Statement extends Conditional<Statement>>(
  statement: Statement,
  { streamId, startUs, widthUs }: Omit<DueMark, 'offset'>,
): Statement {
  return statement.where(
    sql<boolean>`(stream_id, start_us, width_us) = (${streamId}, ${startUs}, ${widthUs})`,
  )
}
