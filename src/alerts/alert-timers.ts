import { setTimeout as sleep } from 'node:timers/promises'
import type { Clocks } from '../core/clock.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import type { AlertWatch } from './alert-watch.ts'

/** How often it is looked for timers that have run out: a look into an index that is nearly always empty. */
const lookMs = 100

/** Timers that one look takes. */
const timersMax = 10_000

/** When the entry of a timer has not come back after so long, it is asked for once more. */
const retryUs = 10_000_000

/** Timers that have run out by a steady time: they are to be written into the journal. */
export interface ExpiredTimers {
  readonly streamIds: readonly string[]
  readonly dueUs: number
}

/** A stream that an entry is wanted for, and why. */
interface Found {
  readonly id: string
  readonly reason: string
}

interface Rung {
  readonly reason: string
  readonly untilUs: number
}

export interface AlertTimersNeeds {
  readonly state: StateDatabase
  readonly clock: Clocks
  readonly watches: Pick<AlertWatch, 'dueUsAtHand'>
  readonly ring: (expired: ExpiredTimers) => void
}

/**
 * Looks for timers of rules that have run out. The table of what rules remember is their queue, so nothing
 * has to be rebuilt at a start. What follows is decided when their entries come by, which do nothing when
 * they come twice, or too early.
 */
export class AlertTimers {
  readonly #needs: AlertTimersNeeds
  /** What was rung for, stream by stream, and until when its entries are waited for. */
  readonly #rung = new Map<string, Rung>()

  constructor(needs: AlertTimersNeeds) {
    this.#needs = needs
  }

  /** Looks again and again until the signal says to stop. */
  async run(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    while (!signal.aborted) {
      await this.look().catch(onFailure)
      await sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async look(): Promise<void> {
    const { clock, ring } = this.#needs
    const nowUs = clock.steadyUs()
    for (const [id, { untilUs }] of this.#rung) if (untilUs <= nowUs) this.#rung.delete(id)
    const all = [
      ...(await this.#due(nowUs)),
      ...(await this.#muted(clock.nowUs())),
      ...(await this.#behind()),
    ]
    const found = [...Map.groupBy(all, ({ id }) => id)].map(([id, of]) => ({
      id,
      reason: of.map(({ reason }) => reason).join(', '),
    }))
    const fresh = found.filter(({ id, reason }) => this.#rung.get(id)?.reason !== reason)
    if (fresh.length === 0) return
    for (const { id, reason } of fresh) this.#rung.set(id, { reason, untilUs: nowUs + retryUs })
    ring({ streamIds: [...new Set(fresh.map(({ id }) => id))], dueUs: nowUs })
  }

  async #due(nowUs: number): Promise<readonly Found[]> {
    const rows = await this.#needs.state
      .selectFrom('alert_memories')
      .select(['stream_id as id', 'due_at as dueUs'])
      .where('due_at', '<=', nowUs)
      .orderBy('due_at')
      .limit(timersMax + this.#rung.size)
      .execute()
    const due: Found[] = []
    for (const { id, dueUs } of rows) {
      const laterUs = this.#laterThan(nowUs, id)
      if (laterUs === undefined) due.push({ id, reason: `due at ${dueUs}` })
      else await this.#putOff(id, dueUs, laterUs)
    }
    return due
  }

  /** Streams with a mute that has ended: by the wall clock, wherever that has been in between. */
  async #muted(wallUs: number): Promise<readonly Found[]> {
    const rows = await this.#needs.state
      .selectFrom('alert_memories')
      .select(['stream_id as id', 'muted_until as untilUs'])
      .where('muted_until', '<=', wallUs)
      .orderBy('muted_until')
      .limit(timersMax + this.#rung.size)
      .execute()
    return rows.map(({ id, untilUs }) => ({ id, reason: `muted until ${untilUs}` }))
  }

  /** Streams with a version whose rules have not begun: its first entry lets them. */
  async #behind(): Promise<readonly Found[]> {
    const rows = await this.#needs.state
      .selectFrom('alert_memories')
      .select(['stream_id as id', 'newest_version as version'])
      .whereRef('newest_version', '>', 'version')
      .limit(timersMax + this.#rung.size)
      .execute()
    return rows.map(({ id, version }) => ({ id, reason: `version ${version}` }))
  }

  /** Readings put silence off without a row being written: when a timer really runs out, as far as is known. */
  #laterThan(nowUs: number, id: string): number | undefined {
    const dueUs = this.#needs.watches.dueUsAtHand(id)
    return dueUs !== undefined && dueUs > nowUs ? dueUs : undefined
  }

  async #putOff(id: string, fromUs: number | null, toUs: number): Promise<void> {
    await this.#needs.state
      .updateTable('alert_memories')
      .set({ due_at: toUs })
      .where('stream_id', '=', id)
      // Unless it was decided anew meanwhile.
      .where('due_at', '=', fromUs)
      .execute()
  }
}
