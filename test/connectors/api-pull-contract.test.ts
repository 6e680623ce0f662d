import { afterEach, describe } from 'vitest'
import { apiPull } from '../../connectors/api-pull/api-pull.ts'
import { scheduled } from '../../src/streams/sources/schedules/scheduled-source.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { ApiPeer } from '../support/api-peer.ts'

const peers: ApiPeer[] = []

afterEach(async () => {
  for (const peer of peers.splice(0)) await peer[Symbol.asyncDispose]()
})

async function newPeer(): Promise<FetchedPeer> {
  const peer = await ApiPeer.start()
  peers.push(peer)
  return {
    connector: scheduled(apiPull),
    source: peer.source,
    ports: peer.ports,
    publish: (payloads) => peer.publish(payloads),
    stop: () => peer.stop(),
    start: () => peer.start(),
  }
}

describe('a pull from an API', () => {
  // Each message of this peer is a page, and a page is durable before the next one is asked for.
  connectorContract({ peer: newPeer, unacknowledgedMax: 1, hasPositions: true })
})
