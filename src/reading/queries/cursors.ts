import { type DomainError, invalidParameter } from '../../core/errors.ts'
import { isWritableInstant } from '../../core/time.ts'
import { cursorRemedy } from '../../requests/http/request-remedies.ts'
import type { AggregateCursor } from '../../storage/time-series/aggregate-query.ts'
import type { ReadingsCursor } from '../../storage/time-series/readings-query.ts'

const digestMax = 2n ** 64n - 1n

export function encodeReadingsCursor({ timestampUs, digest, spanUs = 0 }: ReadingsCursor): string {
  return encode(`${timestampUs} ${digest} ${spanUs}`)
}

/** @throws DomainError `invalid_request` for a text that we have not made */
export function parseReadingsCursor(text: string | undefined): ReadingsCursor | undefined {
  if (text === undefined) return undefined
  const [time = '', digest = '', span = ''] = decode(text).split(' ')
  if (!isTime(time) || !isTime(span) || !/^\d{1,20}$/.test(digest) || BigInt(digest) > digestMax) {
    throw notOurs()
  }
  const spanUs = Number(span)
  return { timestampUs: Number(time), digest: BigInt(digest), ...(spanUs > 0 && { spanUs }) }
}

export function encodeAggregateCursor({ timestampUs, series }: AggregateCursor): string {
  return encode(JSON.stringify([timestampUs, series]))
}

/** @throws DomainError `invalid_request` for a text that we have not made */
export function parseAggregateCursor(text: string | undefined): AggregateCursor | undefined {
  if (text === undefined) return undefined
  const [timestampUs, series] = parseList(decode(text))
  if (!isInstant(timestampUs) || typeof series !== 'string') throw notOurs()
  return { timestampUs, series }
}

function parseList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

/** Whether a point of an answer could have this time: buckets may begin before 1970. */
function isInstant(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && isWritableInstant(value)
}

function isTime(text: string): boolean {
  return /^\d{1,16}$/.test(text)
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function decode(text: string): string {
  return Buffer.from(text, 'base64url').toString()
}

function notOurs(): DomainError {
  return invalidParameter(
    'cursor',
    'must be a cursor from an answer of this operation',
    cursorRemedy,
  )
}
