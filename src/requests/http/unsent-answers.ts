import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'

/** Answers below this are not counted: ten thousand of them fit into the memory. */
const countedLength = 65_536

/** Characters of large answers to one user, and to all, that may wait for who reads them. */
const waitingOfUserMax = 64 * 1024 * 1024
const waitingMax = 256 * 1024 * 1024

/**
 * An onSend hook that limits the memory of answers which nobody reads: asking costs nothing, and an
 * answer is kept until the network has taken it. One user alone cannot use up the room of all.
 *
 * @throws DomainError `overloaded`
 */
export function limitUnsentAnswers(userOf: (request: FastifyRequest) => UserId | undefined) {
  const waitingOf = new Map<string, number>()
  let waiting = 0

  const count = (userId: string, length: number) => {
    waiting += length
    const ofUser = (waitingOf.get(userId) ?? 0) + length
    // Users who have nothing to wait for are not remembered: the map has no more than all answers.
    if (ofUser === 0) waitingOf.delete(userId)
    else waitingOf.set(userId, ofUser)
  }

  return (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: Error | null, payload?: unknown) => void,
  ): void => {
    const length = lengthOf(payload)
    // Who left while we worked gets nothing, and nobody would tell us any more when it is gone.
    if (length < countedLength || reply.raw.destroyed) {
      done(null, payload)
      return
    }
    const userId = userOf(request) ?? ''
    const ofUser = waitingOf.get(userId) ?? 0
    // One large answer alone is always let through, however large it is.
    const isTooMuch = ofUser + length > waitingOfUserMax || waiting + length > waitingMax
    if (isTooMuch && ofUser > 0) {
      const message = 'too many large answers wait to be read: read those first'
      done(new DomainError('overloaded', message, { retryAfter: 1 }))
      return
    }
    count(userId, length)
    reply.raw.once('close', () => count(userId, -length))
    done(null, payload)
  }
}

function lengthOf(payload: unknown): number {
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
}
