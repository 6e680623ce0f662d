import { useMemo, useState } from 'preact/hooks'
import { bytes as bytesText, count } from '../formats/numbers.ts'
import { hexLines } from './hex-dump.ts'
import { type MarkedPart, markedParts, type PlacedDetail } from './marks.ts'
import { beginning, byteLength, bytesOf, type Encoded } from './payload.ts'
import { visibleParts } from './visible-text.ts'

export interface BytesViewProps {
  readonly entry: Encoded
  readonly details: readonly PlacedDetail[]
}

/** So much is shown at first, and with each press more: a message may have 4 MiB. */
const portion = 64 * 1024

/** Beyond this many hidden signs a text is none, and each by itself would make the page slow. */
const hiddenMax = 500

/** The bytes of an entry as they came: as text, or in hexadecimal digits. */
export function BytesView({ entry, details }: BytesViewProps) {
  const isText = entry.encoding === 'utf8'
  const [isHex, setHex] = useState(!isText)
  const [shown, setShown] = useState(portion)
  const length = byteLength(entry)
  const size = isHex || !isText ? length : entry.payload.length
  return (
    <div class="quarantine-bytes">
      <div class="row">
        <strong>Bytes</strong>
        <span class="soft">
          {bytesText(length)}
          {!isText && ', not readable as text (UTF-8)'}
        </span>
        <span class="spring" />
        {isText && <Toggle isHex={isHex} onHex={setHex} />}
      </div>
      {isHex ? (
        <HexPart entry={entry} shown={shown} />
      ) : (
        <TextPart text={beginning(entry.payload, shown)} details={details} />
      )}
      {shown < size && (
        <div class="row">
          <button type="button" class="button" onClick={() => setShown(shown + portion)}>
            Show more
          </button>
          <span class="soft">
            {count(Math.min(shown, size))} of {count(size)} {isHex ? 'bytes' : 'characters'}
          </span>
        </div>
      )}
    </div>
  )
}

function Toggle({
  isHex,
  onHex,
}: {
  readonly isHex: boolean
  readonly onHex: (isHex: boolean) => void
}) {
  return (
    <span class="row" role="group" aria-label="How the bytes are shown">
      {[false, true].map((hex) => (
        <button
          key={String(hex)}
          type="button"
          class="button quarantine-toggle"
          aria-pressed={isHex === hex}
          onClick={() => onHex(hex)}
        >
          {hex ? 'hex' : 'text'}
        </button>
      ))}
    </span>
  )
}

function HexPart({ entry, shown }: { readonly entry: Encoded; readonly shown: number }) {
  const all = useMemo(() => bytesOf(entry), [entry])
  const text = useMemo(
    () =>
      hexLines(all.subarray(0, shown))
        .map(({ offset, hex, characters }) => `${offset}  ${hex.padEnd(48)}  ${characters}`)
        .join('\n'),
    [all, shown],
  )
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it
    <pre class="quarantine-payload quarantine-hex" role="region" aria-label="Bytes" tabIndex={0}>
      {text}
    </pre>
  )
}

function TextPart({
  text,
  details,
}: {
  readonly text: string
  readonly details: readonly PlacedDetail[]
}) {
  const parts = useMemo(() => markedParts(text, details), [text, details])
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it
    <pre class="quarantine-payload" dir="ltr" role="region" aria-label="Bytes" tabIndex={0}>
      {parts.map((part, at) => (
        <Part key={at} part={part} />
      ))}
    </pre>
  )
}

function Part({ part: { text, problem } }: { readonly part: MarkedPart }) {
  const pieces = useMemo(() => {
    const visible = visibleParts(text)
    if (visible.filter(({ hidden }) => hidden !== undefined).length <= hiddenMax) return visible
    return [{ text: visible.map((piece) => piece.text).join('') }]
  }, [text])
  const shown = pieces.map(({ text: piece, hidden }, at) =>
    hidden === undefined ? (
      piece
    ) : (
      <span key={at} class="quarantine-hidden" title={hidden}>
        {piece}
      </span>
    ),
  )
  if (problem === undefined) return <>{shown}</>
  return (
    <mark class="quarantine-mark" title={problem}>
      {shown}
    </mark>
  )
}
