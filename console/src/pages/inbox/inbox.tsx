import { useEffect } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { countUnread, unreadCount } from '../../api/inbox-count.ts'
import { type Resource, useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { Action } from '../../components/action.tsx'
import { ChoiceFilter } from '../../components/choice-filter.tsx'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Empty, Loaded } from '../../components/states.tsx'
import { paths } from '../../routing/paths.ts'
import { useQuery } from '../../routing/query.ts'
import { type InboxPage, InboxTable } from './inbox-table.tsx'

const pageSize = 50

const choices = [
  ['', 'all'],
  ['unread', 'unread'],
] as const

const severities = [
  ['', 'any'],
  ['critical', 'critical'],
  ['warning', 'warning'],
  ['info', 'info'],
] as const

/** What the service has told its user, newest first. */
export function Inbox() {
  if (!may('notifications:read')) {
    return (
      <Page title="Inbox">
        <NeedsPermission scopes={['notifications:read']} what="the inbox" />
      </Page>
    )
  }
  return <Entries />
}

function Entries() {
  const query = useQuery()
  const asked = {
    page: Math.max(1, Number.parseInt(query.get('page') || '1', 10) || 1),
    page_size: pageSize,
    unread_only: query.get('show') === 'unread',
    severity: severityOf(query.get('severity')),
  }
  const entries = useResource((signal) => api.call('listInbox', { query: asked, signal }), [asked])
  useReloadedByCount(entries)
  const changed = () => {
    entries.reload()
    void countUnread().catch(() => undefined)
  }
  return (
    <Page title="Inbox">
      <div class="stack">
        <div class="row" role="group" aria-label="Filters">
          <ChoiceFilter label="Show" name="show" choices={choices} />
          <ChoiceFilter label="Severity of alerts" name="severity" choices={severities} />
          <WholeInbox onDone={changed} />
        </div>
        <Loaded
          of={entries}
          lines={10}
          isEmpty={({ content }) => content.length === 0}
          empty={<NoEntries isFiltered={asked.unread_only || asked.severity !== undefined} />}
        >
          {(shown) => (
            <>
              <InboxTable entries={shown.content} onDone={changed} />
              <Pager
                before={asked.page > 1 ? query.linkTo({ page: String(asked.page - 1) }) : undefined}
                next={
                  asked.page < shown.total_pages
                    ? query.linkTo({ page: String(asked.page + 1) })
                    : undefined
                }
                where={`page ${asked.page} of ${shown.total_pages}`}
              />
            </>
          )}
        </Loaded>
      </div>
    </Page>
  )
}

/** New entries come by the stream that counts them. */
function useReloadedByCount(entries: Resource<InboxPage>): void {
  const unread = unreadCount.value
  const shown = entries.data?.unread_count
  useEffect(() => {
    if (unread !== undefined && shown !== undefined && unread !== shown) entries.reload()
  }, [unread])
}

function WholeInbox({ onDone }: { readonly onDone: () => void }) {
  if (!may('notifications:write')) return null
  const mark = async () => {
    await api.call('markInboxRead')
    onDone()
  }
  const archive = async () => {
    await api.call('archiveInboxEntries', { body: { all_read: true } })
    onDone()
  }
  return (
    <>
      <Action run={mark}>Mark all as read</Action>
      <Action run={archive}>Archive what is read</Action>
    </>
  )
}

function NoEntries({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="Nothing meets the filter">
        <p>
          <a href={paths.inbox}>Show all of the inbox</a>
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="The inbox is empty">
      <p>
        You see here what happens to vaults, streams and attachments, and every alert. Which events
        appear, and how, are the preferences of the user (<code>/notifications/preferences</code>
        ).
      </p>
    </Empty>
  )
}

function severityOf(text: string): 'info' | 'warning' | 'critical' | undefined {
  return text === 'info' || text === 'warning' || text === 'critical' ? text : undefined
}
