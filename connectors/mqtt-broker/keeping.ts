import type { PublishPacket } from 'aedes'
import type {
  LeftWill,
  MqttSessions,
  SessionRules,
} from '../../src/ingest/mqtt-sessions/mqtt-sessions.ts'
import type { MqttCaller } from './caller.ts'
import { namesOfClient } from './client-ids.ts'
import type { MqttPublisherNeeds, Publisher } from './publisher.ts'
import type { Rights } from './rights.ts'
import type { Session, Sessions } from './sessions.ts'
import { outerTopic, ownerOfTopic, spaceOf } from './topics.ts'

export interface MqttKeepingNeeds {
  /** Where the broker keeps what has to outlive it. */
  readonly kept: MqttSessions
  /** What a key may do now; undefined when it is good no more. */
  readonly callerOfKey: (apiKeyId: string) => Promise<MqttCaller | undefined>
}

/** Whose is what, for those who keep sessions and know nothing of users and streams. */
export function sessionRules(sessions: Sessions, rights: Rights): SessionRules {
  return {
    identify: namesOfClient,
    ownerOf: ownerOfTopic,
    nameFor(client, topic) {
      const session = sessions.of(client)
      const name = outerTopic(topic)
      return session && rights.mayReceive(session, name) ? name : undefined
    },
    apiKeyOf: (client) => sessions.of(client)?.apiKeyId,
  }
}

/**
 * Publishes the wills of clients that were connected when the service was killed (section 3.1.2.5),
 * each as far as its key may still do that.
 */
export async function publishLeftWills(
  { kept, callerOfKey, onFailure }: MqttKeepingNeeds & Pick<MqttPublisherNeeds, 'onFailure'>,
  publisher: Publisher,
): Promise<void> {
  const publish = async (will: LeftWill) => {
    const caller = await callerOfKey(will.apiKeyId)
    if (caller?.userId === will.userId) {
      await publisher.publishWill(goneSession(will, caller), packetOf(will))
    }
    await kept.dropWill(will.brokerClientId)
  }
  for (const outcome of await Promise.allSettled(kept.leftWills().map(publish))) {
    // The will stays for the next start.
    if (outcome.status === 'rejected') onFailure(outcome.reason)
  }
}

function goneSession({ clientId }: LeftWill, caller: MqttCaller): Session {
  return {
    ...caller,
    clientId,
    space: spaceOf(caller),
    source: `mqtt client '${clientId}', its will`,
    connection: undefined,
    connectedAtUs: 0,
    route: undefined,
    drops: { sinceMs: 0, count: 0 },
    lookingUp: undefined,
    hasEnded: false,
  }
}

function packetOf({ topic, payload, qos, retain }: LeftWill): PublishPacket {
  return { cmd: 'publish', topic, payload, qos, retain, dup: false }
}
