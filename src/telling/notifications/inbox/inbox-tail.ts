import type { UserId } from '../../../core/ids.ts'
import type { TailStep } from '../../../reading/live/tail.ts'
import type { NotifiedOwners } from '../notified-owners.ts'
import { entryBody } from './inbox-api.ts'
import type { InboxStore } from './inbox-store.ts'

/** Entries that are read at once. */
const entriesMax = 50

/** When the user was notified of nothing for so long, it is said that there is nothing. */
const patienceMs = 5_000

export interface InboxTailNeeds {
  readonly inbox: Pick<InboxStore, 'after'>
  readonly notified: Pick<NotifiedOwners, 'listen'>
}

/**
 * Follows an inbox: what it has after a position, then what comes. Positions are those of the stored
 * entries, so whoever comes back with one misses nothing.
 */
export async function* followInbox(
  { inbox, notified }: InboxTailNeeds,
  ownerId: UserId,
  from: number,
): AsyncGenerator<TailStep, never> {
  let position = from
  for (;;) {
    // Listening begins before it is looked, or what came in between would have to wait for the next.
    using arrivals = arrivalsOf(notified, ownerId)
    const entries = await inbox.after(ownerId, position, entriesMax)
    if (entries.length === 0) await arrivals.arrival
    position = entries.at(-1)?.position ?? position
    yield {
      position: String(position),
      events: entries.map((entry) => ({
        type: 'notification',
        position: String(entry.position),
        json: JSON.stringify(entryBody(entry)),
      })),
    }
  }
}

/** Resolves when this user was notified of something, or after a while. */
function arrivalsOf(notified: Pick<NotifiedOwners, 'listen'>, ownerId: UserId) {
  const { promise: arrival, resolve } = Promise.withResolvers<void>()
  const patience = setTimeout(resolve, patienceMs).unref()
  const unlisten = notified.listen((ownerIds) => {
    if (ownerIds.includes(ownerId)) resolve()
  })
  return {
    arrival,
    [Symbol.dispose]() {
      clearTimeout(patience)
      unlisten()
    },
  }
}
