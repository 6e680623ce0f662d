import type { Operations } from '../../../../clients/typescript/call.ts'
import { api } from '../../api/client.ts'
import { nextCursorIn } from '../../api/next-page.ts'
import { useResource } from '../../api/resource.ts'
import { signOut } from '../../api/session.ts'
import { Action } from '../../components/action.tsx'
import { Badge } from '../../components/badge.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Empty, Loaded } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useQuery } from '../../routing/query.ts'

type Session = Operations['listConsoleSessions']['answer'][number]

/** Browsers that are signed in, each of which can be signed out from here. */
export function Sessions() {
  const query = useQuery()
  const cursor = query.get('cursor') || undefined
  const sessions = useResource(
    async (signal) => {
      const { answer, headers } = await api.callRaw('listConsoleSessions', {
        query: { cursor },
        signal,
      })
      return { sessions: answer, next: nextCursorIn(headers) }
    },
    [cursor],
  )
  return (
    <Page title="Sessions">
      <div class="stack">
        <p class="soft">
          Each browser that is signed in has a session. It ends after 12 hours without use, after 7
          days at most, and with its key.
        </p>
        <Loaded
          of={sessions}
          isEmpty={(page) => page.sessions.length === 0}
          empty={<Empty title="No further session">{null}</Empty>}
        >
          {(page) => (
            <>
              <SessionTable sessions={page.sessions} onDone={() => sessions.reload()} />
              <Pager
                first={cursor === undefined ? undefined : query.linkTo({ cursor: undefined })}
                next={page.next === undefined ? undefined : query.linkTo({ cursor: page.next })}
              />
            </>
          )}
        </Loaded>
      </div>
    </Page>
  )
}

interface SessionTableProps {
  readonly sessions: readonly Session[]
  readonly onDone: () => void
}

function SessionTable({ sessions, onDone }: SessionTableProps) {
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">Sessions</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">From</th>
            <th scope="col">Begun</th>
            <th scope="col">Last used</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} onDone={onDone} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function SessionRow({
  session,
  onDone,
}: {
  readonly session: Session
  readonly onDone: () => void
}) {
  const { id, keyName, apiKeyId, address, createdAt, lastUsedAt, current } = session
  const end = async () => {
    if (current) return await signOut()
    await api.call('endConsoleSession', { path: { consoleSessionId: id } })
    return onDone()
  }
  return (
    <tr data-row>
      <td class="title">
        <span>
          <bdi>{keyName === '' ? apiKeyId : keyName}</bdi>{' '}
          {current && <Badge tone="good">this one</Badge>}
        </span>
      </td>
      <td data-label="From">
        <span class="mono">{address}</span>
      </td>
      <td data-label="Begun">
        <Time at={createdAt} />
      </td>
      <td data-label="Last used">
        <Time at={lastUsedAt} as="ago" />
      </td>
      <td data-label="What to do">
        <Action run={end}>
          {current ? 'Sign out' : 'End it'}
          <span class="visually-hidden"> the session from {address}</span>
        </Action>
      </td>
    </tr>
  )
}
