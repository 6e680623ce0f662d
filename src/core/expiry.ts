import { invalidParameter } from './errors.ts'
import { parseRfc3339 } from './time.ts'

/**
 * When something ends, as whoever asks for it has said: undefined when it has no end. Microseconds, after now.
 *
 * @param path the member of the body that says it
 * @throws DomainError `invalid_request`
 */
export function expiryOf(
  path: string,
  text: string | null | undefined,
  nowUs: number,
): number | undefined {
  if (text === undefined || text === null) return undefined
  const expiresAtUs = parseRfc3339(text)
  if (typeof expiresAtUs !== 'number') {
    throw invalidParameter(path, `must be an RFC 3339 date-time: ${expiresAtUs.problem}`)
  }
  if (expiresAtUs <= nowUs) throw invalidParameter(path, 'must be in the future')
  // A later time could be written, and then no more be read: not at a start.
  if (!Number.isSafeInteger(expiresAtUs)) {
    throw invalidParameter(path, 'must be before June 2255; without it there is no end')
  }
  return expiresAtUs
}
