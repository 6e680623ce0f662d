/**
 * What becomes of what a client of MQTT does on topics that are none of its own. `refuse`: its will and its
 * subscriptions are refused, and too many messages end its connection. `ignore`: all of it is taken and comes to
 * nothing, because a bought device cannot be told to leave it (decisions.md#topics-that-are-not-the-clients).
 */
export const foreignTopics = ['refuse', 'ignore'] as const

export type ForeignTopics = (typeof foreignTopics)[number]

/** What a column says: nothing is what has always been. */
export function foreignTopicsIn(column: string | null): ForeignTopics {
  return column === 'ignore' ? 'ignore' : 'refuse'
}

/** The column that says it. */
export function foreignTopicsColumn(setting: ForeignTopics): string | null {
  return setting === 'ignore' ? setting : null
}
