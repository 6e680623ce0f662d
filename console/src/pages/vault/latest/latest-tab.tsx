import { useResource } from '../../../api/resource.ts'
import { NameLink } from '../../../components/name-link.tsx'
import { Pager } from '../../../components/pager.tsx'
import { Loaded } from '../../../components/states.tsx'
import { StreamState } from '../../../components/stream-state.tsx'
import { Time } from '../../../components/time.tsx'
import { valueText } from '../../../formats/values.ts'
import { paths } from '../../../routing/paths.ts'
import { useQuery } from '../../../routing/query.ts'
import { NoStreams } from '../no-streams.tsx'
import type { TabProps } from '../shown-vault.ts'
import { type LatestOfStream, type LatestValue, loadLatest } from './latest-readings.ts'

const refreshMs = 5000

/** Values of a reading that a row has room for. */
const shownMax = 8

/** What each stream of the vault has measured last. */
export function LatestTab({ vault: { id } }: TabProps) {
  const query = useQuery()
  const place = {
    streams: query.get('cursor') || undefined,
    readings: query.get('readings') || undefined,
  }
  const page = useResource((signal) => loadLatest(id, place, signal), [id, place], {
    everyMs: refreshMs,
  })
  return (
    <Loaded
      of={page}
      lines={8}
      isEmpty={({ rows }) => rows.length === 0}
      empty={<NoStreams isFirstPage={place.streams === undefined} />}
    >
      {({ rows, next }) => (
        <div class="stack">
          <Table rows={rows} />
          <Pager
            first={
              place.streams === undefined
                ? undefined
                : query.linkTo({ cursor: undefined, readings: undefined })
            }
            next={next && query.linkTo({ cursor: next.streams, readings: next.readings })}
          />
        </div>
      )}
    </Loaded>
  )
}

function Table({ rows }: { readonly rows: readonly LatestOfStream[] }) {
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">The newest reading of each stream</caption>
        <thead>
          <tr>
            <th scope="col">Stream</th>
            <th scope="col">Newest values</th>
            <th scope="col">Measured</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ stream, reading, values }) => (
            <tr key={stream.streamId} data-row>
              <td class="title">
                <NameLink href={paths.stream(stream.streamId)} name={stream.name} />
              </td>
              <td data-label="Newest values">
                <Values values={values} />
              </td>
              <td data-label="Measured">
                <Time at={reading?.timestamp} as="ago" none="no reading yet" />
              </td>
              <td data-label="State">
                <StreamState state={stream.status} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Values({ values }: { readonly values: readonly LatestValue[] }) {
  if (values.length === 0) return <span class="soft">none</span>
  const left = values.length - shownMax
  return (
    <dl class="vault-values">
      {values.slice(0, shownMax).map(({ name, value, unit }) => (
        <div key={name}>
          <dt>
            <bdi>{name}</bdi>
          </dt>
          <dd>
            <bdi>{valueText(value)}</bdi>
            {unit !== undefined && <span class="soft"> {unit}</span>}
          </dd>
        </div>
      ))}
      {left > 0 && (
        <div>
          <dt class="soft">and {left} more</dt>
          <dd />
        </div>
      )}
    </dl>
  )
}
