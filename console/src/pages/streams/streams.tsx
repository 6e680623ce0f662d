import { Plus } from 'lucide'
import { api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { Icon } from '../../components/icon.tsx'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Empty, Loaded } from '../../components/states.tsx'
import { count } from '../../formats/numbers.ts'
import { paths } from '../../routing/paths.ts'
import { type QueryState, useQuery } from '../../routing/query.ts'
import { BulkBar } from './bulk-bar.tsx'
import { StreamFilters } from './filters.tsx'
import {
  endsEarly,
  firstPage,
  pageAfter,
  pageBefore,
  pageSize,
  type Trail,
  trailOf,
  wordsOf,
} from './page-trail.ts'
import { askedOf, isFiltered, withoutFilters } from './stream-filter.ts'
import { loadStreams, type StreamsPage } from './stream-page.ts'
import { StreamTable } from './stream-table.tsx'
import './streams.css'
import { useChosen } from './use-chosen.ts'

/** How often the list is loaded again while it is seen. */
const refreshMs = 10_000

/** Vaults whose names the list knows. */
const vaultsMax = 1000

/** All streams: found, filtered, sorted, and many of them changed at once. */
export function StreamsList() {
  const beside = may('streams:write') && (
    <a class="button primary" href={paths.newStream}>
      <Icon of={Plus} />
      New stream
    </a>
  )
  return (
    <Page
      title="Streams"
      beside={
        <>
          {<span class="spring" />}
          {beside}
        </>
      }
    >
      {may('streams:read') ? (
        <List />
      ) : (
        <NeedsPermission scopes={['streams:read']} what="streams" />
      )}
    </Page>
  )
}

function List() {
  const query = useQuery()
  const trail = trailOf(query.query)
  const asked = askedOf(query.query, trail.cursor)
  // Until the next page is there, the one before stays, and says what it is.
  const page = useResource(
    async (signal) => ({ ...(await loadStreams(asked, signal)), trail }),
    [asked],
    { everyMs: refreshMs },
  )
  const vaults = useResource(
    async (signal) =>
      may('vaults:read')
        ? await api.call('listVaults', { query: { limit: vaultsMax }, signal })
        : [],
    [],
  )
  const chosen = useChosen(page.data?.streams ?? [])
  const names = new Map(vaults.data?.map(({ vaultId, name }) => [vaultId, name]))
  return (
    <div class="stack">
      <StreamFilters vaults={vaults} />
      <BulkBar chosen={chosen} reload={() => page.reload()} />
      <Loaded
        of={page}
        lines={12}
        isEmpty={({ streams }) => streams.length === 0}
        empty={<Nothing query={query} />}
      >
        {(loaded) => (
          <>
            <p class="soft" role="status">
              {summaryOf(loaded, loaded.trail.page)}
            </p>
            <StreamTable
              page={loaded}
              vaultNames={names}
              chosen={may('streams:write') ? chosen : undefined}
            />
            <Pages query={query} of={loaded} />
          </>
        )}
      </Loaded>
    </div>
  )
}

function summaryOf({ streams, total }: StreamsPage, page: number): string {
  const first = (page - 1) * pageSize + 1
  const shown = `${count(first)} to ${count(first + streams.length - 1)}`
  if (total === undefined) return `${shown} of very many`
  return total === streams.length && page === 1
    ? `${count(total)} streams`
    : `${shown} of ${count(total)} streams`
}

interface PagesProps {
  readonly query: QueryState
  readonly of: StreamsPage & { readonly trail: Trail }
}

function Pages({ query, of: { next, total, trail } }: PagesProps) {
  const before = pageBefore(trail)
  const pages = total === undefined ? '' : ` of ${count(Math.ceil(total / pageSize))}`
  return (
    <>
      {endsEarly(trail.page, next, total) && (
        <p>
          In this order the first {count(trail.page * pageSize)} are listed. Find the others by a
          filter, or <a href={query.linkTo({ ...wordsOf(firstPage), sort: 'name' })}>by name</a>.
        </p>
      )}
      <Pager
        first={trail.page > 1 ? query.linkTo(wordsOf(firstPage)) : undefined}
        before={before && query.linkTo(wordsOf(before))}
        next={next === undefined ? undefined : query.linkTo(wordsOf(pageAfter(trail, next)))}
        where={`page ${count(trail.page)}${pages}`}
      />
    </>
  )
}

function Nothing({ query }: { readonly query: QueryState }) {
  if (trailOf(query.query).page > 1) {
    return (
      <Empty title="Nothing on this page any more">
        <p>
          Streams were deleted meanwhile.{' '}
          <a href={query.linkTo(wordsOf(firstPage))}>Go to the first page</a>
        </p>
      </Empty>
    )
  }
  if (isFiltered(query.query)) {
    return (
      <Empty title="No stream meets this filter">
        <p>
          There may be others.{' '}
          <a href={query.linkTo(withoutFilters(query.query))}>Show all streams</a>
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="No streams yet">
      <p>
        A stream takes the readings of a device or another system, checks them, keeps them, and
        watches over them.
      </p>
      {may('streams:write') ? (
        <div class="row">
          <a class="button primary" href={paths.newStream}>
            Make the first one from a sample
          </a>
        </div>
      ) : (
        <p class="soft">A key with streams:write can make one.</p>
      )}
    </Empty>
  )
}
