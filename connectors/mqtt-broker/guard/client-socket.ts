import type { Duplex } from 'node:stream'

/** What carries the bytes of a client: a TCP or TLS socket, or a WebSocket. */
export interface ClientSocket extends Duplex {
  readonly remoteAddress?: string | undefined
  /** Called once the client is known, where somebody else than we keeps what is incomplete. */
  allowLargePackets?(): void
}
