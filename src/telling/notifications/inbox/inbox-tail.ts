import type { UserId } from '../../../core/ids.ts'
import type { TailStep } from '../../../reading/live/tail.ts'
import type { Told } from '../told.ts'
import { entryBody } from './inbox-entry.ts'
import type { InboxStore } from './inbox-store.ts'

/** Entries that are read at once. */
const entriesMax = 50

/** When nobody was told anything for so long, it is said that there is nothing. */
const patienceMs = 5_000

export interface InboxTailNeeds {
  readonly inbox: Pick<InboxStore, 'after'>
  readonly told: Pick<Told, 'listen'>
}

/**
 * Follows an inbox: what it has after a position, then what comes. Positions are those of the stored
 * entries, so whoever comes back with one misses nothing.
 */
export async function* followInbox(
  { inbox, told }: InboxTailNeeds,
  ownerId: UserId,
  from: number,
): AsyncGenerator<TailStep, never> {
  let position = from
  for (;;) {
    // Listening begins before it is looked, or what came in between would have to wait for the next.
    using news = newsOf(told, ownerId)
    const entries = await inbox.after(ownerId, position, entriesMax)
    if (entries.length === 0) await news.arrival
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

/** Resolves when this user was told something, or after a while. */
function newsOf(told: Pick<Told, 'listen'>, ownerId: UserId) {
  const { promise: arrival, resolve } = Promise.withResolvers<void>()
  const patience = setTimeout(resolve, patienceMs).unref()
  const unlisten = told.listen((ownerIds) => {
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
