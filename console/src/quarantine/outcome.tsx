import { useEffect, useRef } from 'preact/hooks'
import { count } from '../formats/numbers.ts'
import { useQuery } from '../routing/query.ts'
import type { Judged, Staying } from './judging.ts'
import { reasonWords } from './reasons.ts'

/** What was done last, and what has come of it. */
export type Done =
  | { readonly deed: 'tried' | 'redriven'; readonly result: Judged; readonly byDraft: boolean }
  | { readonly deed: 'deleted'; readonly entries: number }

/** Entries that are named of those that stay. */
const namedMax = 20

/** What has come of a deed. It stays until it is closed: a button never presses into nothing. */
export function Outcome({ done, onClose }: { readonly done: Done; readonly onClose: () => void }) {
  const place = useRef<HTMLDivElement>(null)
  // The button that had the focus can do nothing any more: what it was about is gone.
  useEffect(() => {
    if (done.deed !== 'tried') place.current?.focus()
  }, [done])
  const isGood = done.deed === 'deleted' || done.result.remaining === 0
  return (
    <div ref={place} class={`notice ${isGood ? 'good' : 'warn'}`} role="status" tabIndex={-1}>
      <div class="row">
        <strong>{wordsOf(done)}</strong>
        <span class="spring" />
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
      {done.deed !== 'deleted' && done.result.remaining > 0 && (
        <StillRefused staying={done.result.stillRefused} remaining={done.result.remaining} />
      )}
    </div>
  )
}

function wordsOf(done: Done): string {
  if (done.deed === 'deleted') return `${entriesText(done.entries)} deleted.`
  const { redriven, accepted, remaining } = done.result
  if (done.deed === 'tried') {
    const by = done.byDraft ? 'By the draft' : 'By the definition as it is'
    return `${by}, ${count(redriven)} of ${count(redriven + remaining)} would pass. Nothing was changed.`
  }
  const refused = remaining === 0 ? 'none is refused any more' : `${count(remaining)} still refused`
  return `${count(accepted)} accepted, ${refused}.`
}

function entriesText(entries: number): string {
  return entries === 1 ? '1 refused reading' : `${count(entries)} refused readings`
}

interface StillRefusedProps {
  readonly staying: readonly Staying[]
  readonly remaining: number
}

/** Why those stay that stay: the same cause is told once. */
function StillRefused({ staying, remaining }: StillRefusedProps) {
  const query = useQuery()
  const causes = Map.groupBy(staying, ({ reason, message }) => `${reason}\n${message}`)
  const shown = [...causes.values()].slice(0, namedMax)
  return (
    <>
      <ul>
        {shown.map((some) => {
          const [first] = some
          if (first === undefined) return null
          const { reason, message, streamId, streamName, id } = first
          return (
            <li key={`${reason} ${message}`}>
              {some.length > 1 && `${count(some.length)} times: `}
              {reasonWords(reason).name}: {message}{' '}
              <a href={query.linkTo({ entry: `${streamId}/${id}` })}>
                <bdi>{streamName}</bdi>, entry {id}
              </a>
            </li>
          )
        })}
      </ul>
      {remaining > staying.length && (
        <p class="soft">Of {count(staying.length)} it is said why; the others are in the list.</p>
      )}
    </>
  )
}
