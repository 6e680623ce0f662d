import { DecayingRate } from '../../core/decaying-rate.ts'
import { SlotRing } from './slot-ring.ts'
import type { SlotTimes } from './slot-times.ts'

/** Slots of an owner: the minutes of an hour. */
const minutesKept = 60

export const activities = ['received', 'stored', 'quarantined'] as const

export type ActivityKind = (typeof activities)[number]

/** A curve: what is not known, because the service was not there, is null. */
export type Curve = readonly (number | null)[]

/** What has become of the readings of all streams of an owner. */
export interface OwnerActivity {
  /** Since when it is known. */
  readonly sinceUs: number
  /** When the first minute of the curves begins; the last one is under way. */
  readonly startUs: number
  readonly perMinute: Readonly<Record<ActivityKind, Curve>>
  readonly perSecond: Readonly<Record<ActivityKind, number>>
}

/** Counts of one owner. */
export class OwnerMinutes {
  /** Streams that are counted for it. */
  streams = 0
  readonly #rings = { received: newRing(), stored: newRing(), quarantined: newRing() }
  readonly #rates: Readonly<Record<ActivityKind, DecayingRate>>

  constructor(nowMs: () => number) {
    this.#rates = {
      received: new DecayingRate(nowMs),
      stored: new DecayingRate(nowMs),
      quarantined: new DecayingRate(nowMs),
    }
  }

  /** @param recent as much of the count as has not faded by now */
  add(kind: ActivityKind, minute: number, { count, recent }: Counted): void {
    this.#rings[kind].add(minute, count)
    this.#rates[kind].add(recent)
  }

  isIdle(minute: number): boolean {
    return this.streams === 0 && activities.every((kind) => this.#rings[kind].isEmpty(minute))
  }

  shown(times: SlotTimes): OwnerActivity {
    const minute = times.slotOf(times.nowUs(), 1)
    const first = minute - minutesKept + 1
    const unknown = times.firstSlot(1) - first
    const curve = (kind: ActivityKind) =>
      this.#rings[kind].upTo(minute).map((count, index) => (index < unknown ? null : count))
    return {
      sinceUs: times.sinceUs,
      startUs: times.startUs(first, 1),
      perMinute: byKind(curve),
      perSecond: byKind((kind) => this.#rates[kind].perSecond()),
    }
  }
}

/** What was counted at once. */
export interface Counted {
  readonly count: number
  readonly recent: number
}

function newRing(): SlotRing {
  return new SlotRing(minutesKept)
}

function byKind<Value>(of: (kind: ActivityKind) => Value): Record<ActivityKind, Value> {
  return { received: of('received'), stored: of('stored'), quarantined: of('quarantined') }
}
