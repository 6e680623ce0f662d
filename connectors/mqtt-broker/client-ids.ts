import { randomUUID } from 'node:crypto'
import { parseId, type UserId } from '../../src/core/ids.ts'
import type { MqttCaller, MqttDevice } from './caller.ts'

/** What stands in front of a client's own id within the broker, at most: see `innerClientId`. */
const userIdLength = 36
const prefixLength = userIdLength + 1 + 32

/** Characters of a client id in MQTT 3.1, section 3.1, as the broker sees it. */
export const oldClientIdLengthMax = 23 + prefixLength

/** Whose a client is: a user's, or a device's of that user. */
interface ClientOwner extends Pick<MqttCaller, 'userId'> {
  readonly device?: Pick<MqttDevice, 'id'> | undefined
}

/**
 * The id of a client within the broker. It tells users apart who have chosen the same client id, so
 * that they do not end each other's connections and do not get each other's messages. Devices of one user
 * are told apart as well: `{userId}/{deviceId}/...`, which no id that the user's clients choose looks like.
 */
export function innerClientId({ userId, device }: ClientOwner, clientId: string): string {
  // A session without a name is only known to this connection: nobody can come back to it.
  const name = clientId === '' ? `nameless-${randomUUID()}` : clientId
  if (device !== undefined) return `${userId}/${device.id}/${name}`
  return name.includes('/') ? `${userId}//${name}` : `${userId}/${name}`
}

/** What a client calls itself, and the device that it is, by the rest of its id within the broker. */
export function namesInside(rest: string): {
  readonly clientId: string
  readonly deviceId: string | undefined
} {
  const slash = rest.indexOf('/')
  const deviceId = slash > 0 ? rest.slice(0, slash) : undefined
  return { clientId: slash < 0 ? rest : rest.slice(slash + 1), deviceId }
}

/** The user and the rest of an id within the broker; undefined for a client that was not let in. */
export function namesOfClient(
  innerId: string,
): { readonly userId: UserId; readonly clientId: string } | undefined {
  const userId = parseId<UserId>(innerId.slice(0, userIdLength))
  return userId && { userId, clientId: innerId.slice(userIdLength + 1) }
}
