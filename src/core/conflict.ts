import { DomainError } from './errors.ts'

/**
 * `conflict`: what is there already, or depends on it, does not allow a change.
 *
 * @param remedy which operation or key gets the caller on, as a sentence
 */
export function conflict(message: string, remedy: string): DomainError {
  return new DomainError('conflict', message, { remedy })
}

/**
 * `conflict` with another change of the same thing at the same time.
 *
 * @param read the operation that answers the newest state
 */
export function changedMeanwhile(what: string, read: string): DomainError {
  return conflict(
    `${what} was changed at the same time: try again`,
    `Read it again with ${read}, then send the change again, with the new ETag in If-Match where the operation takes one.`,
  )
}

/**
 * `conflict` with a limit on how many there may be.
 *
 * @param message how many there may be, and of what
 * @param remove the operation that makes room
 */
export function noRoom(message: string, remove: string): DomainError {
  return conflict(message, `Remove what is not needed any more with ${remove}, then try again.`)
}
