import type { Offset } from '../../storage/journal/journal.ts'
import type { ReadingsCursor } from '../../storage/time-series/readings-query.ts'

/**
 * A place in the journal: everything below the offset was handed out. Readings show up here as soon
 * as they are durable, in the order in which they became so.
 */
export interface LivePosition {
  readonly kind: 'live'
  readonly offset: Offset
}

/**
 * A place in the store: everything up to it was handed out, and what becomes stored behind it will be
 * met there. Of entries from the offset on, those that fall before the place are still missing; while
 * nothing was handed out yet there are none.
 */
export interface HistoryPosition {
  readonly kind: 'history'
  readonly offset: Offset | undefined
  readonly after: ReadingsCursor
}

/** How far somebody has followed a stream. It says all that is needed to go on, also to another process. */
export type Position = LivePosition | HistoryPosition

/** As text whose meaning is nobody's business, fit for an HTTP header. */
export function encodePosition(position: Position): string {
  const { kind, offset } = position
  if (kind === 'live') return encoded(['1', offset])
  const { timestampUs, digest } = position.after
  return encoded(['1', offset ?? '', timestampUs, digest])
}

function encoded(parts: readonly (string | number | bigint)[]): string {
  return Buffer.from(parts.join(' ')).toString('base64url')
}

const livePattern = /^1 (\d{1,15})$/
const historyPattern = /^1 (\d{0,15}) (-1|\d{1,16}) (\d{1,20})$/
const digestMax = 2n ** 64n - 1n

/** Undefined for a text that `encodePosition` has not made. */
export function decodePosition(text: string): Position | undefined {
  const plain = Buffer.from(text, 'base64url').toString()
  const live = livePattern.exec(plain)
  if (live) return sameSpelling(text, { kind: 'live', offset: Number(live[1]) })
  const [, offset = '', time = '', digest = ''] = historyPattern.exec(plain) ?? []
  if (time === '' || BigInt(digest) > digestMax) return undefined
  return sameSpelling(text, {
    kind: 'history',
    offset: offset === '' ? undefined : Number(offset),
    after: { timestampUs: Number(time), digest: BigInt(digest) },
  })
}

/** Buffer skips what is not base64: there is one spelling only. */
function sameSpelling(text: string, position: Position): Position | undefined {
  return encodePosition(position) === text ? position : undefined
}

/** Whether one place in a stream's history is behind another. */
export function isBehind(place: ReadingsCursor, other: ReadingsCursor): boolean {
  if (place.timestampUs !== other.timestampUs) return place.timestampUs > other.timestampUs
  return place.digest > other.digest
}
