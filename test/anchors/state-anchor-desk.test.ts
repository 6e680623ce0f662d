import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeskRequest, SignedAnchors } from '../../src/anchors/pursuit/desk.ts'
import { OpenWork } from '../../src/anchors/pursuit/open-work.ts'
import { StateAnchorDesk } from '../../src/anchors/pursuit/state-anchor-desk.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Heights } from '../../src/ledgers/ledger.ts'
import { anchoredKinds } from '../../src/twins/anchored/anchored-kinds.ts'
import { AnchoredRows, cidOf, inclusionAt } from '../support/anchored-rows.ts'
import { Twins } from '../support/twins.ts'

const network = 'a network'
const account = 'ours'

let twins: Twins
let rows: AnchoredRows
let sequences = 0

beforeAll(async () => {
  twins = await Twins.open()
  rows = new AnchoredRows(twins.tests, twins.tests)
})

afterAll(async () => await twins[Symbol.asyncDispose]())

const notify = async () => () => undefined

const final = (hash: string) => ({ hash, to: 'final', inclusion: inclusionAt(1) }) as const

async function exchange(request: Partial<DeskRequest>): Promise<number> {
  const { state } = twins.tests
  const kinds = anchoredKinds({ lifecycle: twins.lifecycle, clock: systemClock })
  const desk = new StateAnchorDesk({ state, clock: systemClock, kinds, notify })
  const nothing = { signed: [], transactions: [], moved: [] }
  return (await desk.exchange({ network, account, ...nothing, ...request })).taken
}

/** An anchor with what is signed for it, under a sequence of its own: `hash 1`, then `hash 2` and so on. */
async function signedTimes(times: number) {
  const sequence = ++sequences
  const id = await rows.plan([cidOf(`${sequence}`)], { network, kind: 'nft' })
  const hash = (attempt: number) => `hash ${attempt} of ${sequence}`
  const signed = (attempt: number): SignedAnchors => ({
    transaction: { hash: hash(attempt), sequence, blob: '', text: '', terms: `${attempt}` },
    intentId: id,
    anchors: attempt === 1 ? [{ id, firstLeaf: 0 }] : [],
    ...(attempt > 1 && { isBump: true }),
  })
  for (let attempt = 1; attempt <= times; attempt++) {
    expect(await exchange({ signed: [signed(attempt)] })).toBe(1)
  }
  const { state } = twins.tests
  return {
    id,
    hash,
    signed,
    async named() {
      const one = state.selectFrom('anchors').select(['transaction_hash', 'state'])
      return await one.where('id', '=', id).executeTakeFirstOrThrow()
    },
    async states() {
      const all = state.selectFrom('anchor_transactions').select('state').orderBy('attempt')
      const found = await all.where('sequence', '=', sequence).execute()
      return found.map((row) => row.state)
    },
    async setState(to: string) {
      await twins.tests.commit(state.updateTable('anchors').set({ state: to }).where('id', '=', id))
    },
  }
}

describe('what is signed under better terms', () => {
  test('has the anchors name it, and is open beside what was signed before', async () => {
    const one = await signedTimes(2)
    expect(await one.named()).toEqual({ transaction_hash: one.hash(2), state: 'signed' })
    expect(await one.states()).toEqual(['open', 'open'])
  })

  test('is not taken once what was signed before has ended', async () => {
    const one = await signedTimes(1)
    await exchange({ transactions: [{ hash: one.hash(1), to: 'dead' }] })
    expect(await exchange({ signed: [one.signed(2)] })).toBe(0)
    expect(await one.states()).toEqual(['dead'])
  })

  test('takes no sequence of another intent', async () => {
    const [one, other] = [await signedTimes(1), await signedTimes(1)]
    const { sequence } = one.signed(1).transaction
    const { transaction, ...rest } = other.signed(2)
    const wrong = { ...rest, transaction: { ...transaction, sequence } }
    await expect(exchange({ signed: [wrong] })).rejects.toThrow(/has the transaction/)
  })
})

describe('a transaction that is there for good', () => {
  test('is named by the anchors, and the others of its sequence are dead', async () => {
    const one = await signedTimes(3)
    await exchange({ transactions: [final(one.hash(2))] })
    expect((await one.named()).transaction_hash).toBe(one.hash(2))
    expect(await one.states()).toEqual(['dead', 'final', 'dead'])
  })

  test('is named by what was done before with another one that the ledger has lost', async () => {
    const one = await signedTimes(1)
    await one.setState('completed')
    expect(await exchange({ signed: [one.signed(2)] })).toBe(1)
    expect((await one.named()).transaction_hash).toBe(one.hash(1))
    await exchange({ transactions: [final(one.hash(2))] })
    expect((await one.named()).transaction_hash).toBe(one.hash(2))
  })
})

describe('a transaction that can never get in', () => {
  test.each(['signed', 'error'])(
    'leaves anchors that are %s to the newest that can, and nothing is signed anew',
    async (state) => {
      const one = await signedTimes(3)
      await one.setState(state)
      await exchange({ transactions: [{ hash: one.hash(3), to: 'dead' }] })
      expect(await one.named()).toEqual({ transaction_hash: one.hash(2), state })
    },
  )

  test('with all others of its sequence leaves anchors to be signed anew', async () => {
    const one = await signedTimes(2)
    await one.setState('error')
    const transactions = [1, 2].map((attempt) => ({ hash: one.hash(attempt), to: 'dead' }) as const)
    await exchange({ transactions })
    expect(await one.named()).toEqual({ transaction_hash: null, state: 'error' })
  })
})

test('how far nodes were is kept with what was seen by then, and never goes down', async () => {
  const work = new OpenWork(twins.tests.state, 'another network')
  expect(await work.heights()).toBeUndefined()
  const at = async (heights: Heights | undefined) => {
    await exchange({ network: 'another network', heights })
    return await work.heights()
  }
  expect(await at({ head: 7, final: 3 })).toEqual({ head: 7, final: 3 })
  expect(await at({ head: 6, final: 4 })).toEqual({ head: 7, final: 4 })
  expect(await at(undefined)).toEqual({ head: 7, final: 4 })
})
