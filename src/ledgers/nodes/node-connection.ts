import { HttpConnection } from './http-connection.ts'
import { SocketConnection } from './socket-connection.ts'
import type { NodeConnection, Wording } from './wording.ts'

/**
 * Opens what an address begins with: `http:`, `https:`, `ws:` or `wss:`. Nothing is sent before something is asked, and no library of a
 * network is loaded. The operator names the nodes, so the egress guard, which is for what users name, does not look at them.
 */
export function connectionTo<Call, Answer>(
  endpoint: string,
  wording: Wording<Call, Answer>,
): NodeConnection<Call, Answer> {
  return /^wss?:/i.test(endpoint)
    ? new SocketConnection(endpoint, wording)
    : new HttpConnection(endpoint, wording)
}
