/** Bytes of a file, both ends included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/**
 * The part of a file that a Range header asks for (RFC 9110, section 14.2): undefined for all of it,
 * also where the header is none that we take, as several ranges at once; `unsatisfiable` for one that
 * begins behind the end.
 */
export function byteRange(
  header: string | undefined,
  length: number,
): ByteRange | undefined | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return undefined
  // A suffix says in `to` how many of the last bytes are wanted.
  const first = from === '' ? Math.max(0, length - Number(to)) : Number(from)
  const last = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1)
  if (from !== '' && to !== '' && Number(to) < first) return undefined
  return first < length && first <= last ? { first, last } : 'unsatisfiable'
}
