import { randomUUID } from 'node:crypto'
import type { UserId } from '../src/core/ids.ts'

/** What stands in front of a client's own id within the broker: the id of its user, and a slash. */
const prefixLength = 37

/** Characters of a client id in MQTT 3.1, section 3.1, as the broker sees it. */
export const oldClientIdLengthMax = 23 + prefixLength

/**
 * The id of a client within the broker. It tells users apart who have chosen the same client id, so
 * that they do not end each other's connections and do not get each other's messages.
 */
export function innerClientId(userId: UserId, clientId: string): string {
  // Nobody can come back to a session without a name: it is only known to this connection.
  return `${userId}/${clientId === '' ? `nameless-${randomUUID()}` : clientId}`
}
