import { DomainError } from '../../core/errors.ts'

/** What a request says who it is, not looked at yet. */
interface Presented {
  authorization?: string
  apiKey?: string
  apiSecret?: string
}

/** The token of an Authorization header, or nothing. */
export function bearerToken(authorization: string): string | undefined {
  // As nearly everybody writes it, without a pattern: this runs for every request.
  if (authorization.startsWith('Bearer ') && !authorization.includes(' ', 7)) {
    return authorization.slice(7) || undefined
  }
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1]
}

/**
 * Whether an Authorization header is of the scheme Basic (RFC 7617), or of the scheme Token of InfluxDB, whose
 * clients have one text for it: a key and its secret with a colon between them.
 */
export function isBasic(authorization: string): boolean {
  return /^(?:Basic|Token)(?: |$)/i.test(authorization)
}

/** A key and its secret, as a header of the scheme Basic or Token has them; undefined for one that has none. */
export function basicKey(
  authorization: string,
): { readonly id: string; readonly secret: string } | undefined {
  const token = /^Token +([!-9;-~]+):([!-~]+) *$/i.exec(authorization)
  if (token !== null) return { id: token[1] ?? '', secret: token[2] ?? '' }
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(encoded, 'base64'),
    )
    const colon = text.indexOf(':')
    // A secret may have colons, an id has none.
    return colon < 0 ? undefined : { id: text.slice(0, colon), secret: text.slice(colon + 1) }
  } catch {
    return undefined
  }
}

/**
 * The credentials among raw headers. Node would keep the first of two Authorization headers and
 * join two x-api-key headers to "a, b"; here a header that comes twice is no credential
 * (decisions.md#two-interfaces-on-one-address).
 *
 * @throws DomainError `invalid_api_key`
 */
export function presentedIn(rawHeaders: readonly string[]): Presented {
  const found: Presented = {}
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const place = placeOf(rawHeaders[index] as string)
    if (place === undefined) continue
    if (found[place] !== undefined) {
      throw new DomainError('invalid_api_key', `the header ${rawHeaders[index]} came twice`)
    }
    found[place] = rawHeaders[index + 1] as string
  }
  return found
}

function placeOf(name: string): keyof Presented | undefined {
  // Lengths first: most headers are none of the three, and this runs for every request.
  if (name.length !== 9 && name.length !== 12 && name.length !== 13) return undefined
  switch (name.toLowerCase()) {
    case 'authorization':
      return 'authorization'
    case 'x-api-key':
      return 'apiKey'
    case 'x-api-secret':
      return 'apiSecret'
    default:
      return undefined
  }
}
