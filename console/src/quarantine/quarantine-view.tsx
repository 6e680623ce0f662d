import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useResource } from '../api/resource.ts'
import { may } from '../api/session.ts'
import { NeedsPermission } from '../components/needs-permission.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { count } from '../formats/numbers.ts'
import { type QueryState, useQuery } from '../routing/query.ts'
import { Counts } from './counts.tsx'
import { Deeds } from './deeds.tsx'
import {
  countOf,
  type Entry,
  type EntryFilter,
  groupsOf,
  keyOf,
  listEntries,
  type Summary,
  summarize,
} from './entries.ts'
import { EntryList } from './entry-list.tsx'
import { Filters, startOf } from './filters.tsx'
import { OtherEntry } from './other-entry.tsx'
import './quarantine.css'
import type { ChosenEntry } from './targets.ts'

export interface QuarantineViewProps {
  /** Of this stream alone; undefined: of all streams. */
  readonly stream?: { readonly streamId: string; readonly name: string } | undefined
}

/** How often it is counted anew, while the page is seen. */
const countEveryMs = 10_000

/** Entries that can be chosen one by one, over all pages. */
const chosenMax = 10_000

/** Refused readings: how many and why, the newest first, and what can be done with them. */
export function QuarantineView({ stream }: QuarantineViewProps) {
  const scopes = ['streams:read', 'data:read']
  if (!may(...scopes)) return <NeedsPermission scopes={scopes} what="refused readings" />
  return <Refused stream={stream} />
}

function Refused({ stream }: { readonly stream: QuarantineViewProps['stream'] }) {
  const query = useQuery()
  const filter = useFilter(query, stream?.streamId)
  const cursor = query.get('cursor')
  const summary = useResource((signal) => summarize(filter.streamId, signal), [filter.streamId], {
    everyMs: countEveryMs,
  })
  const entries = useResource((signal) => listEntries(filter, cursor, signal), [filter, cursor])
  const total = summary.data && countOf(summary.data, filter)
  useNewest(summary.data?.entries, () => cursor === '' && entries.reload())
  const { chosen, isAll, setAll, choose, chooseNone } = useChoice()
  const again = () => {
    chooseNone()
    summary.reload()
    if (cursor === '') entries.reload()
    else query.set({ cursor: undefined })
  }
  return (
    <div class="quarantine">
      <Loaded of={summary} lines={4}>
        {(counted) => <Counts summary={counted} filter={filter} query={query} stream={stream} />}
      </Loaded>
      <div class="stack quarantine-main">
        <Filters query={query} reasons={reasonsIn(summary.data, stream)} />
        <Deeds
          filter={filter}
          summary={summary.data}
          chosen={chosen}
          isAll={isAll}
          onAll={setAll}
          onNone={chooseNone}
          onDone={again}
        />
        <Loaded
          of={entries}
          lines={8}
          isEmpty={(page) => page.entries.length === 0}
          empty={<NoEntries filter={filter} isOne={stream !== undefined} query={query} />}
        >
          {(page) => (
            <>
              <OtherEntry entries={page.entries} query={query} />
              <EntryList
                entries={page.entries}
                query={query}
                isOne={stream !== undefined}
                isChosen={(entry) => isAll || chosen.has(keyOf(entry))}
                onChoose={choose}
              />
              <Pages query={query} next={page.nextCursor} total={total} />
            </>
          )}
        </Loaded>
      </div>
    </div>
  )
}

/** Asks for the entries anew when their number is another one: the list would say less than what is counted. */
function useNewest(entries: number | undefined, reload: () => void): void {
  const before = useRef(entries)
  useEffect(() => {
    if (before.current !== undefined && entries !== before.current) reload()
    before.current = entries ?? before.current
  }, [entries])
}

/** Entries that are chosen: one by one, or all that meet the filter. */
function useChoice() {
  const [chosen, setChosen] = useState<ReadonlyMap<string, ChosenEntry>>(new Map())
  const [isAll, setAll] = useState(false)
  const choose = (some: readonly Entry[], isChosen: boolean) => {
    setAll(false)
    setChosen((before) => withChoice(before, some, isChosen))
  }
  const chooseNone = () => {
    setAll(false)
    setChosen(new Map())
  }
  return { chosen, isAll, setAll, choose, chooseNone }
}

function reasonsIn(summary: Summary | undefined, stream: QuarantineViewProps['stream']) {
  if (summary === undefined) return []
  return stream ? groupsOf(summary, { streamId: stream.streamId, reason: '' }) : summary.reasons
}

/** The filter of the address; the beginning of a span is that of the moment when it was chosen. */
function useFilter(query: QueryState, streamId: string | undefined): EntryFilter {
  const [chosenStream, reason, within] = [
    query.get('stream'),
    query.get('reason'),
    query.get('within'),
  ]
  return useMemo(
    () => ({ streamId: streamId ?? chosenStream, reason, start: startOf(within) }),
    [streamId, chosenStream, reason, within],
  )
}

function withChoice(
  before: ReadonlyMap<string, ChosenEntry>,
  some: readonly Entry[],
  isChosen: boolean,
): ReadonlyMap<string, ChosenEntry> {
  const chosen = new Map(before)
  for (const entry of some) {
    const { streamId, streamName, id } = entry
    if (!isChosen) chosen.delete(keyOf(entry))
    else if (chosen.size < chosenMax) chosen.set(keyOf(entry), { streamId, streamName, id })
  }
  return chosen
}

interface NoEntriesProps {
  readonly filter: EntryFilter
  readonly isOne: boolean
  readonly query: QueryState
}

function NoEntries({ filter, isOne, query }: NoEntriesProps) {
  const isFiltered =
    filter.reason !== '' || filter.start !== '' || (!isOne && filter.streamId !== '')
  if (isFiltered) {
    return (
      <Empty title="Nothing meets the filter">
        <p>
          <a
            href={query.linkTo({
              stream: undefined,
              reason: undefined,
              within: undefined,
              cursor: undefined,
            })}
          >
            Show all refused readings
          </a>
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="Nothing is refused">
      <p>
        A reading that does not fit the definition of its stream is kept here as it came, with the
        reason, until it is judged again or deleted. No reading is here now.
      </p>
    </Empty>
  )
}

interface PagesProps {
  readonly query: QueryState
  readonly next: string | null
  readonly total: number | undefined
}

function Pages({ query, next, total }: PagesProps) {
  const isFirst = query.get('cursor') === ''
  if (isFirst && next === null) return null
  return (
    <nav class="row" aria-label="Pages of the list">
      {!isFirst && (
        <a class="button" href={query.linkTo({ cursor: undefined, entry: undefined })}>
          Newest
        </a>
      )}
      {next !== null && (
        <a class="button" href={query.linkTo({ cursor: next, entry: undefined })}>
          Older
        </a>
      )}
      {total !== undefined && <span class="soft">{count(total)} in all</span>}
    </nav>
  )
}
