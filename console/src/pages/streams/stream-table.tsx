import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useQuery } from '../../routing/query.ts'
import type { StreamsPage } from './stream-page.ts'
import { StreamRow } from './stream-row.tsx'
import type { ChosenStreams } from './use-chosen.ts'

export interface StreamTableProps {
  readonly page: StreamsPage
  readonly vaultNames: ReadonlyMap<string, string>
  /** Undefined where nothing can be done with what is chosen. */
  readonly chosen: ChosenStreams | undefined
}

/** A page of streams. */
export function StreamTable({ page: { streams }, vaultNames, chosen }: StreamTableProps) {
  return (
    <div class="table-wrap">
      <table class="data cards streams-table">
        <caption class="visually-hidden">Streams</caption>
        <thead>
          <tr>
            {chosen && (
              <th scope="col" class="streams-choice">
                <PageChoice
                  count={streams.filter(({ streamId }) => chosen.all.has(streamId)).length}
                  of={streams.length}
                  onToggle={chosen.togglePage}
                />
              </th>
            )}
            <SortedHead by="name">Name</SortedHead>
            <th scope="col">State</th>
            <SortedHead by="-lastReading">Last reading</SortedHead>
            <SortedHead by="-rate" isNumber>
              Rate
            </SortedHead>
            <th scope="col">Two hours</th>
            <SortedHead by="-quarantined" isNumber>
              Quarantine
            </SortedHead>
            <th scope="col">Alerts</th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody>
          {streams.map((stream) => (
            <StreamRow
              key={stream.streamId}
              stream={stream}
              vaultName={vaultNames.get(stream.vaultId)}
              isChosen={chosen?.all.has(stream.streamId) ?? false}
              onToggle={chosen?.toggle}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface PageChoiceProps {
  readonly count: number
  readonly of: number
  readonly onToggle: () => void
}

function PageChoice({ count, of, onToggle }: PageChoiceProps) {
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current) box.current.indeterminate = count > 0 && count < of
  }, [count, of])
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label="Choose all of the page"
      checked={of > 0 && count === of}
      onClick={onToggle}
    />
  )
}

interface SortedHeadProps {
  /** The order that the first press leads to; the next one turns it round. */
  readonly by: string
  readonly isNumber?: boolean
  readonly children: ComponentChildren
}

function SortedHead({ by, isNumber = false, children }: SortedHeadProps) {
  const query = useQuery()
  const sort = query.get('sort')
  const turned = by.startsWith('-') ? by.slice(1) : `-${by}`
  const isSorted = sort === by || sort === turned
  const order = !isSorted ? undefined : sort.startsWith('-') ? 'descending' : 'ascending'
  const to = {
    sort: sort === by ? turned : by,
    cursor: undefined,
    before: undefined,
    page: undefined,
  }
  return (
    <th scope="col" class={isNumber ? 'number' : ''} aria-sort={order}>
      <a class="streams-sort" href={query.linkTo(to)}>
        {children}
        <span aria-hidden="true">
          {order === undefined ? '' : order === 'ascending' ? ' ↑' : ' ↓'}
        </span>
      </a>
    </th>
  )
}
