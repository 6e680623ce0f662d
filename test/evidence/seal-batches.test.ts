import { afterEach, beforeEach, expect, test } from 'vitest'
import { AnchorProofs } from '../../src/anchors/proofs/anchor-proofs.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { batchSealsMax, closeBatch, retryBatches } from '../../src/evidence/seals/seal-batches.ts'
import { SealStore } from '../../src/evidence/seals/seal-store.ts'
import { leafHash, rootBy } from '../../src/ledgers/merkle/merkle.ts'
import { parseBatchText } from '../../src/ledgers/seals/seal-text.ts'
import { streamWithVersions } from '../support/sealed-streams.ts'
import { TestState } from '../support/test-state.ts'

const quarterUs = 900_000_000
const clock = { nowUs: () => 1_767_225_600_000_000, steadyUs: () => 7 }
const ledger = { ledger: 'XRPL', network: 'sandbox' } as const

let tests: TestState
let streamId: StreamId

beforeEach(async () => {
  tests = await TestState.open()
  streamId = newId<StreamId>()
  await streamWithVersions(tests, streamId, [{ seal: '15m' }])
})

afterEach(async () => {
  await tests[Symbol.asyncDispose]()
})

/** Makes so many seals, each of another stretch. */
async function sealed(count: number): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => ({
      stream_id: streamId,
      start_us: (from + index) * quarterUs,
      width_us: quarterUs,
      revision: 1,
      count: 1,
      root: leafHash(String(from + index)).toString('hex'),
      previous: null,
      chunks: Buffer.alloc(0),
      sealed_at: 0,
      batch_id: null,
      batch_index: null,
      batch_path: null,
    }))
    await tests.commit(tests.state.insertInto('seals').values(rows))
  }
}

function close() {
  return closeBatch({ state: tests.state, clock, ledger })
}

test('of more seals than a batch may have the first ones are in it, and the others in the next', async () => {
  await sealed(batchSealsMax + 1)

  expect([await close(), await close(), await close()]).toEqual([batchSealsMax, 1, 0])

  const store = new SealStore(tests.state, new AnchorProofs(tests.state))
  const all = { startUs: 0, endUs: Number.MAX_SAFE_INTEGER, after: undefined, limit: 10_000 }
  const seals = await store.list(streamId, all)
  const shown = [0, 1, batchSealsMax - 1, batchSealsMax].map((at) => seals[at] as (typeof seals)[0])
  for (const { proof } of await store.progressOf(shown)) {
    const { text = '', batch } = proof ?? {}
    const root = rootBy(leafHash(text), batch?.path ?? { index: 0, size: 0, hashes: [] })
    expect(root?.toString('hex')).toBe(parseBatchText(batch?.text ?? '')?.root)
  }
  expect(new Set(seals.map(({ batchId }) => batchId)).size).toBe(2)
})

test('a batch that was not anchored in time is tried again, and one that is refused is not', async () => {
  const { state } = tests
  await sealed(1)
  await close()
  const set = (to: string) => state.updateTable('anchors').set({ state: to }).execute()
  const anchors = () => state.selectFrom('anchors').select(['state', 'begun_at']).execute()
  await set('failed')
  expect(await retryBatches(state, clock)).toBe(0)
  await set('error')

  expect(await retryBatches(state, { steadyUs: () => 8 })).toBe(1)

  expect(await anchors()).toEqual([{ state: 'waiting', begun_at: 8 }])
  expect(await retryBatches(state, clock)).toBe(0)
})

test('a batch is known by its seals: the same ones again have the same anchor', async () => {
  await sealed(3)
  await close()
  const first = await tests.state.selectFrom('anchors').select('id').execute()
  await tests.state.deleteFrom('anchors').execute()
  await tests.state.deleteFrom('anchor_leaves').execute()
  await tests.state.deleteFrom('seal_batches').execute()
  await tests.state.updateTable('seals').set({ batch_id: null }).execute()
  await close()

  expect(await tests.state.selectFrom('anchors').select('id').execute()).toEqual(first)
})
