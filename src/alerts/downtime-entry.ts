import { aheadUsOf, type Clocks, driftUsMax } from '../core/clock.ts'
import type { GroupCommit } from '../ingest/pipeline/group-commit.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import { type KeptMoment, keptEveryMs } from '../storage/state/steady-time.ts'

export interface DowntimeEntryNeeds {
  readonly state: StateDatabase
  readonly entries: Pick<GroupCommit, 'add' | 'noteUnheard'>
  readonly clock: Clocks
  /** When the service was there last, as far as that was written down. */
  readonly lastThere: KeptMoment | undefined
}

/**
 * Writes at a start that nobody could be heard since the newest reading, if there are rules that could take
 * that for silence; and in front of it what the wall clock shows, if it is not what rules take it for. To
 * be called before anybody can send anything: whatever comes then stands behind it in the journal.
 */
export async function noteDowntime(needs: DowntimeEntryNeeds): Promise<void> {
  const { state, entries, clock } = needs
  const [watched, fleets, known] = await Promise.all([
    state.selectFrom('alert_memories').select('stream_id').limit(1).executeTakeFirst(),
    state.selectFrom('alert_rules').select('id').limit(1).executeTakeFirst(),
    state.selectFrom('alert_time').select('id').executeTakeFirst(),
  ])
  const showsClock = known !== undefined || Math.abs(aheadUsOf(clock)) > driftUsMax
  const isWatched = watched !== undefined || fleets !== undefined
  const heardUs = isWatched ? await lastHeardUs(needs) : undefined
  const steadyUs = clock.steadyUs()
  // A journal that has no room takes no readings either: then what it takes first stands behind this.
  if (heardUs !== undefined) entries.noteUnheard(Math.min(heardUs, steadyUs))
  const wallUs = steadyUs + aheadUsOf(clock)
  if (isWatched || showsClock) entries.add((writer) => writer.clock(steadyUs, wallUs), settled)
}

/** When anybody was heard last, in steady time. */
async function lastHeardUs({ state, lastThere }: DowntimeEntryNeeds): Promise<number> {
  const { newest } = await state
    .selectFrom('stream_counters')
    .select((row) => row.fn.max('last_received_at').as('newest'))
    .executeTakeFirstOrThrow()
  if (lastThere === undefined) return newest ?? 0
  const heardUs = (newest ?? 0) - aheadUsOf(ofThen(lastThere))
  // Nobody was heard after the service was gone: the newest reading came before the clock was set back.
  return heardUs > lastThere.steadyUs + keptEveryMs * 1_000 ? lastThere.steadyUs : heardUs
}

/** The clocks as they were when the service was there last. */
function ofThen({ wallUs, steadyUs }: KeptMoment): Clocks {
  return { nowUs: () => wallUs, steadyUs: () => steadyUs }
}

/** The next start says it, if this is not kept. */
function settled(): void {}
