import type { Clock } from '../core/clock.ts'
import type { GroupCommit } from '../pipeline/group-commit.ts'
import type { StateDatabase } from '../state/database.ts'

/** Readings that come before the next try stand in front of the entry, and shorten no silence by more than this. */
const retryMs = 1_000

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
  addDowntime(entries, newest ?? 0, clock)
}

/** A journal that has no room takes no readings either: nobody can be heard until it has. */
function addDowntime(entries: DowntimeEntryNeeds['entries'], fromUs: number, clock: Clock): void {
  entries.add(
    (writer) => writer.downtime(fromUs, clock.nowUs()),
    (error) => {
      if (error?.retryable !== true) return
      setTimeout(() => addDowntime(entries, fromUs, clock), retryMs).unref()
    },
  )
}
