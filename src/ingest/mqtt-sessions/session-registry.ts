import { FilterRoom } from '../../core/filter-room.ts'
import { FilterTree } from '../../core/filter-tree.ts'
import { sessionsPerUserMax } from './limits.ts'
import type { SessionIdentity, SessionRules } from './mqtt-sessions.ts'
import type { Session } from './session.ts'

interface UserSessions {
  readonly byClientId: Map<string, Session>
  /** Filters with QoS 1 and 2: what is sent with QoS 0 waits for nobody. */
  readonly filters: FilterTree<Session>
  /** Room for all filters, those with QoS 0, too. */
  readonly room: FilterRoom
}

/** All sessions, by user: what one user has costs the others nothing. */
export class SessionRegistry {
  readonly #users = new Map<string, UserSessions>()
  sessions = 0
  subscriptions = 0

  get({ userId, clientId }: SessionIdentity): Session | undefined {
    return this.#users.get(userId)?.byClientId.get(clientId)
  }

  hasRoomFor(userId: string): boolean {
    return (this.#users.get(userId)?.byClientId.size ?? 0) < sessionsPerUserMax
  }

  add(session: Session): void {
    let user = this.#users.get(session.userId)
    if (!user) {
      user = { byClientId: new Map(), filters: new FilterTree(), room: new FilterRoom() }
      this.#users.set(session.userId, user)
    }
    user.byClientId.set(session.clientId, session)
    this.sessions++
  }

  remove(session: Session): void {
    const user = this.#users.get(session.userId)
    if (!user?.byClientId.delete(session.clientId)) return
    for (const filter of session.subscriptions.keys()) this.unsubscribe(session, filter)
    this.forgetGranted(session)
    this.sessions--
    if (user.byClientId.size === 0) this.#users.delete(session.userId)
  }

  /**
   * Keeps room for a filter until it is subscribed to, or its session is taken up again. False when the
   * session or its user has none.
   */
  grant(session: Session, filter: string): boolean {
    if (session.subscriptions.has(filter) || session.granted.has(filter)) return true
    const room = this.#users.get(session.userId)?.room
    if (!session.hasRoomForFilter() || !room?.hasRoomFor(filter)) return false
    room.take(filter)
    session.granted.add(filter)
    return true
  }

  /** Gives back the room of what was granted and never subscribed to, as its client went away. */
  forgetGranted(session: Session): void {
    const room = this.#users.get(session.userId)?.room
    for (const filter of session.granted) room?.release(filter)
    session.granted.clear()
  }

  subscribe(session: Session, filter: string, qos: number): void {
    const user = this.#users.get(session.userId)
    if (!session.subscriptions.has(filter)) {
      this.subscriptions++
      if (!session.granted.delete(filter)) user?.room.take(filter)
    }
    session.subscriptions.set(filter, qos)
    if (qos > 0) user?.filters.set(filter, session, qos)
    else user?.filters.delete(filter, session)
  }

  unsubscribe(session: Session, filter: string): void {
    if (!session.subscriptions.delete(filter)) return
    this.subscriptions--
    const user = this.#users.get(session.userId)
    user?.room.release(filter)
    user?.filters.delete(filter, session)
  }

  /** Sessions of a user that want a topic with QoS 1 or 2, and the highest QoS that they want. */
  matching(userId: string, topic: string): ReadonlyMap<Session, number> {
    return this.#users.get(userId)?.filters.match(topic) ?? nobody
  }

  /** Whether a session of a user wants a topic with QoS 1 or 2. */
  awaits(userId: string, topic: string): boolean {
    return this.#users.get(userId)?.filters.matchesAny(topic) ?? false
  }

  levelsBelow(userId: string, levels: readonly string[]): Iterable<string> {
    return this.#users.get(userId)?.filters.levelsBelow(...levels) ?? []
  }

  userIds(): Iterable<string> {
    return this.#users.keys()
  }

  ofUser(userId: string): readonly Session[] {
    return [...(this.#users.get(userId)?.byClientId.values() ?? [])]
  }

  *all(): Generator<Session> {
    for (const { byClientId } of this.#users.values()) yield* byClientId.values()
  }
}

export const nobody: ReadonlyMap<Session, number> = new Map()

/** The session of a client of the broker that outlives the connection, if it has one. */
export function sessionOf(
  { rules, registry }: { readonly rules: SessionRules; readonly registry: SessionRegistry },
  { id, clean }: { readonly id: string; readonly clean?: boolean },
): Session | undefined {
  if (clean) return undefined
  const identity = rules.identify(id)
  return identity && registry.get(identity)
}
