import { signal } from '@preact/signals'
import { api } from './client.ts'
import { FollowedStream } from './event-stream.ts'

/** Entries of the inbox that are not read; undefined until it is known. */
export const unreadCount = signal<number | undefined>(undefined)

/** What comes within this is counted once: a thousand entries at a time ask as one does. */
const togetherMs = 300

/** Asks how many are unread: after something was read here, and whenever an entry came. */
export async function countUnread(until?: AbortSignal): Promise<void> {
  const { unread_count: count } = await api.call('countUnreadInboxEntries', { signal: until })
  unreadCount.value = count
}

/** Keeps the count current until it is told to stop. One a page: each takes a connection of the browser. */
export function followUnread(): () => void {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const ask = () => {
    clearTimeout(timer)
    // What failed is told by the line of the connection, and asked again with the next entry.
    timer = setTimeout(() => void countUnread(abort.signal).catch(() => undefined), togetherMs)
  }
  const stream = new FollowedStream({
    open: (lastEventId, until) =>
      api.open('followInbox', {
        signal: until,
        ...(lastEventId !== undefined && { headers: { 'last-event-id': lastEventId } }),
      }),
    onEvents: ask,
    // Another page may have read some while this one was hidden, or the service away.
    onState: ({ is }) => {
      if (is === 'open') ask()
    },
  })
  return () => {
    clearTimeout(timer)
    abort.abort()
    stream.close()
    // Who signs in next has another inbox.
    unreadCount.value = undefined
  }
}
