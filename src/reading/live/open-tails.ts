import { type ErrorCode, errorCatalogue } from '../../core/error-catalogue.ts'
import { DomainError, remedyOf } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'

/** Each holds a connection and up to a slice of readings. */
const tailsMax = 500
const tailsOfUserMax = 50

/** How late a tail ends whose key or token has expired, or whose session is over, at most. */
const expiryCheckMs = 1_000

/** Who follows what. */
export interface Follower {
  readonly userId: UserId
  readonly apiKeyId: string
  /** As the request names it: the stream may turn out to be none. */
  readonly streamId: string
  /** Undefined: not by itself. */
  readonly expiresAtUs: number | undefined
  /** The session of the console that it was opened with, if it was. */
  readonly session?: { readonly id: string } | undefined
}

export interface OpenTailsNeeds {
  readonly nowUs: () => number
  /** Whether a session of the console has neither ended nor expired. */
  readonly isGoodSession: (session: { readonly id: string }) => boolean
}

/** Why the service ends a tail. `code` is one of the error codes, or `stopping`. */
export interface TailEnd {
  readonly code: ErrorCode | 'stopping'
  readonly message: string
  /** What the client can do about it, as a sentence. */
  readonly remedy: string
}

export interface OpenTail extends Follower {
  /** Aborted when the tail is over; `endOf` tells why. */
  readonly signal: AbortSignal
  /** The client has gone, or was told everything. */
  release(): void
}

interface Entry extends Follower {
  readonly controller: AbortController
}

export interface TailStats {
  readonly open: number
  readonly refused: number
}

/** Everybody who follows a stream at the moment. */
export class OpenTails {
  readonly #open = new Set<Entry>()
  readonly #needs: OpenTailsNeeds
  #refused = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(needs: OpenTailsNeeds) {
    this.#needs = needs
  }

  get stats(): TailStats {
    return { open: this.#open.size, refused: this.#refused }
  }

  /** @throws DomainError `rate_limited` or `overloaded` when there are too many */
  open(follower: Follower): OpenTail {
    this.#assertRoom(follower.userId)
    const entry: Entry = { ...follower, controller: new AbortController() }
    this.#open.add(entry)
    this.#timer ??= setInterval(() => this.#endExpired(), expiryCheckMs).unref()
    return {
      ...follower,
      signal: entry.controller.signal,
      release: () => {
        this.#open.delete(entry)
        entry.controller.abort()
        if (this.#open.size === 0) this.#stopTimer()
      },
    }
  }

  /** Ends every tail that was opened with this key, or with a token of it. */
  endKey(apiKeyId: string): void {
    const end = endWith('invalid_api_key', 'the key has ended')
    this.#end((entry) => entry.apiKeyId === apiKeyId, end)
  }

  endStream(streamId: string): void {
    const end = endWith('not_found', 'the stream was deleted')
    this.#end((entry) => entry.streamId === streamId, end)
  }

  close(): void {
    this.#isClosed = true
    const remedy =
      'Connect again in a few seconds, with the last position in from or Last-Event-ID.'
    this.#end(() => true, { code: 'stopping', message: 'the service stops', remedy })
    this.#stopTimer()
  }

  #endExpired(): void {
    const { nowUs: now, isGoodSession } = this.#needs
    const over = endWith('session_expired', 'the session is over')
    this.#end(({ session }) => session !== undefined && !isGoodSession(session), over)
    const nowUs = now()
    const end = endWith('token_expired', 'the token or its key has expired')
    this.#end(({ expiresAtUs }) => expiresAtUs !== undefined && expiresAtUs <= nowUs, end)
  }

  #end(isOver: (entry: Entry) => boolean, end: TailEnd): void {
    for (const entry of this.#open) if (isOver(entry)) entry.controller.abort(new ToldToEnd(end))
  }

  #assertRoom(userId: UserId): void {
    const ofUser = [...this.#open].filter((entry) => entry.userId === userId).length
    if (ofUser < tailsOfUserMax && this.#open.size < tailsMax && !this.#isClosed) return
    this.#refused++
    if (ofUser >= tailsOfUserMax) {
      const message = `${tailsOfUserMax} connections follow streams of this user already`
      throw new DomainError('rate_limited', message, { retryAfter: 5 })
    }
    const message = 'too many connections follow streams'
    throw new DomainError('overloaded', message, { retryAfter: 5 })
  }

  #stopTimer(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** Why a tail ends that was told to, or that failed; undefined when its client has gone. */
export function endOf({ aborted, reason }: AbortSignal, failure: unknown): TailEnd | undefined {
  if (aborted) return reason instanceof ToldToEnd ? reason.end : undefined
  if (failure instanceof DomainError) {
    const { code, message, remedy } = failure
    return { code, message, remedy }
  }
  return endWith('internal_error', errorCatalogue.internal_error.meaning)
}

function endWith(code: ErrorCode, message: string): TailEnd {
  return { code, message, remedy: remedyOf(code) }
}

/** The reason of a signal that the service has aborted. */
class ToldToEnd {
  readonly end: TailEnd

  constructor(end: TailEnd) {
    this.end = end
  }
}
