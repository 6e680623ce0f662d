import { Inbox } from 'lucide'
import { useEffect } from 'preact/hooks'
import { followUnread, unreadCount } from '../api/inbox-count.ts'
import { Icon } from '../components/icon.tsx'
import { count } from '../formats/numbers.ts'
import { paths } from '../routing/paths.ts'

/** How many entries of the inbox are unread, kept current. */
export function InboxBadge() {
  useEffect(followUnread, [])
  const unread = unreadCount.value ?? 0
  return (
    <a class="shell-inbox" href={paths.inbox}>
      <Icon of={Inbox} />
      <span class="visually-hidden">Inbox, </span>
      {unread > 0 && <span class="shell-unread">{unread > 999 ? '999+' : count(unread)}</span>}
      <span class="visually-hidden">{unread === 0 ? 'nothing unread' : 'unread'}</span>
    </a>
  )
}
