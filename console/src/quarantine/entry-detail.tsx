import { Download, PencilRuler } from 'lucide'
import { useMemo } from 'preact/hooks'
import { may } from '../api/session.ts'
import { Icon } from '../components/icon.tsx'
import { Time } from '../components/time.tsx'
import { lineAndColumn } from '../formats/json-place.ts'
import { readTree } from '../formats/json-tree.ts'
import { paths, withQuery } from '../routing/paths.ts'
import { BytesView } from './bytes-view.tsx'
import { download } from './download.ts'
import type { Entry } from './entries.ts'
import { type PlacedDetail, placed } from './marks.ts'
import { bytesOf } from './payload.ts'
import { reasonWords } from './reasons.ts'

/** Details that are named of one entry. */
const detailsMax = 50

/** All that is known of an entry: its bytes first, then what is wrong with them, where, and what to do. */
export function EntryDetail({ entry }: { readonly entry: Entry }) {
  const { payload, encoding, reason, message } = entry
  const isText = encoding === 'utf8'
  const details = useMemo(
    () => placed(isText ? readTree(payload) : undefined, entry.details.slice(0, detailsMax)),
    [entry],
  )
  const { meaning, remedy, name } = reasonWords(reason)
  return (
    <div class="quarantine-detail">
      <BytesView entry={entry} details={details} />
      {details.length > 0 ? (
        <ul class="quarantine-places">
          {details.map((detail) => (
            <li key={`${detail.path} ${detail.message}`}>
              <Place detail={detail} payload={payload} />
            </li>
          ))}
        </ul>
      ) : (
        <p>{message}</p>
      )}
      <div class="notice">
        <p>
          <strong>{name}.</strong> {meaning}
        </p>
        <p>{remedy}</p>
      </div>
      <Facts entry={entry} />
      <Deeds entry={entry} details={details} />
    </div>
  )
}

function Place({
  detail: { path, message, found },
  payload,
}: {
  readonly detail: PlacedDetail
  readonly payload: string
}) {
  const at = found && lineAndColumn(payload, found.start)
  return (
    <>
      <code>{path}</code> {message}
      {found?.isWhole === true && found.start > 0 && (
        <>
          {': '}
          <code class="quarantine-mark">
            {payload.slice(found.start, Math.min(found.end, found.start + 80))}
          </code>
        </>
      )}
      {at && (
        <span class="soft">
          {' '}
          line {at.line}, column {at.column}
        </span>
      )}
    </>
  )
}

function Facts({ entry }: { readonly entry: Entry }) {
  const { receivedAt, timestamp, source, topic, id } = entry
  return (
    <dl class="facts">
      <dt>Received</dt>
      <dd>
        <Time at={receivedAt} as="ms" />
      </dd>
      {timestamp !== null && (
        <>
          <dt>Its own time</dt>
          <dd>
            <Time at={timestamp} as="ms" />
          </dd>
        </>
      )}
      <dt>Sender</dt>
      <dd>
        <bdi>{source}</bdi>
      </dd>
      {topic !== null && (
        <>
          <dt>Topic</dt>
          <dd class="mono">
            <bdi>{topic}</bdi>
          </dd>
        </>
      )}
      <dt>Entry</dt>
      <dd class="mono">{id}</dd>
    </dl>
  )
}

function Deeds({
  entry,
  details,
}: {
  readonly entry: Entry
  readonly details: readonly PlacedDetail[]
}) {
  const { streamId, id, encoding } = entry
  const definition = paths.stream(streamId, 'definition')
  const mends =
    encoding === 'utf8' && entry.reason === 'schema_mismatch' ? mendsOf(entry, details) : []
  return (
    <div class="row">
      {may('streams:write') &&
        mends.map(({ path, type }) => (
          <a
            key={path}
            class="button"
            href={withQuery(definition, { sample: id, mend: `${path}:${type}` })}
          >
            <Icon of={PencilRuler} />
            Make {path} a {type}
          </a>
        ))}
      {may('streams:read') && (
        <a class="button" href={withQuery(definition, { sample: id })}>
          {may('streams:write')
            ? 'Edit the definition with this as the sample'
            : 'See the definition'}
        </a>
      )}
      <button
        type="button"
        class="button"
        onClick={() =>
          download([bytesOf(entry)], `quarantine-${id}.${encoding === 'utf8' ? 'txt' : 'bin'}`)
        }
      >
        <Icon of={Download} />
        Download the bytes
      </button>
    </div>
  )
}

interface Mend {
  readonly path: string
  readonly type: string
}

/** Mends that are offered of one entry. */
const mendsMax = 2

/** Fields that would take what came if they had its type. */
function mendsOf({ payload }: Entry, details: readonly PlacedDetail[]): readonly Mend[] {
  return details
    .flatMap(({ path, message, found }) => {
      if (
        found?.isWhole !== true ||
        !/^must be (?:number|integer|boolean|string|object|array)/.test(message)
      )
        return []
      const type = typeAt(payload.slice(found.start, Math.min(found.end, found.start + 40)))
      return type === undefined ? [] : [{ path, type }]
    })
    .slice(0, mendsMax)
}

function typeAt(text: string): string | undefined {
  if (text.startsWith('"')) return 'string'
  if (text === 'true' || text === 'false') return 'boolean'
  return /^-?\d/.test(text) ? 'number' : undefined
}
