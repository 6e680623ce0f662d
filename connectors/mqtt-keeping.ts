import type { PublishPacket } from 'aedes'
import type { LeftWill, MqttSessions, SessionRules } from '../src/mqtt-sessions/mqtt-sessions.ts'
import type { MqttCaller } from './mqtt-caller.ts'
import { namesOfClient } from './mqtt-client-ids.ts'
import type { MqttPublisherNeeds, Publisher } from './mqtt-publisher.ts'
import type { Session, Sessions } from './mqtt-sessions.ts'
import { spaceOf, spaceOwnerOf, streamTopicOf } from './mqtt-topics.ts'

export interface MqttKeepingNeeds {
  /** Where the broker keeps what has to outlive it. */
  readonly kept: MqttSessions
  /** What a key may do now; undefined when it is good no more. */
  readonly callerOfKey: (apiKeyId: string) => Promise<MqttCaller | undefined>
}

/** Whose is what, for those who keep sessions and know nothing of users and streams. */
export function sessionRules(
  sessions: Sessions,
  streams: MqttPublisherNeeds['streams'],
): SessionRules {
  return {
    identify: namesOfClient,
    ownerOf(topic) {
      const stream = streamTopicOf(topic)
      // Who has just published or subscribed has made the stream be at hand.
      return stream ? streams.cached(stream.streamId)?.ownerId : spaceOwnerOf(topic)
    },
    mayReceive(client) {
      const session = sessions.of(client)
      return session !== undefined && session.maySubscribe && !session.hasEnded
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
  passOn: (packet: PublishPacket) => Promise<void>,
): Promise<void> {
  const publish = async (will: LeftWill) => {
    const caller = await callerOfKey(will.apiKeyId)
    if (caller?.userId === will.userId) {
      await publisher.publishWill(goneSession(will, caller), packetOf(will), passOn)
    }
    await kept.dropWill(will.brokerClientId)
  }
  for (const outcome of await Promise.allSettled(kept.leftWills().map(publish))) {
    // It stays for the next start.
    if (outcome.status === 'rejected') onFailure(outcome.reason)
  }
}

function goneSession({ clientId }: LeftWill, caller: MqttCaller): Session {
  return {
    ...caller,
    clientId,
    connection: undefined,
    space: spaceOf(caller),
    source: `mqtt client '${clientId}', its will`,
    topic: '',
    streamId: undefined,
    lookingUp: undefined,
    hasEnded: false,
  }
}

function packetOf({ topic, payload, qos, retain }: LeftWill): PublishPacket {
  return { cmd: 'publish', topic, payload, qos, retain, dup: false }
}
