import { randomBytes, randomUUID } from 'node:crypto'
import type { Compilable } from 'kysely'
import { type Clocks, wallUsOf } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { Actor, AuditLog } from '../audit/audit-log.ts'
import type { Caller } from './caller.ts'
import type { ConsoleSession, SessionEnd, SessionTerms } from './console-session.ts'
import {
  deletion,
  insertion,
  lastUse,
  loadSessions,
  type StoredSession,
} from './console-session-rows.ts'
import type { KeyDirectory } from './key-directory.ts'
import type { MasterKey } from './master-key.ts'

/** Browsers that are signed in with one key: one more ends the session that was not used for longest. */
export const sessionsOfKeyMax = 20

/** And of one user, with whatever key, so that nobody has all of those that the service holds. */
export const sessionsOfUserMax = 100

/** Sessions of the service: all are in memory, about 1 KiB each. */
const sessionsMax = 20_000

const hourUs = 3_600_000_000

/** A session that nobody uses for so long is over: the browser may be another's by then. */
export const sessionIdleUs = 12 * hourUs

/** And one that is used all the time is over after so long. */
export const sessionLifetimeUs = 7 * 24 * hourUs

/** Changes that are written in one transaction. */
const flushedMax = 500

const secretBytes = 32

export interface ConsoleSessionsNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly masterKey: Pick<MasterKey, 'digest'>
  readonly keys: Pick<KeyDirectory, 'hasSecret'>
  readonly clock: Clocks
  readonly audit: AuditLog
}

/** Who has shown that they have a key of a user. */
export interface SignIn {
  readonly caller: Caller
  readonly apiSecret: string
  readonly address: string
  /** The session that the browser had until now. */
  readonly replaced: ConsoleSession | undefined
}

interface Ended {
  readonly session: ConsoleSession
  readonly reason: SessionEnd
  readonly actor: Actor | undefined
}

/**
 * Every session of the console, in the memory of the thread that asks for them: one that is not here does not exist.
 *
 * A session is known by the digest of what its cookie says. How long it lasts is measured by steady time, so that a
 * clock that is set makes none longer. Its last use is only remembered, and written once a minute, like that of keys;
 * its end is written before anybody is told of it. What it may do is what its key may do now.
 */
export class ConsoleSessions {
  readonly #needs: ConsoleSessionsNeeds
  readonly #byDigest = new Map<string, StoredSession>()
  readonly #byId = new Map<string, StoredSession>()
  readonly #usedAtUs = new Map<string, number>()
  /** Sessions used since the last flush. */
  readonly #used = new Set<string>()
  /** Sessions that are gone from memory, and not from the state yet: as many as there were at most. */
  readonly #ended: Ended[] = []

  private constructor(needs: ConsoleSessionsNeeds) {
    this.#needs = needs
  }

  static async open(needs: ConsoleSessionsNeeds): Promise<ConsoleSessions> {
    const sessions = new ConsoleSessions(needs)
    for (const [session, usedAtUs] of await loadSessions(needs.state)) {
      sessions.#put(session, usedAtUs)
    }
    return sessions
  }

  get size(): number {
    return this.#byId.size
  }

  /** The session whose cookie says this, unless it is over. */
  find(secret: string): ConsoleSession | undefined {
    // Found by a keyed digest: how long that takes tells nothing about any secret.
    const session = this.#byDigest.get(this.#needs.masterKey.digest(secret))
    return session && this.isGood(session) ? session : undefined
  }

  /** Whether a session that was found is still one: neither ended nor over. */
  isGood({ id }: Pick<ConsoleSession, 'id'>): boolean {
    const session = this.#byId.get(id)
    return session !== undefined && this.#reasonToEnd(session) === undefined
  }

  /** Remembers that it was used; it is written down later (`flush`). */
  use({ id }: ConsoleSession): void {
    this.#usedAtUs.set(id, this.#needs.clock.steadyUs())
    this.#used.add(id)
  }

  /** Sessions of a user that are not over, in the order of their making. */
  ofUser(userId: UserId): readonly ConsoleSession[] {
    return [...this.#byId.values()]
      .filter((session) => session.userId === userId && this.isGood(session))
      .toSorted((one, other) => one.createdAtUs - other.createdAtUs || (one.id < other.id ? -1 : 1))
  }

  /** One of a user, unless it is over. */
  ofUserById(userId: UserId, id: string): ConsoleSession | undefined {
    const session = this.#byId.get(id)
    return session?.userId === userId && this.isGood(session) ? session : undefined
  }

  termsOf({ id }: ConsoleSession): SessionTerms {
    const { clock } = this.#needs
    const usedAtUs = this.#usedAtUs.get(id) ?? 0
    const endUs = (this.#byId.get(id)?.startedAtUs ?? 0) + sessionLifetimeUs
    return {
      lastUsedAtUs: wallUsOf(clock, usedAtUs),
      expiresAtUs: wallUsOf(clock, endUs),
      idleExpiresAtUs: wallUsOf(clock, Math.min(usedAtUs + sessionIdleUs, endUs)),
    }
  }

  /**
   * Makes a session, and resolves with it and with what its cookie is to say, which is known here for the last time.
   *
   * @throws DomainError `overloaded` when there are as many as the service holds
   */
  async begin({ caller, apiSecret, address, replaced }: SignIn): Promise<{
    readonly secret: string
    readonly session: ConsoleSession
  }> {
    const { state, masterKey, clock, audit } = this.#needs
    const { userId, apiKeyId } = caller
    const actor = { userId, apiKeyId, address }
    if (replaced) this.#end(replaced, 'signed_in_again', actor)
    this.#assertRoom()
    const secret = randomBytes(secretBytes).toString('base64url')
    const session: StoredSession = {
      id: randomUUID(),
      userId,
      apiKeyId,
      address,
      createdAtUs: clock.nowUs(),
      digest: masterKey.digest(secret),
      keyDigest: masterKey.digest(apiSecret),
      startedAtUs: clock.steadyUs(),
    }
    // Before anything is waited for, so that none come in between: nobody knows of it until it is durable.
    this.#makeRoomFor(session)
    this.#put(session, session.startedAtUs)
    const subject = { subjectId: session.id, userId }
    try {
      await this.#commit(
        insertion(state, session),
        audit.entry({ action: 'console_session.created', actor, ...subject }),
      )
    } catch (error) {
      this.#remove(session)
      throw error
    }
    return { secret, session }
  }

  /** Ends a session: nobody has it from the call on, and it is durable when this resolves. */
  async end(session: ConsoleSession, reason: SessionEnd, actor: Actor): Promise<void> {
    this.#end(session, reason, actor)
    await this.#commit()
  }

  /**
   * Ends what is over, and writes down what was only remembered. Called about once a minute. What cannot be written
   * is tried again the next time.
   */
  async flush(): Promise<void> {
    this.#endOver()
    while (this.#ended.length > 0) await this.#commit()
    const ids = [...this.#used]
    for (let from = 0; from < ids.length; from += flushedMax) {
      await this.#writeUses(ids.slice(from, from + flushedMax))
    }
  }

  async #writeUses(ids: readonly string[]): Promise<void> {
    const { state, writer } = this.#needs
    const changes = ids.map((id) => lastUse(state, id, this.#usedAtUs.get(id) ?? 0))
    // Before the commit: who uses a session meanwhile is written down the next time.
    for (const id of ids) this.#used.delete(id)
    try {
      await writer.commit(...changes)
    } catch (error) {
      for (const id of ids) if (this.#byId.has(id)) this.#used.add(id)
      throw error
    }
  }

  /** Commits changes, and with them the ends that are not written yet. */
  async #commit(...changes: readonly Compilable[]): Promise<void> {
    const { state, writer, audit } = this.#needs
    const ended = this.#ended.splice(0, flushedMax)
    const ends = ended.flatMap(({ session, reason, actor }) => [
      deletion(state, session.id),
      audit.entry({
        action: 'console_session.ended',
        actor,
        subjectId: session.id,
        userId: session.userId,
        details: { reason },
      }),
    ])
    if (changes.length + ends.length === 0) return
    try {
      await writer.commit(...changes, ...ends)
    } catch (error) {
      this.#ended.unshift(...ended)
      throw error
    }
  }

  #assertRoom(): void {
    if (this.size >= sessionsMax) this.#endOver()
    if (this.size < sessionsMax) return
    const message = 'as many browsers are signed in as the service holds'
    throw new DomainError('overloaded', message, { retryAfter: 60 })
  }

  #makeRoomFor({ apiKeyId, userId }: StoredSession): void {
    const all = [...this.#byId.values()].filter((session) => session.userId === userId)
    const ofKey = all.filter((session) => session.apiKeyId === apiKeyId)
    for (const [sessions, max] of [
      [ofKey, sessionsOfKeyMax],
      [all, sessionsOfUserMax],
    ] as const) {
      const left = sessions.filter(({ id }) => this.#byId.has(id))
      const byUse = left.toSorted((one, other) => this.#useOf(one) - this.#useOf(other))
      const beyond = Math.max(0, left.length - max + 1)
      for (const session of byUse.slice(0, beyond)) this.#end(session, 'too_many', undefined)
    }
  }

  #endOver(): void {
    for (const session of this.#byId.values()) {
      const reason = this.#reasonToEnd(session)
      if (reason !== undefined) this.#end(session, reason, undefined)
    }
  }

  #reasonToEnd(session: StoredSession): 'expired' | 'key' | undefined {
    const { clock, keys } = this.#needs
    const nowUs = clock.steadyUs()
    if (nowUs >= session.startedAtUs + sessionLifetimeUs) return 'expired'
    if (nowUs >= this.#useOf(session) + sessionIdleUs) return 'expired'
    return keys.hasSecret(session.apiKeyId, session.keyDigest) ? undefined : 'key'
  }

  #useOf({ id }: ConsoleSession): number {
    return this.#usedAtUs.get(id) ?? 0
  }

  #put(session: StoredSession, usedAtUs: number): void {
    this.#byDigest.set(session.digest, session)
    this.#byId.set(session.id, session)
    this.#usedAtUs.set(session.id, usedAtUs)
  }

  #end({ id }: ConsoleSession, reason: SessionEnd, actor: Actor | undefined): void {
    const session = this.#byId.get(id)
    if (!session) return
    this.#remove(session)
    const ended = { session, reason, actor }
    // What somebody waits for is written first.
    if (actor) this.#ended.unshift(ended)
    else this.#ended.push(ended)
  }

  #remove({ id, digest }: StoredSession): void {
    this.#byDigest.delete(digest)
    this.#byId.delete(id)
    this.#usedAtUs.delete(id)
    this.#used.delete(id)
  }
}
