import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EvmNeeds } from '../../src/ledgers/evm/evm-ledger.ts'
import { hexOfNumber } from '../../src/ledgers/evm/quantities.ts'
import { openEvmLedger } from '../support/evm-ledger.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { problemOf, proxiedEvm } from '../support/proxied-evm.ts'
import { deedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'

describe.skipIf(areNodesMissing)('a ledger of the EVM with a node that lags behind', () => {
  let node: Anvil

  beforeAll(async () => {
    node = await Anvil.start()
  })

  afterAll(async () => await node[Symbol.asyncDispose]())

  const proxied = (ways = 1, said: Partial<EvmNeeds> = {}) => proxiedEvm(node, ways, said)

  async function height(): Promise<number> {
    return Number(await node.call('eth_blockNumber'))
  }

  test('does not believe that something is not there', async () => {
    await using tested = await proxied(2)
    const { ledger, proxies } = tested
    const [fresh, stale] = proxies
    stale?.stayBehind(await height())
    const { transaction } = await putOn(ledger, await deedOf())
    fresh?.cut()
    const behind =
      /the node is at the block \d+, and one has reported \d+ before: it lags behind, or its chain was begun again/
    expect(await problemOf(ledger.sight(transaction.hash))).toMatch(behind)
    expect(await problemOf(ledger.nextSequence())).toMatch(behind)
    expect(await problemOf(ledger.find([newIntent]))).toMatch(behind)
    fresh?.mend()
    expect(await ledger.sight(transaction.hash)).toMatchObject({ is: 'included' })
  })

  test('says so when there is no other', async () => {
    await using tested = await proxied()
    const { ledger, proxies } = tested
    const before = await height()
    const { transaction } = await putOn(ledger, await deedOf())
    proxies[0]?.stayBehind(before)
    expect(await problemOf(ledger.sight(transaction.hash))).toBe(
      `the node is at the block ${before}, and one has reported ${before + 1} before: it lags behind, or its chain was begun again`,
    )
  })

  test('knows it again after a start, by what was written down', async () => {
    await using tested = await proxied()
    const { ledger, proxies } = tested
    const before = await height()
    const { transaction } = await putOn(ledger, await deedOf())
    proxies[0]?.stayBehind(before)
    const { contract, heights } = ledger
    const endpoints = proxies.map(({ endpoint }) => endpoint)
    const anew = await openEvmLedger(node, { contract, endpoints, heights })
    const behind = new RegExp(`^the node is at the block ${before}, and one has reported`)
    expect(await problemOf(anew.sight(transaction.hash))).toMatch(behind)
    expect(await problemOf(anew.nextSequence())).toMatch(behind)
    proxies[0]?.mend()
    expect(await anew.sight(transaction.hash)).toMatchObject({ is: 'included' })
    await anew.close()
  })

  test('that says of itself what is not so is not taken to refuse what is done already', async () => {
    await using tested = await proxied()
    const { ledger, proxies } = tested
    const before = await height()
    const deed = await deedOf({ kind: 'nft' })
    await putOn(ledger, deed)
    // What it would cost is asked without a block: that is answered by one that does not lag behind.
    proxies[0]?.stayBehind(before)
    const { contract } = ledger
    const endpoints = proxies.map(({ endpoint }) => endpoint)
    const anew = await openEvmLedger(node, { contract, endpoints })
    expect(await problemOf(anew.prepare(deed))).toBe(
      'the node says that the contract refuses it, and that it does not',
    )
    proxies[0]?.mend()
    expect(await anew.prepare(deed)).toMatchObject({ terms: expect.any(String) })
    await anew.close()
  })

  test('is not believed that the contract refuses something, where another one knows more', async () => {
    await using tested = await proxied()
    const { ledger, proxies } = tested
    const before = await height()
    const deed = await deedOf({ kind: 'nft' })
    await putOn(ledger, deed)
    proxies[0]?.stayBehind(before)
    expect(await problemOf(ledger.prepare(deed))).toMatch(/it lags behind/)
  })

  test('never takes what is there for what never gets in, whatever it is told by hash', async () => {
    await using tested = await proxied()
    const { ledger, proxies } = tested
    const { transaction } = await putOn(ledger, await deedOf())
    await node.mine(20)
    proxies[0]?.lack(transaction.hash)
    expect(await ledger.submit(transaction.blob)).toEqual({ is: 'accepted' })
  })

  test('goes to the one that is not', async () => {
    await using tested = await proxied(2)
    const { ledger, proxies } = tested
    proxies[1]?.stayBehind(await height())
    const { transaction } = await putOn(ledger, await deedOf())
    proxies[0]?.lose('eth_getTransactionReceipt', 'answer')
    const sighting = ledger.sight(transaction.hash)
    await problemOf(sighting)
    expect(await ledger.sight(transaction.hash)).toMatchObject({ is: 'included' })
  })

  test('says who has a sequence long after that, also where nodes keep little of what was', async () => {
    await using tested = await proxied()
    const { ledger, proxies } = tested
    const sequence = await ledger.nextSequence()
    const one = await signedBy(ledger, await deedOf(), sequence)
    const other = await signedBy(ledger, await deedOf(), sequence)
    await ledger.submit(one.blob)
    await node.mine(40)
    expect(await ledger.submit(one.blob)).toEqual({ is: 'accepted' })
    expect(await ledger.submit(other.blob)).toEqual({ is: 'superseded' })
    const kept = (await height()) - 5
    proxies[0]?.refuse('eth_getTransactionCount', ([, block]) => Number(block) < kept)
    expect(await ledger.submit(other.blob)).toEqual({ is: 'superseded' })
    expect(await ledger.submit(one.blob)).toEqual({ is: 'accepted' })
    // What lags behind has neither the block nor what accounts were like by then.
    proxies[0]?.lack(hexOfNumber((await height()) - 7))
    expect(await problemOf(ledger.submit(other.blob))).toBe(
      'the node does not have a block that it has reported before',
    )
  })
})

const newIntent = '00000000-0000-8000-8000-000000000000'
