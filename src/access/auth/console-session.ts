import type { UserId } from '../../core/ids.ts'

/** A browser that is signed in to the console with a key. */
export interface ConsoleSession {
  /** What it is called in lists: no secret, and of no use as one. */
  readonly id: string
  readonly userId: UserId
  readonly apiKeyId: string
  /** Where the browser signed in from. */
  readonly address: string
  readonly createdAtUs: number
}

/** When a session was used, and when it is over, by the wall clock as it is set now. */
export interface SessionTerms {
  readonly lastUsedAtUs: number
  /** At the latest, however much it is used. */
  readonly expiresAtUs: number
  /** If it is not used until then. */
  readonly idleExpiresAtUs: number
}

/**
 * Why a session has ended, for the audit log: its user has signed out, or has ended it from elsewhere; the browser
 * has signed in again; its key has newer ones; its time is over; its key or the secret that it was made with is.
 */
export type SessionEnd = 'signed_out' | 'ended' | 'signed_in_again' | 'too_many' | 'expired' | 'key'
