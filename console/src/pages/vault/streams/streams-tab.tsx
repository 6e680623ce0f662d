import type { Operations } from '../../../../../clients/typescript/call.ts'
import { api } from '../../../api/client.ts'
import { nextCursorIn } from '../../../api/next-page.ts'
import { useResource } from '../../../api/resource.ts'
import { NameLink } from '../../../components/name-link.tsx'
import { Pager } from '../../../components/pager.tsx'
import { Loaded } from '../../../components/states.tsx'
import { StreamState } from '../../../components/stream-state.tsx'
import { Time } from '../../../components/time.tsx'
import { count, rate } from '../../../formats/numbers.ts'
import { paths, withQuery } from '../../../routing/paths.ts'
import { useQuery } from '../../../routing/query.ts'
import { NoStreams } from '../no-streams.tsx'
import type { TabProps } from '../shown-vault.ts'

type ListedStream = Operations['listStreams']['answer'][number]

const pageSize = 100
const refreshMs = 10_000

/** The data streams of the vault, and how they are doing. */
export function StreamsTab({ vault: { id } }: TabProps) {
  const query = useQuery()
  const cursor = query.get('cursor') || undefined
  const asked = { vaultId: id, include: 'health', limit: pageSize, cursor } as const
  const page = useResource(
    async (signal) => {
      const { answer, headers } = await api.callRaw('listStreams', { query: asked, signal })
      return { streams: answer, next: nextCursorIn(headers), total: headers.get('x-total-count') }
    },
    [asked],
    { everyMs: refreshMs },
  )
  return (
    <Loaded
      of={page}
      lines={8}
      isEmpty={({ streams }) => streams.length === 0}
      empty={<NoStreams isFirstPage={cursor === undefined} />}
    >
      {({ streams, next, total }) => (
        <div class="stack">
          <p class="row soft">
            {total !== null && <span>{count(Number(total))} streams</span>}
            <a href={withQuery(paths.streams, { vault: id })}>
              Find, sort and change them in the list of streams
            </a>
          </p>
          <Table streams={streams} />
          <Pager
            first={cursor === undefined ? undefined : query.linkTo({ cursor: undefined })}
            next={next === undefined ? undefined : query.linkTo({ cursor: next })}
          />
        </div>
      )}
    </Loaded>
  )
}

function Table({ streams }: { readonly streams: readonly ListedStream[] }) {
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">Streams of the vault</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Last reading</th>
            <th scope="col" class="number">
              Rate
            </th>
            <th scope="col" class="number">
              Quarantine
            </th>
            <th scope="col" class="number">
              Firing alerts
            </th>
          </tr>
        </thead>
        <tbody>
          {streams.map((stream) => (
            <Row key={stream.streamId} stream={stream} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ stream }: { readonly stream: ListedStream }) {
  const { streamId, name, status, lastReadingAt, receivedPerSecond = 0 } = stream
  const { quarantined = 0, firing } = stream
  return (
    <tr data-row>
      <td class="title">
        <NameLink href={paths.stream(streamId)} name={name} />
      </td>
      <td data-label="State">
        <StreamState state={status} />
      </td>
      <td data-label="Last reading">
        <Time at={lastReadingAt} as="ago" />
      </td>
      <td data-label="Rate" class="number">
        {rate(receivedPerSecond)}/s
      </td>
      <td data-label="Quarantine" class="number">
        {quarantined === 0 ? (
          <span class="soft">0</span>
        ) : (
          <a href={paths.stream(streamId, 'quarantine')}>{count(quarantined)}</a>
        )}
      </td>
      <td data-label="Firing alerts" class="number">
        {(firing?.alerts ?? 0) === 0 ? (
          <span class="soft">0</span>
        ) : (
          <a href={withQuery(paths.alerts, { stream: streamId })}>{count(firing?.alerts ?? 0)}</a>
        )}
      </td>
    </tr>
  )
}
