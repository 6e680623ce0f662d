import type { Operations } from '../../../../clients/typescript/call.ts'
import { api } from '../../api/client.ts'
import { may } from '../../api/session.ts'
import { Action } from '../../components/action.tsx'
import { Badge, type Tone } from '../../components/badge.tsx'
import { NameLink } from '../../components/name-link.tsx'
import { Time } from '../../components/time.tsx'
import { placeOfEntry } from '../../routing/entry-place.ts'
import { paths } from '../../routing/paths.ts'

export type InboxPage = Operations['listInbox']['answer']
type Entry = InboxPage['content'][number]

export interface InboxTableProps {
  readonly entries: readonly Entry[]
  readonly onDone: () => void
}

export function InboxTable({ entries, onDone }: InboxTableProps) {
  const canAct = may('notifications:write')
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">Entries of the inbox, newest first</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Kind</th>
            <th scope="col">When</th>
            <th scope="col">About</th>
            {canAct && <th scope="col">What to do</th>}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <EntryRow key={entry.id} entry={entry} canAct={canAct} onDone={onDone} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface EntryRowProps {
  readonly entry: Entry
  readonly canAct: boolean
  readonly onDone: () => void
}

function EntryRow({ entry, canAct, onDone }: EntryRowProps) {
  const { id, title, message, created_at: at, read } = entry
  const href = placeOfEntry(entry)
  return (
    <tr data-row>
      <td class="title">
        <span>
          {!read && <Badge tone="quiet">unread</Badge>}{' '}
          <NameLink href={paths.record('inbox', id)} name={message === '' ? title : message} />
        </span>
      </td>
      <td data-label="Kind">
        <Badge tone={toneOf(entry)}>
          {entry.severity ?? entry.type.toLowerCase().replace('_', ' ')}
        </Badge>
      </td>
      <td data-label="When">
        <Time at={at} as="ago" />
      </td>
      <td data-label="About">
        {href === undefined ? entry.resource_type : <a href={href}>{entry.resource_type}</a>}
      </td>
      {canAct && (
        <td data-label="What to do">
          <EntryDeeds entry={entry} onDone={onDone} />
        </td>
      )}
    </tr>
  )
}

function EntryDeeds({ entry, onDone }: { readonly entry: Entry; readonly onDone: () => void }) {
  const { id, title, read, archived } = entry
  const markRead = async () => {
    await api.call('markInboxEntryRead', { path: { notificationId: id } })
    onDone()
  }
  const archive = async () => {
    await api.call('archiveInboxEntries', { body: { ids: [id] } })
    onDone()
  }
  return (
    <span class="row">
      {!read && (
        <Action run={markRead}>
          Mark as read<span class="visually-hidden">: {title}</span>
        </Action>
      )}
      {read && !archived && (
        <Action run={archive}>
          Archive<span class="visually-hidden">: {title}</span>
        </Action>
      )}
    </span>
  )
}

function toneOf({ type, severity }: Entry): Tone {
  if (severity === 'critical' || type === 'ERROR') return 'bad'
  if (severity === 'warning' || type === 'WARNING' || type === 'ACTION_REQUIRED') return 'warn'
  return type === 'SUCCESS' ? 'good' : 'quiet'
}
