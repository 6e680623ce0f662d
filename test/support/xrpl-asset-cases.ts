import { expect } from 'vitest'
import { Wallet } from 'xrpl'
import { anchorIdOf } from '../../src/anchors/intents/anchor-id.ts'
import type { XrplLane } from './xrpl-lane.ts'
import type { XrplLaneCase } from './xrpl-lane-cases.ts'
import { seeds } from './xrpl-ledger.ts'

const minuteUs = 60_000_000

/** More than the steps of an asset take. */
const ledgersMax = 40

/** Something that happens while an asset is issued; it must hold also when both lanes are killed at any step. Each by a whole title. */
export const xrplAssetCases: Readonly<Record<string, XrplLaneCase>> = {
  'an asset': async (lane) => {
    await lane.fundDistributor()
    await lane.issue('GOLD')
    await lane.finish()
    await expectIssued(lane)
    return undefined
  },

  'two assets, and a token between them': async (lane) => {
    await lane.fundDistributor()
    await lane.issue('GOLD')
    await lane.plan('one')
    await lane.issue('SILVER')
    await lane.finish()
    await expectIssued(lane, 2)
    return undefined
  },

  'answers that are lost, to each step of an asset': async (lane) => {
    await lane.fundDistributor()
    await lane.issue('GOLD')
    await eachLedger(lane, () => (lane.node.cut = 'after'))
    await lane.finish()
    await expectIssued(lane)
    return undefined
  },

  'nodes that forget each step of an asset until it is over': async (lane) => {
    const { chain } = lane
    await lane.fundDistributor()
    await lane.issue('GOLD')
    const forgotten = new Set<unknown>()
    await eachLedger(lane, () => {
      const types = chain.waiting.map(({ said }) => said['TransactionType'])
      if (types.every((type) => forgotten.has(type))) return
      for (const type of types) forgotten.add(type)
      chain.dropWaiting()
      chain.closeMany(50)
    })
    await lane.finish()
    expect(forgotten.size).toBe(3)
    await expectIssued(lane)
    return undefined
  },

  'a distributor that nobody has funded for an hour': async (lane) => {
    const asset = await lane.issue('GOLD')
    await lane.pass(60 * minuteUs, { everyUs: minuteUs, before: () => lane.chain.closeMany(15) })
    const account = await lane.account('distributor')
    expect(await statesOf(lane, asset)).toEqual({ creation: 'completed', authorization: 'waiting' })
    expect(lane.figures?.problem).toBe(`${account} is not an account yet: it has to be funded`)
    await lane.fundDistributor()
    await lane.finish()
    await expectIssued(lane)
    return undefined
  },

  'a distributor that has no key for an hour': async (lane) => {
    lane.hasDistributor = false
    await lane.fundDistributor()
    const asset = await lane.issue('GOLD')
    await lane.pass(60 * minuteUs, { everyUs: minuteUs, before: () => lane.chain.closeMany(15) })
    expect(await statesOf(lane, asset)).toEqual({ creation: 'completed', authorization: 'waiting' })
    expect(lane.figures?.problem).toBe('there is no key of the distributor')
    lane.hasDistributor = true
    await lane.finish()
    await expectIssued(lane)
    return undefined
  },

  'an authorization that fails on the ledger': async (lane) => {
    const { chain } = lane
    await lane.fundDistributor()
    const asset = await lane.issue('GOLD')
    await eachLedger(lane, () => {
      for (const { hash, said } of chain.waiting) {
        if (said['TransactionType'] === 'MPTokenAuthorize') chain.failures.set(hash, 'tecNO_AUTH')
      }
    })
    await lane.finish()
    expect(await statesOf(lane, asset)).toEqual({ creation: 'completed', authorization: 'failed' })
    const [row] = await lane.assets()
    const message = 'the network refuses it: tecNO_AUTH'
    expect(row?.status).toBe('FAILED')
    expect(JSON.parse(row?.failure ?? '')).toEqual({ error: 'ledger_refused', message })
    return [anchorIdOf(asset, 'authorization')]
  },

  'somebody who authorizes an asset by hand': async (lane) => {
    const { chain } = lane
    await lane.fundDistributor()
    await lane.issue('GOLD')
    let isDone = false
    const issuer = await lane.account()
    await eachLedger(lane, () => {
      const [issuance] = chain.newest.accounts.get(issuer)?.issued ?? []
      if (!issuance || isDone) return
      isDone = true
      chain.dropWaiting()
      authorizeByHand(lane, issuance.id)
    })
    await lane.finish()
    await expectIssued(lane)
    const codes = chain.validated().map(({ meta }) => meta.TransactionResult)
    expect(codes.filter((code) => code === 'tecDUPLICATE')).toHaveLength(1)
    return undefined
  },

  'a state from before an asset was signed': async (lane) => {
    await lane.fundDistributor()
    await lane.issue('GOLD')
    await lane.finish()
    await expectIssued(lane)
    const count = lane.chain.validated().length
    await lane.restore()
    await lane.finish()
    await expectIssued(lane)
    expect(lane.chain.validated()).toHaveLength(count)
    return undefined
  },
}

/** Closes ledgers; before each something may be done. */
async function eachLedger(lane: XrplLane, act: () => void): Promise<void> {
  const before = () => {
    act()
    lane.chain.close()
  }
  await lane.pass(ledgersMax * 4_000_000, { everyUs: 4_000_000, before })
}

/** By operation, how far the steps of an asset are. */
async function statesOf(lane: XrplLane, asset: string) {
  const steps = (await lane.anchors()).filter(({ resource_id: id }) => id === asset)
  return Object.fromEntries(steps.map(({ operation, state }) => [operation, state]))
}

/** Each asset is issued once, and all of it is with the distributor. */
async function expectIssued(lane: XrplLane, count = 1): Promise<void> {
  const assets = await lane.assets()
  expect(assets.map(({ status }) => status)).toEqual(assets.map(() => 'COMPLETED'))
  const { accounts } = lane.chain.newest
  const issued = accounts.get(await lane.account('issuer'))?.issued ?? []
  const held = accounts.get(await lane.account('distributor'))?.held
  const ids = assets.map((asset) => asset.token_id).sort()
  expect(issued.map(({ id }) => id).sort()).toEqual(ids)
  expect(new Map(held)).toEqual(new Map(ids.map((id) => [id, 12_000n])))
  expect(ids).toHaveLength(count)
}

function authorizeByHand({ chain }: XrplLane, id: string): void {
  const wallet = Wallet.fromSeed(seeds.ed25519)
  const account = wallet.classicAddress
  const { tx_blob: blob } = wallet.sign({
    TransactionType: 'MPTokenAuthorize',
    Account: account,
    MPTokenIssuanceID: id,
    Fee: '10',
    Sequence: chain.current().get(account)?.sequence ?? 0,
    NetworkID: chain.rules.networkId,
  })
  expect(chain.submit(blob)).toBe('tesSUCCESS')
}
