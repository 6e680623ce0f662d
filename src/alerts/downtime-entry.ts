import type { Clock } from '../core/clock.ts'
import type { GroupCommit } from '../pipeline/group-commit.ts'
import type { StateDatabase } from '../state/database.ts'

export interface DowntimeEntryNeeds {
  readonly state: StateDatabase
  readonly entries: Pick<GroupCommit, 'add'>
  readonly clock: Clock
}

/**
 * Writes at a start that nobody could be heard since the newest reading, if there are rules that could take
 * that for silence. To be called before anybody can send anything: whatever comes then stands behind it
 * in the journal.
 */
export async function noteDowntime({ state, entries, clock }: DowntimeEntryNeeds): Promise<void> {
  const [watched, fleets] = await Promise.all([
    state.selectFrom('alert_memories').select('stream_id').limit(1).executeTakeFirst(),
    state.selectFrom('alert_rules').select('id').limit(1).executeTakeFirst(),
  ])
  if (watched === undefined && fleets === undefined) return
  const { newest } = await state
    .selectFrom('stream_counters')
    .select((row) => row.fn.max('last_received_at').as('newest'))
    .executeTakeFirstOrThrow()
  entries.add((writer) => writer.downtime(newest ?? 0, clock.nowUs()), settled)
}

/** What the journal does not take at the start it takes no readings after, either. */
function settled(): void {}
