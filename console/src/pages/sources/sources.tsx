import { useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { ChoiceFilter } from '../../components/choice-filter.tsx'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Empty, Loaded } from '../../components/states.tsx'
import { TextFilter } from '../../components/text-filter.tsx'
import { paths } from '../../routing/paths.ts'
import { useQuery } from '../../routing/query.ts'
import { findSources, sourceStates } from './found-sources.ts'
import { SourceTable } from './source-table.tsx'

const refreshMs = 15_000

const types = [
  'api_pull',
  'database',
  'event_stream',
  'manufacturing',
  'building_systems',
  'iot_sensor',
  'occupancy',
]

/** Streams whose readings are fetched from somewhere, and how that goes. */
export function Sources() {
  return (
    <Page title="Sources">
      {may('streams:read') ? (
        <div class="stack">
          <div class="row" role="group" aria-label="Filters">
            <TextFilter label="Part of the name" name="q" />
            <ChoiceFilter
              label="State"
              name="state"
              choices={[['', 'any'], ...sourceStates.map(same)]}
            />
            <ChoiceFilter label="Type" name="type" choices={[['', 'any'], ...types.map(same)]} />
          </div>
          <SourcePage />
        </div>
      ) : (
        <NeedsPermission scopes={['streams:read']} what="sources" />
      )}
    </Page>
  )
}

function SourcePage() {
  const query = useQuery()
  const filter = {
    state: query.get('state'),
    type: query.get('type'),
    contains: query.get('q').trim(),
    cursor: query.get('cursor') || undefined,
  }
  const sources = useResource((signal) => findSources(filter, signal), [filter], {
    everyMs: refreshMs,
  })
  const isFiltered = filter.state !== '' || filter.type !== '' || filter.contains !== ''
  return (
    <Loaded of={sources} lines={8}>
      {({ streams, next }) => (
        <>
          {streams.length > 0 && <SourceTable streams={streams} onDone={() => sources.reload()} />}
          {streams.length === 0 && next === undefined && <NoSources isFiltered={isFiltered} />}
          {streams.length === 0 && next !== undefined && (
            <p class="notice">No source of this page meets the filter. There are more.</p>
          )}
          <Pager
            first={filter.cursor === undefined ? undefined : query.linkTo({ cursor: undefined })}
            next={next === undefined ? undefined : query.linkTo({ cursor: next })}
          />
        </>
      )}
    </Loaded>
  )
}

function NoSources({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No source meets the filter">
        <p>
          <a href={paths.sources}>Show all sources</a>
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="No source yet">
      <p>
        A source is where the service fetches readings from by itself: an API, a database, a broker,
        a controller. It is a part of the definition of a stream; streams that devices send to have
        none.
      </p>
      {may('streams:write') && (
        <p>
          <a href={paths.newStream}>Make a stream</a>, and give it a source in its definition.
        </p>
      )}
    </Empty>
  )
}

function same(value: string): readonly [string, string] {
  return [value, value.replace('_', ' ')]
}
