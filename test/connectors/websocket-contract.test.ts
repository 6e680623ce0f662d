import { afterEach, describe } from 'vitest'
import { webSocket } from '../../connectors/web-events/web-socket.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { WebSocketPeer } from '../support/web-socket-peer.ts'

const peers: WebSocketPeer[] = []

afterEach(async () => {
  for (const peer of peers.splice(0)) await peer[Symbol.asyncDispose]()
})

async function newPeer(hasMemory: boolean): Promise<FetchedPeer> {
  const peer = await WebSocketPeer.start({ hasMemory })
  peers.push(peer)
  return {
    connector: webSocket,
    source: peer.source,
    ports: peer.ports,
    publish: (payloads) => peer.publish(payloads),
    stop: () => peer.stop(),
    start: () => peer.start(),
  }
}

const unacknowledgedMax = 1_000

describe('a WebSocket whose server is asked for what is behind a cursor', () => {
  connectorContract({ peer: () => newPeer(true), unacknowledgedMax, hasPositions: true })
})

describe('a WebSocket whose server has sent what it has sent', () => {
  connectorContract({ peer: () => newPeer(false), unacknowledgedMax, redelivers: false })
})
