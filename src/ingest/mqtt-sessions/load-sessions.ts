import type { MessageQueues } from './message-queues.ts'
import type { RetainedMessages } from './retained-messages.ts'
import { type Message, Session } from './session.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { StoredSessions } from './sessions-file.ts'
import type { SessionsLog } from './sessions-log.ts'
import type { Wills } from './wills.ts'

interface Loaded {
  readonly log: SessionsLog
  readonly registry: SessionRegistry
  readonly queues: MessageQueues
  readonly retained: RetainedMessages
  readonly wills: Wills
}

/** Puts into memory what is on disk. */
export function loadSessions(parts: Loaded, stored: StoredSessions): void {
  const { registry, retained, wills } = parts
  const sessions = new Map<number, Session>()
  for (const row of stored.sessions) {
    const session = new Session({
      number: Number(row['number']),
      userId: String(row['user_id']),
      clientId: String(row['client_id']),
      createdAtUs: Number(row['created_at']),
      usedAtUs: Number(row['last_used_at']),
    })
    sessions.set(session.number, session)
    registry.add(session)
  }
  for (const row of stored.subscriptions) {
    const session = sessions.get(Number(row['session']))
    if (session) registry.subscribe(session, String(row['filter']), Number(row['qos']))
  }
  loadQueues(parts, stored, sessions)
  for (const row of stored.received) {
    const isTaken = row['is_taken'] === 1
    sessions.get(Number(row['session']))?.received.set(Number(row['packet_id']), {
      receivedAtUs: Number(row['received_at']),
      isTaken,
      isTakenOnDisk: isTaken,
    })
  }
  for (const row of stored.retained) {
    const [topic, payload] = [String(row['topic']), row['payload'] as Uint8Array]
    retained.put(String(row['user_id']), { topic, payload, qos: qosOf(row['qos']) })
  }
  for (const row of stored.wills) {
    wills.restore({
      brokerClientId: String(row['broker_client_id']),
      userId: String(row['user_id']),
      clientId: String(row['client_id']),
      apiKeyId: String(row['api_key_id']),
      topic: String(row['topic']),
      payload: Buffer.from(row['payload'] as Uint8Array),
      qos: qosOf(row['qos']),
      retain: row['retain'] === 1,
    })
  }
}

function loadQueues(
  { log, queues }: Loaded,
  stored: StoredSessions,
  sessions: ReadonlyMap<number, Session>,
): void {
  const messages = new Map<number, Message>()
  for (const row of stored.messages) {
    const [number, payload] = [Number(row['number']), row['payload'] as Uint8Array]
    messages.set(number, { number, topic: String(row['topic']), payload, holders: 0 })
  }
  for (const row of stored.queue) {
    const session = sessions.get(Number(row['session']))
    const isReleased = row['is_released'] === 1
    const message = isReleased ? undefined : messages.get(Number(row['message']))
    if (!session || (!isReleased && !message)) continue
    queues.restore(session, {
      packetId: Number(row['packet_id']),
      position: Number(row['position']),
      qos: row['qos'] === 2 ? 2 : 1,
      retain: row['retain'] === 1,
      message,
      isDurable: true,
      // Nobody knows: DUP says that it might be so ([MQTT-3.3.1-1]).
      wasSent: true,
      isInFlight: false,
    })
  }
  // A crash can come before a message goes that its last session has let go of.
  for (const { number, holders } of messages.values()) {
    if (holders === 0) log.writeLater(['dropMessage', number])
  }
}

function qosOf(value: unknown): 0 | 1 | 2 {
  return value === 2 ? 2 : value === 1 ? 1 : 0
}
