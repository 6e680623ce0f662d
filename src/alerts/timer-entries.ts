import type { Clock } from '../core/clock.ts'
import { DomainError } from '../core/errors.ts'
import type { StreamId } from '../core/ids.ts'
import type { GroupCommit } from '../ingest/pipeline/group-commit.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import type { ExpiredTimers } from './alert-timers.ts'

/** Streams that are looked up in one query, and written to in one turn. */
const portion = 500

export interface TimerEntriesNeeds {
  readonly state: StateDatabase
  readonly entries: Pick<GroupCommit, 'add' | 'assertReady'>
  readonly clock: Clock
}

/** Writes the timers that have run out into the journal. What cannot be written is asked for again. */
export class TimerEntries {
  readonly #needs: TimerEntriesNeeds

  constructor(needs: TimerEntriesNeeds) {
    this.#needs = needs
  }

  async write({ streamIds, dueUs }: ExpiredTimers): Promise<void> {
    const { state, entries, clock } = this.#needs
    try {
      for (let from = 0; from < streamIds.length; from += portion) {
        entries.assertReady()
        const streams = await state
          .selectFrom('data_streams')
          .select(['id', 'version'])
          .where('id', 'in', streamIds.slice(from, from + portion))
          .execute()
        // In the turn in which they were found: nothing may come into a stream that was deleted.
        const atUs = clock.nowUs()
        entries.add((writer) => {
          for (const { id, version } of streams) {
            writer.alertTimer({ streamId: id as StreamId, version }, dueUs, atUs)
          }
        }, settled)
      }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
    }
  }
}

/** Whether it is durable or not: who waits for it sees it come by, or asks again. */
function settled(): void {}
