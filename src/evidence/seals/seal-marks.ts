import { type Compilable, sql } from 'kysely'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Stretch } from './stretch-tree.ts'

/** A mark that is due: its stretch is to be sealed, or sealed again. */
export interface DueMark extends Stretch {
  readonly widthUs: number
  /** The entry that it was made for last. */
  readonly offset: number
}

/** Some of the marks that were due by a time, the oldest first. */
export async function dueMarks(
  state: StateDatabase,
  untilUs: number,
  limit: number,
): Promise<readonly DueMark[]> {
  const rows = await state
    .selectFrom('seal_marks')
    .selectAll()
    .where('due_at', '<=', untilUs)
    .orderBy('due_at')
    .orderBy('stream_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    streamId: row.stream_id,
    startUs: row.start_us,
    endUs: row.start_us + row.width_us,
    widthUs: row.width_us,
    offset: row.journal_offset,
  }))
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

/** The longest time that a stretch whose end is over is put off. */
const putOffUsMax = 7_200_000_000

/**
 * Makes marks due that wait for longer than any of them is to: the wall clock was ahead when their readings were received.
 * Resolves with how many there were.
 */
export async function pullBackMarks(state: StateDatabase, nowUs: number): Promise<number> {
  const { numUpdatedRows } = await state
    .updateTable('seal_marks')
    .set({ due_at: sql<number>`max(start_us + width_us, ${nowUs})` })
    .where('due_at', '>', nowUs + putOffUsMax)
    .where(sql<boolean>`due_at > start_us + width_us`)
    .executeTakeFirst()
  return Number(numUpdatedRows)
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
