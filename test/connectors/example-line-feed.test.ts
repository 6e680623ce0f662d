import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { lineFeed } from '../../examples/line-feed/line-feed.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { LineFeedServer } from '../support/line-feed-server.ts'

const feeds: LineFeedServer[] = []

afterEach(async () => {
  for (const feed of feeds.splice(0)) await feed[Symbol.asyncDispose]()
})

async function newPeer(): Promise<FetchedPeer> {
  const feed = await LineFeedServer.start()
  feeds.push(feed)
  return {
    connector: lineFeed,
    source: { protocol: 'lines', endpoint: `lines://127.0.0.1:${feed.port}` },
    ports: [feed.port],
    publish: async (payloads) => feed.publish(payloads),
    stop: () => feed.stop(),
    start: () => feed.start(),
  }
}

describe('the connector of docs/connectors.md', () => {
  connectorContract({ peer: newPeer, unacknowledgedMax: 1_000, hasPositions: true })

  test('is shown there as it is', () => {
    const page = readFileSync('docs/connectors.md', 'utf8')
    for (const file of ['line-feed.ts', 'source.ts']) {
      expect(page).toContain(readFileSync(`examples/line-feed/${file}`, 'utf8'))
    }
  })
})
