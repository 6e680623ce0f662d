import type { Offset } from '../../../journal/journal.ts'
import type { Range } from '../../aggregation/point-reader.ts'
import type { ReadingsCursor } from '../../readings-query.ts'
import { literal, storedDigest } from '../layout.ts'

/**
 * What an answer about a position sees: what was stored before it, and was not removed before it. So all
 * statements of one answer see the same, whatever is written meanwhile.
 */
export function visibleAt(position: Offset): string {
  return `("$removedBy" = null OR "$removedBy" >= ${position}) AND "$offset" < ${position}`
}

export function ofStreams(streamIds: readonly string[]): string {
  return `"streamId" IN (${streamIds.map(literal).join(',')})`
}

export function within({ fromUs, toUs }: Range): string {
  return `"timestamp" >= ${fromUs} AND "timestamp" < ${toUs}`
}

/** At one of these instants, in microseconds: at least one. */
export function atInstants(instants: Iterable<number>): string {
  return `"timestamp" IN (${[...instants].join(',')})`
}

/** A column of times, or an expression that is one, as microseconds. */
export function microseconds(expression: string): string {
  return `cast(${expression} AS LONG)`
}

/**
 * Sorts by the digest. It has no sign, and QuestDB's numbers have one: those with it are the greater
 * half, which begins with the null.
 */
export function digestOrder(direction: 'ASC' | 'DESC'): string {
  return `CASE WHEN "$digest" >= 0 THEN 0 ELSE 1 END ${direction}, "$digest" ${direction}`
}

export function digestAbove(digest: bigint): string {
  const stored = storedDigest(digest)
  if (stored >= 0n) return `("$digest" > ${stored} OR "$digest" < 0 OR "$digest" = null)`
  return stored === lowest ? '"$digest" < 0' : `("$digest" < 0 AND "$digest" > ${stored})`
}

function digestUpTo(digest: bigint): string {
  const stored = storedDigest(digest)
  if (stored >= 0n) return `("$digest" >= 0 AND "$digest" <= ${stored})`
  const half = '"$digest" >= 0 OR "$digest" = null'
  return stored === lowest ? `(${half})` : `(${half} OR "$digest" <= ${stored})`
}

/** Readings before one, in the order of time and of digest. */
export function readingsBefore({ timestampUs, digest }: ReadingsCursor): string {
  if (digest === 0n) return `"timestamp" < ${timestampUs}`
  return `"timestamp" <= ${timestampUs} AND ("timestamp" < ${timestampUs} OR ${digestUpTo(digest - 1n)})`
}

/** A reading and those behind it. */
export function readingsFrom({ timestampUs, digest }: ReadingsCursor): string {
  if (digest === 0n) return `"timestamp" >= ${timestampUs}`
  return `"timestamp" >= ${timestampUs} AND ("timestamp" > ${timestampUs} OR ${digestAbove(digest - 1n)})`
}

/** A reading and those before it. */
export function readingsUpTo({ timestampUs, digest }: ReadingsCursor): string {
  return `"timestamp" <= ${timestampUs} AND ("timestamp" < ${timestampUs} OR ${digestUpTo(digest)})`
}

export function digestIn(digests: readonly bigint[]): string {
  const stored = digests.map(storedDigest)
  const written = stored.filter((digest) => digest !== lowest)
  const alternatives = [
    ...(written.length > 0 ? [`"$digest" IN (${written.join(',')})`] : []),
    ...(written.length < stored.length ? ['"$digest" = null'] : []),
  ]
  return `(${alternatives.join(' OR ')})`
}

/** The null of QuestDB; a number that cannot be written in its SQL. */
const lowest = -(2n ** 63n)

/**
 * Streams that one statement names. It comes in an URL, which QuestDB takes up to 32 KB of, and an id
 * takes 46 bytes each time that it is named, at most twice.
 */
export const streamsPerStatement = 150

/** Instants that one statement names, of 19 bytes each. */
export const instantsPerStatement = 400

/** Cuts a list into pieces of a size, the last of which may be smaller. */
export function piecesOf<Item>(items: readonly Item[], size: number): Item[][] {
  const pieces: Item[][] = []
  for (let at = 0; at < items.length; at += size) pieces.push(items.slice(at, at + size))
  return pieces
}
