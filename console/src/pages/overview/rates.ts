import type { Operations } from '../../../../clients/typescript/call.ts'

export type OverviewFacts = Operations['readOverview']['answer']

/** What became of readings, in the order in which it is drawn. */
export const rateNames = ['received', 'stored', 'quarantined'] as const

export type RateName = (typeof rateNames)[number]

export type Rates = Readonly<Record<RateName, readonly (number | null)[]>>

/** Readings a second, minute by minute. The minute that is under way would look like a fall: it is left out. */
export function ratesOf({ perMinute }: Pick<OverviewFacts, 'perMinute'>): Rates {
  return {
    received: perSecond(perMinute.received),
    stored: perSecond(perMinute.stored),
    quarantined: perSecond(perMinute.quarantined),
  }
}

function perSecond(counts: readonly (number | null)[]): readonly (number | null)[] {
  return counts.slice(0, -1).map((count) => (count === null ? null : count / 60))
}

/** When the minute of an index begins. */
export function minuteAt(startMs: number, index: number): number {
  return startMs + index * 60_000
}
