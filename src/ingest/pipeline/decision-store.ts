import { sql, type Transaction } from 'kysely'
import type { Offset } from '../../storage/journal/journal.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { AlertWatches } from './alert-watches.ts'
import type { Decision, DecisionStore } from './decider.ts'
import { changeQuarantine, noDifference } from './quarantine-changes.ts'
import { writeMarks } from './seal-marks.ts'
import { CounterAdditions } from './stream-counters.ts'

const consumer = 'decider'

export interface DecisionStoreNeeds {
  readonly state: StateDatabase
  /** Called when the quarantine of a stream begins to discard, and once more when it had room between. */
  readonly onDiscard: (streamId: string) => void
  /** Writes down, in the transaction of a decision, what is to be told of it. */
  readonly note?: NoteArrivals
  /** Writes what alerts follow from a decision. */
  readonly alerts?: Pick<AlertWatches, 'write'>
}

export type NoteArrivals = (
  transaction: StateDatabase,
  tallies: Decision['tallies'],
) => Promise<void>

/** What was decided of all streams, of those that have left, too. */
export interface DecidedTotals {
  readonly received: number
  readonly filtered: number
  /** Refused readings that are kept now, and those that found no room or were deleted. */
  readonly quarantined: number
  readonly discarded: number
}

/** Commits decisions to the state database. */
export class StateDecisionStore implements DecisionStore {
  readonly #needs: DecisionStoreNeeds

  constructor(needs: DecisionStoreNeeds) {
    this.#needs = needs
  }

  async position(): Promise<Offset> {
    const { state } = this.#needs
    await state
      .insertInto('consumer_positions')
      .values({ consumer, next_offset: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const row = await state
      .selectFrom('consumer_positions')
      .select('next_offset')
      .where('consumer', '=', consumer)
      .executeTakeFirstOrThrow()
    return row.next_offset
  }

  async totals(): Promise<DecidedTotals> {
    return await this.#needs.state
      .selectFrom('stream_counters')
      .select(everOf('received').as('received'))
      .select(everOf('filtered').as('filtered'))
      .select(sql<number>`coalesce(sum(quarantined), 0)`.as('quarantined'))
      .select(everOf('discarded').as('discarded'))
      .executeTakeFirstOrThrow()
  }

  async commit({ from, nextOffset, tallies, marks }: Decision): Promise<void> {
    const { state, onDiscard, note, alerts } = this.#needs
    const full: string[] = []
    const afterwards = await state.transaction().execute(async (transaction) => {
      await movePosition(transaction, from, nextOffset)
      const additions = new CounterAdditions()
      for (const tally of tallies) {
        const { streamId, quarantine } = tally
        const changed =
          quarantine.length === 0
            ? noDifference
            : await changeQuarantine(transaction, streamId, quarantine)
        if (changed.beganToDiscard) full.push(streamId)
        additions.add(tally, changed)
      }
      await additions.write(transaction)
      await keepPositions(transaction, tallies)
      await writeMarks(transaction, marks)
      await note?.(transaction, tallies)
      return await alerts?.write(transaction)
    })
    afterwards?.()
    for (const streamId of full) onDiscard(streamId)
  }
}

/** Adds up a counter of the streams that there are, and of those that have left. */
function everOf(column: 'received' | 'filtered' | 'discarded') {
  const sum = sql`coalesce(sum(${sql.ref(column)}), 0)`
  return sql<number>`${sum} + (SELECT ${sum} FROM departed_counters)`
}

/** A stream that is gone, or is not fetched any more, has none. */
async function keepPositions(
  transaction: Transaction<StateSchema>,
  tallies: Decision['tallies'],
): Promise<void> {
  for (const { streamId, position } of tallies) {
    if (position === undefined) continue
    await transaction
      .updateTable('stream_sources')
      .set({ position })
      .where('stream_id', '=', streamId)
      .execute()
  }
}

async function movePosition(
  transaction: Transaction<StateSchema>,
  from: Offset,
  next: Offset,
): Promise<void> {
  const { numUpdatedRows } = await transaction
    .updateTable('consumer_positions')
    .set({ next_offset: next })
    .where('consumer', '=', consumer)
    .where('next_offset', '=', from)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new Error(`another decider has moved on from ${from}`)
}
