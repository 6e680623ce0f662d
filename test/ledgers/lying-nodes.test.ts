import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { problemOf, proxiedEvm } from '../support/proxied-evm.ts'
import { deedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'
import { fundedLedger } from '../support/xrpl-ledger.ts'

type Members = Readonly<Record<string, unknown>>

/** What is no answer to anything, and what is nearly one. */
const anything: readonly unknown[] = [{}, [null], [[]], '0x', 7, true]

const farAhead = `0x${'f'.repeat(16)}`

describe.skipIf(areNodesMissing)('a node of the EVM', () => {
  let node: Anvil

  beforeAll(async () => {
    node = await Anvil.start()
  })

  afterAll(async () => await node[Symbol.asyncDispose]())

  test.each([
    'eth_chainId',
    'eth_getBlockByNumber',
    'eth_getLogs',
    'eth_getTransactionCount',
    'eth_feeHistory',
    'eth_call',
    'eth_getTransactionReceipt',
  ])('that answers %s with anything is one that cannot be asked', async (method) => {
    await using tested = await proxiedEvm(node)
    const { ledger, proxies } = tested
    const deed = await deedOf({ kind: 'nft' })
    const { transaction } = await putOn(ledger, deed)
    for (const lie of anything) {
      proxies[0]?.lie(method, () => lie)
      const asked = [
        ledger.prepare(deed),
        ledger.sight(transaction.hash),
        ledger.nextSequence(),
        ledger.find([newId()]),
      ]
      const problems = await Promise.allSettled(asked)
      for (const one of problems) {
        if (one.status === 'rejected') await problemOf(Promise.reject(one.reason))
      }
      expect(problems.some(({ status }) => status === 'rejected')).toBe(true)
    }
  })

  test.each([
    ['logs that are none', () => ({ logs: 'none' })],
    ['a log without topics', (address: string) => ({ logs: [{ address }] })],
    ['no log at all', () => ({ logs: [null] })],
    ['the hash of another transaction', () => ({ transactionHash: `0x${'0'.repeat(64)}` })],
  ])('that gives a receipt with %s is not believed', async (_, saidOf) => {
    await using tested = await proxiedEvm(node)
    const { ledger, proxies } = tested
    const { transaction } = await putOn(ledger, await deedOf({ kind: 'nft' }))
    const said = saidOf(ledger.contract)
    const lie = (receipt: unknown) => ({ ...(receipt as Members), ...said })
    proxies[0]?.lie('eth_getTransactionReceipt', lie)
    const problem = await problemOf(ledger.sight(transaction.hash))
    expect(problem).toMatch(/^the node answers (?:something that cannot be read|with another)/)
  })

  test.each([
    ['a number', { number: farAhead }],
    ['a time', { timestamp: farAhead }],
    ['a time of the year 10000', { timestamp: '0x3afff44180' }],
  ])('that says %s of a block which no block has holds nothing up', async (_, said) => {
    await using tested = await proxiedEvm(node)
    const { ledger, proxies } = tested
    proxies[0]?.lie('eth_getBlockByNumber', (block) => ({ ...(block as Members), ...said }))
    await problemOf(ledger.nextSequence())
    proxies[0]?.mend()
    expect(await ledger.nextSequence()).toBeGreaterThan(0)
  })
})

describe('a node of XRPL', () => {
  const token = 'sv-k3y-0f-a-node'

  test.each([
    ['a number', { ledger_index: 1.5 }],
    ['metadata without nodes', { meta: { TransactionResult: 'tesSUCCESS' } }],
    ['metadata with no node', { meta: { TransactionResult: 'tesSUCCESS', AffectedNodes: [null] } }],
    ['a hash', { hash: '0'.repeat(64) }],
    ['a time', { close_time_iso: 'yesterday' }],
    ['a code', { meta: { TransactionResult: `tec of ${token}` } }],
  ])('that says %s of a transaction which cannot be is not believed', async (_, said) => {
    await using tested = await fundedLedger()
    const { ledger, node, chain } = tested
    const deed = await deedOf({ kind: 'nft' })
    const { blob, hash } = await signedBy(ledger, deed, await ledger.nextSequence())
    await ledger.submit(blob)
    chain.close()
    node.lies.set('tx', (result) => ({ ...result, ...said }))
    expect(await problemOf(ledger.sight(hash))).toMatch(/cannot be|another/)
    node.lies.clear()
    expect(await ledger.sight(hash)).toMatchObject({ is: 'included', isFinal: true })
  })

  test.each([
    ['the one before', { marker: { ledger: 1, seq: 0 } }],
    ['others', { transactions: [] }],
  ])('whose history goes on for ever, from %s, is not asked for ever', async (_, said) => {
    await using tested = await fundedLedger()
    const { ledger, node } = tested
    let pages = 0
    node.lies.set('account_tx', (page) => ({ ...page, marker: { seq: 0, page: ++pages }, ...said }))
    const problem = await problemOf(ledger.find([newId()]))
    expect(problem).toBe('the history that the node gives has no end')
  })

  test('is quoted with nothing that is no name: neither its error nor its code', async () => {
    await using tested = await fundedLedger()
    const { ledger, node } = tested
    const { blob } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
    node.answersNext = `tefNO ${token}`
    expect(await problemOf(ledger.submit(blob))).not.toContain(token)
    node.refusesWith = `wrong key ${token}`
    expect(await problemOf(ledger.nextSequence())).toBe(
      'the node answers with the error without a name',
    )
  })

  test('that says a number of a ledger which there is not holds nothing up', async () => {
    await using tested = await fundedLedger()
    const { ledger, node } = tested
    node.lies.set('server_info', ({ info }) => {
      const said = info as { readonly validated_ledger: Members }
      return { info: { ...said, validated_ledger: { ...said.validated_ledger, seq: 2 ** 40 } } }
    })
    await problemOf(ledger.nextSequence())
    node.lies.clear()
    expect(await ledger.nextSequence()).toBeGreaterThan(0)
  })
})
