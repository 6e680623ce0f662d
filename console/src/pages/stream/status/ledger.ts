import type { StreamStatus } from '../head/stream-head.tsx'

type Counters = StreamStatus['counters']

export interface Term {
  readonly key: Exclude<keyof Counters, 'received'>
  readonly name: string
  readonly meaning: string
}

/** What may have become of a reading that was received: each is one of these. */
export const terms: readonly Term[] = [
  { key: 'stored', name: 'stored', meaning: 'Written to the store.' },
  { key: 'duplicates', name: 'duplicates', meaning: 'Came again with the same time and content.' },
  {
    key: 'unchanged',
    name: 'unchanged',
    meaning: 'Said nothing new, and the stream keeps only what changes.',
  },
  { key: 'filtered', name: 'filtered', meaning: 'Left out by a filter of the transform.' },
  { key: 'quarantined', name: 'quarantined', meaning: 'Refused, and kept in the quarantine.' },
  {
    key: 'discarded',
    name: 'discarded',
    meaning: 'Refused, and removed from the quarantine, or never kept there.',
  },
  { key: 'pending', name: 'pending', meaning: 'Received, and on the way to the store.' },
]

/** How many of the received ones the terms do not account for: 0, or something is wrong. */
export function missingIn(counters: Counters): number {
  return counters.received - terms.reduce((sum, { key }) => sum + counters[key], 0)
}
