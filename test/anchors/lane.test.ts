import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { anchorIdOf } from '../../src/anchors/intents/anchor-id.ts'
import { retriedAnchors } from '../../src/anchors/intents/retried-anchors.ts'
import { AnchorProofs, proofOfRecord } from '../../src/anchors/proofs/anchor-proofs.ts'
import { Lane } from '../../src/anchors/pursuit/lane.ts'
import { OpenWork } from '../../src/anchors/pursuit/open-work.ts'
import { abandonOtherAccounts } from '../../src/anchors/pursuit/sequences.ts'
import { StateAnchorDesk } from '../../src/anchors/pursuit/state-anchor-desk.ts'
import { systemClock } from '../../src/core/clock.ts'
import { type AnchorId, newId } from '../../src/core/ids.ts'
import { type Ledger, LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import { checkProof } from '../../src/ledgers/proofs/check-proof.ts'
import { anchoredKinds } from '../../src/twins/anchored/anchored-kinds.ts'
import { AnchoredRows, cidOf } from '../support/anchored-rows.ts'
import { openSandbox, putOn, signedBy } from '../support/sandbox-ledger.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { Twins } from '../support/twins.ts'

const dayUs = 86_400_000_000
const waitMs = 10_000

let folder: TemporaryFolder
let twins: Twins
let rows: AnchoredRows
let ledger: Ledger
let ends: (() => Promise<void>)[]

beforeEach(async () => {
  folder = new TemporaryFolder()
  twins = await Twins.open()
  rows = new AnchoredRows(twins.tests, twins.tests)
  ledger = await openSandbox(folder.file('ledger'))
  ends = []
})

afterEach(async () => {
  for (const end of ends) await end()
  await ledger.close()
  await twins[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const notify = async () => () => undefined

const desk = () => {
  const { state } = twins.tests
  const kinds = anchoredKinds({ lifecycle: twins.lifecycle, clock: systemClock })
  return new StateAnchorDesk({ state, clock: systemClock, kinds, notify })
}

interface Wishes {
  readonly open?: () => Promise<Ledger>
  readonly patienceUs?: number
}

/** A lane that runs until the test ends. */
function laneOf({ open = async () => ledger, patienceUs = dayUs }: Wishes = {}) {
  const stopping = new AbortController()
  const lane = new Lane({
    network: 'sandbox',
    open,
    work: new OpenWork(twins.tests.state, 'sandbox'),
    desk: desk(),
    clock: systemClock,
    rules: { patienceUs, retryUsMin: 20_000, retryUsMax: 100_000 },
    random: () => 0.5,
    onFailure: (error) => failures.push(error),
  })
  const failures: unknown[] = []
  const running = lane.run(stopping.signal)
  ends.push(async () => {
    stopping.abort()
    lane.wake()
    await running
    expect(failures).toEqual([])
  })
  return lane
}

/** The ledger, which is down as long as that is wanted. */
function downWhile(isDown: () => boolean): Ledger {
  const down = async () => {
    if (isDown()) throw new LedgerUnreachable('it is down')
  }
  return Object.create(ledger, {
    sight: { value: async (hash: string) => (await down(), await ledger.sight(hash)) },
    submit: { value: async (blob: string) => (await down(), await ledger.submit(blob)) },
    nextSequence: { value: async () => await ledger.nextSequence() },
    find: { value: async (ids: readonly string[]) => await ledger.find(ids) },
    prepare: { value: ledger.prepare.bind(ledger) },
    sign: { value: ledger.sign.bind(ledger) },
    betterTerms: { value: ledger.betterTerms.bind(ledger) },
    changed: { value: ledger.changed.bind(ledger) },
    account: { value: ledger.account },
    distributionWallet: { value: ledger.distributionWallet },
  }) as Ledger
}

async function anchor(id: string) {
  const anchors = twins.tests.state.selectFrom('anchors').selectAll()
  return await anchors.where('id', '=', id).executeTakeFirstOrThrow()
}

async function untilState(id: string, state: string) {
  const deadlineMs = performance.now() + waitMs
  for (;;) {
    const row = await anchor(id)
    if (row.state === state) return row
    if (performance.now() > deadlineMs) throw new Error(`it is ${JSON.stringify(row)}`)
    await sleep(10)
  }
}

async function begunAgo(agoUs: number): Promise<void> {
  const begunAtUs = systemClock.steadyUs() - agoUs
  await twins.tests.state.updateTable('anchors').set({ begun_at: begunAtUs }).execute()
  await twins.tests.state.updateTable('anchor_transactions').set({ signed_at: begunAtUs }).execute()
}

async function progressOf(vaultId: string): Promise<string> {
  const vault = twins.tests.state.selectFrom('vaults').select('progress').where('id', '=', vaultId)
  return (await vault.executeTakeFirstOrThrow()).progress
}

describe('what was there before there were anchors', () => {
  test('is found on the ledger, although it is planned after rows and ledger were compared', async () => {
    const first = await rows.plan([cidOf('first')])
    const lane = laneOf()
    await untilState(first, 'completed')
    const [resourceId, cid] = [newId<AnchorId>(), cidOf('earlier')]
    const id = anchorIdOf(resourceId, 'creation')
    const leaves = [{ intentId: id, cid }]
    const { root } = MerkleTree.over([cid])
    const { transaction } = await putOn(ledger, { intentId: id, kind: 'root', root, leaves })

    await rows.plan([cid], { resourceId, isQuiet: true })
    lane.wake()

    expect((await untilState(id, 'completed')).transaction_hash).toBe(transaction.hash)
  })
})

describe('a transaction that was found on the ledger', () => {
  test('has its proofs, although some of its leaves are of what is not there any more', async () => {
    const [resourceId, cid] = [newId<AnchorId>(), cidOf('known')]
    const id = await rows.plan([cid], { resourceId })
    const leaves = [
      { intentId: 'gone', cid: cidOf('gone') },
      { intentId: id, cid },
      { intentId: 'gone, too', cid: cidOf('gone, too') },
    ]
    const { root } = MerkleTree.over(leaves.map((leaf) => leaf.cid))
    const { transaction } = await putOn(ledger, { intentId: 'all', kind: 'root', root, leaves })
    laneOf()

    expect((await untilState(id, 'completed')).transaction_hash).toBe(transaction.hash)

    const record = await new AnchorProofs(twins.tests.state).ofResource(resourceId)
    const proof = record && proofOfRecord(record, { isAlone: false })
    expect(checkProof(proof, { cids: [cid], trustedKeys: new Set() })).toMatchObject({
      is: 'proven_under_key',
      txHash: transaction.hash,
    })
  })
})

describe('time that passed while nothing ran', () => {
  test('gives nothing up that is tried again', async () => {
    const vaultId = await twins.newVault()
    const { id } = await rows.madeWith(vaultId)
    await begunAgo(2 * dayUs)
    let opened = 0
    const open = async () => {
      if (opened++ === 0) throw new LedgerUnreachable('it is down')
      return ledger
    }
    laneOf({ open })

    await untilState(id, 'completed')

    expect(await progressOf(vaultId)).not.toContain('ERROR')
  })
})

describe('a ledger that is older than its state, by more than it is waited for', () => {
  test('gets all again, and what is new after that', async () => {
    const first = await rows.plan([cidOf('first')])
    laneOf()
    const { transaction_hash: hash } = await untilState(first, 'completed')
    for (const end of ends.splice(0)) await end()
    await begunAgo(2 * dayUs)
    await ledger.close()
    rmSync(folder.file('ledger/chain.jsonl'))
    rmSync(folder.file('ledger/index.db'))
    ledger = await openSandbox(folder.file('ledger'))
    const second = await rows.plan([cidOf('second')])
    laneOf()

    await untilState(second, 'completed')

    expect(await ledger.sight(hash ?? '')).toMatchObject({ is: 'included' })
  })
})

describe('a ledger that was down for longer than it is waited for', () => {
  test('takes what was signed, once somebody asks for it again', async () => {
    let isDown = true
    const vaultId = await twins.newVault()
    const { id } = await rows.madeWith(vaultId)
    const down = downWhile(() => isDown)
    const lane = laneOf({ open: async () => down, patienceUs: 200_000 })
    await untilState(id, 'error')
    isDown = false
    await twins.tests.commit(retriedAnchors(twins.needs, vaultId))
    lane.wake()

    await untilState(id, 'completed')
  })

  test('still gets an image that came later, which nobody could ask for again', async () => {
    let isDown = true
    const vaultId = await twins.newVault()
    const { id } = await rows.madeWith(vaultId)
    const image = { resourceType: 'vault', resourceId: vaultId, operation: 'image:1' } as const
    const later = await rows.plan([cidOf('image')], image)
    const open = async () => {
      if (isDown) throw new LedgerUnreachable('it is down')
      return ledger
    }
    laneOf({ open, patienceUs: 100_000 })
    await untilState(id, 'error')
    isDown = false

    await untilState(later, 'completed')
  })
})

const network = 'sandbox'

/** Signs an anchor under a sequence, as a lane does, and does not send it. */
async function signed(id: string, cid: string, by: Ledger, sequence: number): Promise<string> {
  const leaves = [{ intentId: id, cid }]
  const { root } = MerkleTree.over([cid])
  const transaction = await signedBy(by, { intentId: id, kind: 'root', root, leaves }, sequence)
  const one = { transaction, intentId: id, anchors: [{ id, firstLeaf: 0 }] }
  const request = { network, account: by.account, signed: [one], transactions: [], moved: [] }
  expect(await desk().exchange(request)).toEqual({ taken: 1, isMore: false })
  return transaction.hash
}

describe('a state and a ledger that have gone on without each other', () => {
  test('come together: what the ledger has is taken, and what it has in our place is signed anew', async () => {
    const [ours, theirs] = [await rows.plan([cidOf('ours')]), await rows.plan([cidOf('theirs')])]
    const hash = await signed(ours, cidOf('ours'), ledger, 1)
    const cid = cidOf('theirs')
    const { root } = MerkleTree.over([cid])
    const leaves = [{ intentId: theirs, cid }]
    const { transaction } = await putOn(ledger, { intentId: theirs, kind: 'root', root, leaves })
    laneOf()

    expect((await untilState(theirs, 'completed')).transaction_hash).toBe(transaction.hash)
    const done = await untilState(ours, 'completed')
    expect(done.transaction_hash).not.toBe(hash)
  })
})

describe('a ledger that was begun anew with other keys', () => {
  test('gets what was under way for the one before', async () => {
    const id = await rows.plan([cidOf('lost')])
    const before = await openSandbox(folder.file('before'))
    const hash = await signed(id, cidOf('lost'), before, 1)
    await before.close()
    const anew = Object.create(ledger, { account: { value: 'another' } }) as Ledger
    expect(before.account === anew.account).toBe(false)
    const work = new OpenWork(twins.tests.state, network)
    const pursuing = { network, work, desk: desk() }

    expect(await abandonOtherAccounts(pursuing, anew)).toBe(1)
    expect(await abandonOtherAccounts(pursuing, anew)).toBe(0)
    laneOf()

    expect((await untilState(id, 'completed')).transaction_hash).not.toBe(hash)
  })
})
