import { refuseCursor } from '../../requests/http/pagination.ts'

/** Longer names do not exist, of fleets and devices. */
const nameLengthMax = 400

/** Where a page of a list has ended that goes by names. */
export function encodeNameCursor(name: string): string {
  return Buffer.from(name).toString('base64url')
}

/** @throws DomainError `invalid_request` for a text that `encodeNameCursor` has not made */
export function nameBehind(cursor: string | undefined): string {
  if (cursor === undefined) return ''
  const name = Buffer.from(cursor, 'base64url').toString()
  // One spelling only: Buffer skips what is not base64.
  const isOurs = name !== '' && name.length <= nameLengthMax && encodeNameCursor(name) === cursor
  return isOurs ? name : refuseCursor()
}
