import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTransaction } from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import { ApiClient } from '../support/api-client.ts'
import { allSealed, type ListedSeal, provenBy, sealsOf } from '../support/seals.ts'
import { at } from '../support/seconds.ts'
import { XrplService } from '../support/xrpl-service.ts'

const network = 'xrpl:21342'

let service: XrplService
let api: ApiClient

beforeAll(async () => {
  service = await XrplService.start(21_342, {
    STREAMVAULT_SEAL_GRACE: '100ms',
    STREAMVAULT_SEAL_NETWORK: network,
  })
  service.fund()
  api = new ApiClient(service.process.http)
})

afterAll(async () => await service?.[Symbol.asyncDispose]())

/** Streams with readings of several stretches that are over. */
async function filled(count: number): Promise<readonly string[]> {
  const streams: string[] = []
  for (let made = 0; made < count; made++) {
    const schema = { temperature: { type: 'number' } }
    const streamId = await api.createStream(schema, { processing: { seal: '15m' } })
    const readings = [0, 1, 900, 4_000].map((second) => ({ timestamp: at(second), temperature: 1 }))
    await api.withToken('POST', `/streams/${streamId}/data`, readings)
    await api.settled(streamId, readings.length)
    streams.push(streamId)
  }
  return streams
}

/** Transactions of roots on the ledger. */
const roots = () =>
  service.node.chain
    .validated()
    .map(({ blob }) => ({ hash: blob.hash, deed: readTransaction(blob.text)?.deed }))
    .filter(({ deed }) => deed?.kind === 'root')

test('seals of several streams get onto the network that is set for them, with few transactions', async () => {
  const streams = await filled(4)
  const seals: ListedSeal[] = []
  for (const streamId of streams) {
    for (const seal of await allSealed(api, streamId)) {
      expect(seal.proof?.proof).toMatchObject({ network, final: true })
      // Keys of a network are not on its proofs: who checks asks a node.
      expect((await provenBy(seal, streamId)).is).toBe('unreachable')
      seals.push(seal)
    }
  }

  expect(seals).toHaveLength(12)
  const hashes = new Set(seals.map((seal) => seal.tx_hash))
  expect(hashes.size).toBeLessThan(seals.length)
  const batches = new Set(seals.map((seal) => seal.proof?.batch.text))
  expect(roots().map(({ hash }) => hash)).toEqual(expect.arrayContaining([...hashes]))
  expect(roots().length).toBeLessThanOrEqual(batches.size)
})

test('a batch that the network refuses has failed, and its seals say so', async () => {
  service.node.answersEach = 'temREDUNDANT'
  const [streamId = ''] = await filled(1)
  const statuses = async () => (await sealsOf(api, streamId)).seals.map(({ status }) => status)
  await expect.poll(async () => new Set(await statuses())).toEqual(new Set(['FAILED']))
  service.node.answersEach = undefined

  const [other = ''] = await filled(1)
  expect((await allSealed(api, other)).map(({ status }) => status)).toEqual([
    'COMPLETED',
    'COMPLETED',
    'COMPLETED',
  ])
})
