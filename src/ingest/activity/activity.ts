import type { Clocks } from '../../core/clock.ts'
import { monotonicMs } from '../../core/clock.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import {
  type ActivityKind,
  type Curve,
  type OwnerActivity,
  OwnerMinutes,
} from './owner-activity.ts'
import { SlotTimes } from './slot-times.ts'
import { StreamRows, slotMinutes, slotsKept } from './stream-rows.ts'

/** As of `DecayingRate`: what was received before that is not of now. */
const fadesUs = 60_000_000

/** What a round of the decider has found of one stream. */
interface DecidedOfStream {
  readonly streamId: string
  readonly received: number
  readonly lastReceivedAtUs: number
  readonly quarantine: readonly { readonly kind: string }[]
}

/** What was counted of a stream at once. */
interface Counted {
  readonly count: number
  readonly atUs: number
  /** How much of it has not faded by now: 1 for all. */
  readonly part: number
}

/** How much comes of one stream. */
export interface StreamPace {
  /** Averaged over about a minute. */
  readonly receivedPerSecond: number
  /** What was received in slots of five minutes, the oldest first; the last one is under way. */
  readonly spark: Curve
}

export interface ActivityNeeds {
  readonly clock: Clocks
  /** Whose streams these are; those that are gone are left out. */
  readonly ownersOf: (streamIds: readonly string[]) => Promise<ReadonlyMap<string, UserId>>
  /** How many readings of a stream the store has counted as stored. */
  readonly storedOf: (streamId: string) => number
  /** Called with what has kept streams from being counted. */
  readonly onFailure: (error: unknown) => void
}

/**
 * What comes in, and what becomes of it: for people to look at, in memory only, and known since the start. It is
 * counted where rounds of the consumers end, once for each stream, and never costs a reading anything.
 */
export class Activity {
  readonly #needs: ActivityNeeds
  readonly #times: SlotTimes
  readonly #rows: StreamRows
  readonly #owners = new Map<UserId, OwnerMinutes>()
  readonly #nowMs: () => number

  constructor(needs: ActivityNeeds, nowMs = monotonicMs) {
    this.#needs = needs
    this.#nowMs = nowMs
    this.#times = new SlotTimes(needs.clock)
    this.#rows = new StreamRows(this.#times.firstSlot(slotMinutes))
  }

  /** Streams that are counted. */
  get size(): number {
    return this.#rows.size
  }

  /** Owners that something is known of. */
  get owners(): number {
    return this.#owners.size
  }

  /** Counts what a round of the decider has found. */
  async noteDecided(decided: readonly DecidedOfStream[]): Promise<void> {
    // A turn closes rows, so it comes before they are looked up.
    this.#turn()
    let rows = this.#rowsOf(decided)
    if (rows.includes(undefined)) {
      await this.meet(decided.map(({ streamId }) => streamId))
      this.#turn()
      rows = this.#rowsOf(decided)
    }
    const now = this.#times.now()
    const nowMs = this.#nowMs()
    for (const [at, { received, lastReceivedAtUs, quarantine }] of decided.entries()) {
      const row = rows[at]
      if (row === undefined || received === 0) continue
      // A round is short, and a slot is long: all of it goes by the last of them.
      const atUs = this.#times.steadyUsOf(lastReceivedAtUs, now)
      if (atUs === undefined) continue
      const part = Math.exp((atUs - now.steadyUs) / fadesUs)
      this.#add(row, 'received', { count: received, atUs, part })
      this.#rows.add(row, this.#times.slotOf(atUs, slotMinutes), received)
      this.#rows.addRecent(row, received * part, nowMs)
      const refused = refusedOf(quarantine)
      if (refused > 0) this.#add(row, 'quarantined', { count: refused, atUs, part })
    }
  }

  /** Gets to know streams that are counted from now on. To be called before something of them is stored. */
  async meet(streamIds: Iterable<string>): Promise<void> {
    const unknown: string[] = []
    for (const id of streamIds) if (this.#rows.rowOf(id) === undefined) unknown.push(id)
    if (unknown.length === 0) return
    const { ownersOf, storedOf, onFailure } = this.#needs
    try {
      for (const [id, ownerId] of await ownersOf(unknown)) {
        // Both consumers may have asked meanwhile.
        if (this.#rows.rowOf(id) !== undefined) continue
        const owner = this.#ownerOf(ownerId)
        this.#rows.open(id, { owner, stored: storedOf(id), nowMs: this.#nowMs() })
      }
    } catch (error) {
      // A reading is not held up for being counted.
      onFailure(error)
    }
  }

  /** Counts what the store has taken of streams since it was looked at. */
  noteStored(streamIds: Iterable<string>): void {
    this.#turn()
    const atUs = this.#times.nowUs()
    for (const id of streamIds) {
      const row = this.#rows.rowOf(id)
      if (row === undefined) continue
      const count = this.#rows.storedSince(row, this.#needs.storedOf(id))
      if (count > 0) this.#add(row, 'stored', { count, atUs, part: 1 })
    }
  }

  /** To be told of streams that are gone. */
  forgetStreams(streamIds: readonly string[]): void {
    for (const id of streamIds) this.#rows.close(id)
  }

  /** How much comes of some streams. */
  of(streamIds: readonly StreamId[]): ReadonlyMap<StreamId, StreamPace> {
    this.#turn()
    const slot = this.#times.slotOf(this.#times.nowUs(), slotMinutes)
    const unknown = this.#times.firstSlot(slotMinutes) - (slot - slotsKept + 1)
    return new Map(streamIds.map((id) => [id, this.#paceOf(id, unknown)]))
  }

  /** The streams of an owner that most is received of now, as far as anything is: readings per second, the most first. */
  busiest(ownerId: UserId, limit: number): ReadonlyMap<StreamId, number> {
    const owner = this.#owners.get(ownerId)
    if (owner === undefined) return new Map()
    const nowMs = this.#nowMs()
    const paces = Array.from(
      this.#rows.of(owner),
      ([id, row]) => [id as StreamId, this.#rows.perSecond(row, nowMs)] as const,
    )
    return new Map(
      paces
        .filter(([, perSecond]) => perSecond > 0)
        .toSorted(([, one], [, other]) => other - one)
        .slice(0, limit),
    )
  }

  /** What has become of the readings of an owner's streams. */
  ofOwner(ownerId: UserId): OwnerActivity {
    const owner = this.#owners.get(ownerId) ?? new OwnerMinutes(this.#nowMs)
    return owner.shown(this.#times)
  }

  #rowsOf(decided: readonly DecidedOfStream[]): readonly (number | undefined)[] {
    return decided.map(({ streamId }) => this.#rows.rowOf(streamId))
  }

  #add(row: number, kind: ActivityKind, { count, atUs, part }: Counted): void {
    const minute = this.#times.slotOf(atUs, 1)
    this.#rows.ownerOf(row)?.add(kind, minute, { count, recent: count * part })
  }

  #paceOf(id: StreamId, unknown: number): StreamPace {
    const row = this.#rows.rowOf(id)
    const counts = row === undefined ? nothing : this.#rows.counts(row)
    return {
      receivedPerSecond: row === undefined ? 0 : this.#rows.perSecond(row, this.#nowMs()),
      spark: counts.map((count, index) => (index < unknown ? null : count)),
    }
  }

  #ownerOf(ownerId: UserId): OwnerMinutes {
    const known = this.#owners.get(ownerId)
    if (known) return known
    const made = new OwnerMinutes(this.#nowMs)
    this.#owners.set(ownerId, made)
    return made
  }

  /** Owners who have had nothing for an hour, and have no stream that has, are forgotten. */
  #turn(): void {
    const nowUs = this.#times.nowUs()
    const slot = this.#times.slotOf(nowUs, slotMinutes)
    if (!this.#rows.turn(slot, this.#nowMs())) return
    const minute = this.#times.slotOf(nowUs, 1)
    for (const [id, owner] of this.#owners) if (owner.isIdle(minute)) this.#owners.delete(id)
  }
}

const nothing: readonly number[] = Array.from({ length: slotsKept }, () => 0)

function refusedOf(changes: DecidedOfStream['quarantine']): number {
  let refused = 0
  for (const { kind } of changes) if (kind === 'refused') refused++
  return refused
}
