/** As the API gives the bytes of a reading. */
export interface Encoded {
  readonly payload: string
  readonly encoding: 'utf8' | 'base64'
}

/** The bytes as they came. */
export function bytesOf({ payload, encoding }: Encoded): Uint8Array {
  if (encoding === 'utf8') return new TextEncoder().encode(payload)
  const binary = atob(payload)
  return Uint8Array.from({ length: binary.length }, (_, at) => binary.charCodeAt(at))
}

/** How many bytes there are, without making them. */
export function byteLength({ payload, encoding }: Encoded): number {
  if (encoding === 'base64')
    return (payload.length / 4) * 3 - (/=*$/.exec(payload)?.[0].length ?? 0)
  let bytes = payload.length
  for (let at = 0; at < payload.length; at++) {
    const code = payload.charCodeAt(at)
    // A pair of surrogates is four bytes, two for each of its halves.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return bytes
}

/** The beginning of a text that is cut between two characters, never within one. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(length - 1))
  return text.slice(0, isHalf ? length - 1 : length)
}
