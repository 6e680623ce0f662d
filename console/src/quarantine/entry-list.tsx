import { NameLink } from '../components/name-link.tsx'
import { Time } from '../components/time.tsx'
import { paths } from '../routing/paths.ts'
import type { QueryState } from '../routing/query.ts'
import { type Entry, keyOf } from './entries.ts'
import { EntryDetail } from './entry-detail.tsx'
import { bytesOf } from './payload.ts'
import { reasonWords } from './reasons.ts'
import { visibleParts } from './visible-text.ts'

export interface EntryListProps {
  readonly entries: readonly Entry[]
  readonly query: QueryState
  /** Of one stream: its name is above them already. */
  readonly isOne: boolean
  readonly isChosen: (entry: Entry) => boolean
  readonly onChoose: (entries: readonly Entry[], isChosen: boolean) => void
}

/** Entries of a page; the one that is looked at opens. */
export function EntryList({ entries, query, isOne, isChosen, onChoose }: EntryListProps) {
  const columns = isOne
    ? ['Received', 'Reason', 'Bytes']
    : ['Received', 'Stream', 'Reason', 'Bytes']
  return (
    <div class="table-wrap">
      <table class="data cards quarantine-entries">
        <caption class="visually-hidden">Refused readings, newest first</caption>
        <thead>
          <tr>
            <th scope="col">
              <input
                type="checkbox"
                aria-label="Choose all of this page"
                checked={entries.every(isChosen)}
                onChange={(event) => onChoose(entries, event.currentTarget.checked)}
              />
            </th>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row
              key={keyOf(entry)}
              entry={entry}
              query={query}
              isOne={isOne}
              isChosen={isChosen(entry)}
              onChoose={(chosen) => onChoose([entry], chosen)}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly entry: Entry
  readonly query: QueryState
  readonly isOne: boolean
  readonly isChosen: boolean
  readonly onChoose: (isChosen: boolean) => void
}

function Row({ entry, query, isOne, isChosen, onChoose }: RowProps) {
  const key = keyOf(entry)
  const isOpen = query.get('entry') === key
  const { receivedAt, streamId, streamName, reason, message } = entry
  return (
    <>
      <tr data-row data-open={isOpen ? '' : undefined}>
        <td data-label="Chosen" class="quarantine-choice">
          <input
            type="checkbox"
            aria-label={`Choose entry ${entry.id}`}
            checked={isChosen}
            onChange={(event) => onChoose(event.currentTarget.checked)}
          />
        </td>
        <td data-label="Received" class="quarantine-time">
          <a href={query.linkTo({ entry: isOpen ? undefined : key })} aria-expanded={isOpen}>
            <Time at={receivedAt} />
            <span class="visually-hidden">, entry {entry.id}</span>
          </a>
        </td>
        {!isOne && (
          <td data-label="Stream">
            <NameLink href={paths.stream(streamId, 'quarantine')} name={streamName} />
          </td>
        )}
        <td data-label="Reason" class="quarantine-reason">
          <div>
            {reasonWords(reason).name}
            <span class="soft quarantine-message" title={message}>
              {message}
            </span>
          </div>
        </td>
        <td data-label="Bytes" class="quarantine-preview mono">
          {isOpen ? '' : previewOf(entry)}
        </td>
      </tr>
      {isOpen && (
        <tr class="quarantine-open">
          <td colSpan={isOne ? 4 : 5}>
            <EntryDetail entry={entry} />
          </td>
        </tr>
      )}
    </>
  )
}

/** Characters of a preview, and bytes of what is no text. */
const previewLength = 120
const previewBytes = 16

function previewOf(entry: Entry): string {
  if (entry.encoding === 'utf8') {
    const first = entry.payload.slice(0, previewLength)
    const text = visibleParts(first.replaceAll(/\s+/g, ' '))
      .map((part) => part.text)
      .join('')
    return entry.payload.length > previewLength ? `${text}…` : text
  }
  const payload = entry.payload.slice(0, (previewBytes / 4) * 8)
  const first = bytesOf({ payload, encoding: 'base64' }).subarray(0, previewBytes)
  return [...first].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
}
