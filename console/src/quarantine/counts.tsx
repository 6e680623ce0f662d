import { count } from '../formats/numbers.ts'
import type { QueryState } from '../routing/query.ts'
import { type EntryFilter, groupsOf, type Summary, streamsOf } from './entries.ts'
import { reasonWords } from './reasons.ts'

export interface CountsProps {
  readonly summary: Summary
  readonly filter: EntryFilter
  readonly query: QueryState
  readonly stream: { readonly streamId: string } | undefined
}

/** Streams that are named: who has more finds the others by their own pages. */
const streamsMax = 100

/** How many there are, by stream and reason; each leads to its entries. */
export function Counts({ summary, filter, query, stream }: CountsProps) {
  const groups = groupsOf(summary, { streamId: stream?.streamId ?? '', reason: '' })
  const streams = streamsOf(groups)
  const shown = streams.slice(0, streamsMax)
  return (
    <nav class="quarantine-counts" aria-label="Refused readings by stream and reason">
      <ul>
        {stream === undefined && (
          <li>
            <CountLink
              query={query}
              to={{ stream: undefined, reason: undefined }}
              isHere={filter.streamId === '' && filter.reason === ''}
              name="All streams"
              entries={summary.entries}
            />
          </li>
        )}
        {shown.map(({ streamId, name, entries }) => (
          <li key={streamId}>
            <CountLink
              query={query}
              to={{ stream: stream === undefined ? streamId : undefined, reason: undefined }}
              isHere={filter.streamId === streamId && filter.reason === ''}
              name={stream === undefined ? name : 'All reasons'}
              entries={entries}
            />
            <ul>
              {groups
                .filter((group) => group.streamId === streamId)
                .map((group) => (
                  <li key={group.reason}>
                    <CountLink
                      query={query}
                      to={{
                        stream: stream === undefined ? streamId : undefined,
                        reason: group.reason,
                      }}
                      isHere={filter.streamId === streamId && filter.reason === group.reason}
                      name={reasonWords(group.reason).name}
                      entries={group.entries}
                    />
                  </li>
                ))}
            </ul>
          </li>
        ))}
      </ul>
      {(streams.length > shown.length || summary.groupCount > summary.groups.length) && (
        <p class="soft">The streams with the most are named.</p>
      )}
    </nav>
  )
}

interface CountLinkProps {
  readonly query: QueryState
  readonly to: { readonly stream: string | undefined; readonly reason: string | undefined }
  readonly isHere: boolean
  readonly name: string
  readonly entries: number
}

function CountLink({ query, to, isHere, name, entries }: CountLinkProps) {
  return (
    <a
      href={query.linkTo({ ...to, cursor: undefined, entry: undefined })}
      aria-current={isHere ? 'true' : undefined}
    >
      <bdi>{name}</bdi>
      <span class="number">{count(entries)}</span>
    </a>
  )
}
