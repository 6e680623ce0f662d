import { api } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { Loaded } from '../components/states.tsx'
import type { QueryState } from '../routing/query.ts'
import { type Entry, keyOf } from './entries.ts'
import { EntryDetail } from './entry-detail.tsx'

export interface OtherEntryProps {
  /** Those of the page. */
  readonly entries: readonly Entry[]
  readonly query: QueryState
}

/** The entry of the address, where it is on another page than the one that is shown. */
export function OtherEntry({ entries, query }: OtherEntryProps) {
  const key = query.get('entry')
  if (key === '' || entries.some((entry) => keyOf(entry) === key)) return null
  return <OneEntry key={key} name={key} query={query} />
}

function OneEntry({ name, query }: { readonly name: string; readonly query: QueryState }) {
  const [streamId = '', id = ''] = name.split('/')
  const entry = useResource(
    (signal) =>
      api.call('readQuarantineEntry', { path: { streamId, entryId: Number(id) }, signal }),
    [name],
  )
  return (
    <section class="card" aria-label={`Entry ${id}`}>
      <div class="row">
        <h2>Entry {id}</h2>
        <span class="spring" />
        <a class="button" href={query.linkTo({ entry: undefined })}>
          Close
        </a>
      </div>
      <Loaded of={entry}>
        {(found) => <EntryDetail entry={{ ...found, streamId, streamName: '' }} />}
      </Loaded>
    </section>
  )
}
