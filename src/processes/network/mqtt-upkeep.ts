import { namesInside } from '../../../connectors/mqtt-broker/client-ids.ts'
import {
  innerStreamTopic,
  mayBeOwnTopic,
  outerTopic,
} from '../../../connectors/mqtt-broker/topics.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { DurableSessions } from '../../ingest/mqtt-sessions/durable-sessions.ts'
import { UserTopics } from '../../ingest/pipeline/topic-directory.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { loadTopics } from '../../streams/data-streams/stream-topics.ts'
import { loadFleets } from '../../streams/fleets/fleet-store.ts'

/** Users, or devices, that are asked for in one query. */
const atOnce = 500

/**
 * Takes away what is kept for users who are no more: they were deleted while no service ran, or a
 * crash came before their sessions went.
 */
export async function forgetDeletedUsers(
  state: StateDatabase,
  sessions: DurableSessions,
): Promise<void> {
  const userIds = [...sessions.userIds()]
  for (let at = 0; at < userIds.length; at += atOnce) {
    const some = userIds.slice(at, at + atOnce)
    const rows = await state
      .selectFrom('users')
      .select('id')
      .where('id', 'in', some)
      .where('deleted_at', 'is', null)
      .execute()
    const present = new Set(rows.map(({ id }) => id))
    for (const userId of some) if (!present.has(userId)) await sessions.forgetUser(userId)
  }
}

/** All topics that a user has given to streams and fleets. */
export async function loadUserTopics(state: StateDatabase, userId: UserId): Promise<UserTopics> {
  return new UserTopics(await loadTopics(state, userId), await loadFleets(state, userId))
}

/**
 * Takes away what is kept for subscribers of a stream that was deleted: of its own topics, and of those
 * that a `source.topic` of the user has made and that no stream takes any more. Filters of such topics
 * stay in their sessions, where nothing will match them.
 */
export async function forgetStream(
  state: StateDatabase,
  sessions: Pick<DurableSessions, 'forgetTopics'>,
  { ownerId, streamId }: { readonly ownerId: UserId; readonly streamId: StreamId },
): Promise<void> {
  const topics = await loadUserTopics(state, ownerId)
  const parts = ['data', 'events'] as const
  const ofStream = new Set(parts.map((part) => innerStreamTopic({ streamId, part }, ownerId)))
  const isTaken = new Map<string, boolean>()
  await sessions.forgetTopics(ownerId, (inner) => {
    if (ofStream.has(inner)) return true
    const topic = outerTopic(inner)
    // In the space for messages, or of another stream, or a filter.
    if (topic === inner || !mayBeOwnTopic(topic) || /[+#]/.test(topic)) return false
    const known =
      isTaken.get(topic) ?? topics.streamsOf(topic).length + topics.devicesOf(topic).length > 0
    isTaken.set(topic, known)
    return !known
  })
}

/**
 * Ends the sessions of devices that cannot come back: they were deleted, or revoked.
 *
 * @param only the one that something has happened to; undefined: all of them
 */
export async function forgetEndedDevices(
  state: StateDatabase,
  sessions: Pick<DurableSessions, 'end' | 'identities'>,
  only?: string,
): Promise<void> {
  const found = sessions.identities().flatMap((identity) => {
    const { deviceId } = namesInside(identity.clientId)
    const isAsked = deviceId !== undefined && (only === undefined || deviceId === only)
    return isAsked ? [{ identity, deviceId }] : []
  })
  const ids = [...new Set(found.map(({ deviceId }) => deviceId))]
  const present = new Set<string>()
  for (let at = 0; at < ids.length; at += atOnce) {
    const rows = await state
      .selectFrom('devices')
      .select('id')
      .where('id', 'in', ids.slice(at, at + atOnce))
      .where('revoked_at', 'is', null)
      .execute()
    for (const { id } of rows) present.add(id)
  }
  for (const { identity, deviceId } of found) {
    if (!present.has(deviceId)) await sessions.end(identity)
  }
}
