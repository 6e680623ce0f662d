import { afterEach, describe } from 'vitest'
import { sse } from '../../connectors/web-events/sse.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { SsePeer } from '../support/sse-peer.ts'

const peers: SsePeer[] = []

afterEach(async () => {
  for (const peer of peers.splice(0)) await peer[Symbol.asyncDispose]()
})

async function newPeer(): Promise<FetchedPeer> {
  const peer = await SsePeer.start()
  peers.push(peer)
  return {
    connector: sse,
    source: peer.source,
    ports: peer.ports,
    publish: (payloads) => peer.publish(payloads),
    stop: () => peer.stop(),
    start: () => peer.start(),
  }
}

describe('events that a server sends', () => {
  connectorContract({
    peer: newPeer,
    unacknowledgedMax: 1_000,
    hasPositions: true,
    carries: 'texts',
  })
})
