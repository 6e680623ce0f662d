import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { systemClock } from '../../src/core/clock.ts'
import { EvmLedger, type EvmNeeds } from '../../src/ledgers/evm/evm-ledger.ts'
import { openEvmLedger, settingsOf } from '../support/evm-ledger.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { problemOf, proxiedEvm } from '../support/proxied-evm.ts'
import { deedOf, includedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'

/** Blocks after which anvil calls one `finalized`: two epochs of two. */
const finalAfter = 4

describe.skipIf(areNodesMissing)('a ledger of the EVM', () => {
  let node: Anvil

  beforeAll(async () => {
    node = await Anvil.start()
  })

  afterAll(async () => await node[Symbol.asyncDispose]())

  const proxied = (ways = 1, said: Partial<EvmNeeds> = {}) => proxiedEvm(node, ways, said)

  describe('and finality', () => {
    test('are told of when a block is final, and not before', async () => {
      await using tested = await proxied(1, { finality: 'finalized' })
      const { ledger } = tested
      const { blob, hash } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      await ledger.submit(blob)
      expect(await ledger.sight(hash)).toMatchObject({ is: 'included', isFinal: false })
      await node.mine(finalAfter)
      await ledger.changed(AbortSignal.timeout(10_000))
      expect(await ledger.sight(hash)).toMatchObject({ is: 'included', isFinal: true })
    })

    test('leave it open who has a sequence until a block with it is final', async () => {
      await using tested = await proxied(1, { finality: 'finalized' })
      const { ledger } = tested
      const sequence = await ledger.nextSequence()
      const one = await signedBy(ledger, await deedOf(), sequence)
      const other = await signedBy(ledger, await deedOf(), sequence)
      await ledger.submit(one.blob)
      expect(await ledger.submit(other.blob)).toEqual({ is: 'early' })
      await node.mine(finalAfter)
      expect(await ledger.submit(other.blob)).toEqual({ is: 'superseded' })
    })

    test('by depth go by the blocks that follow', async () => {
      await using tested = await proxied(1, { finality: 2 })
      const { ledger } = tested
      const { blob, hash } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      await ledger.submit(blob)
      await node.mine()
      expect(await ledger.sight(hash)).toMatchObject({ isFinal: false })
      await node.mine()
      expect(await ledger.sight(hash)).toMatchObject({ isFinal: true })
    })

    test('are not said of what is taken back, and the same blob gets in again', async () => {
      await using tested = await proxied(1, { finality: 'finalized' })
      const { ledger } = tested
      const { blob, hash } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      await ledger.submit(blob)
      expect(await ledger.sight(hash)).toMatchObject({ is: 'included', isFinal: false })
      await node.takeBlockBack()
      expect(await ledger.sight(hash)).toEqual({ is: 'unknown' })
      expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
      await node.mine(finalAfter)
      await includedOf(ledger, hash)
    })
  })

  test('does not count a receipt of a block that another one has the place of', async () => {
    await using tested = await proxied()
    const { ledger, proxies } = tested
    const { transaction } = await putOn(ledger, await deedOf())
    proxies[0]?.repeat('eth_getTransactionReceipt')
    await node.takeBlockBack()
    await node.mine(finalAfter)
    expect(await ledger.sight(transaction.hash)).toEqual({ is: 'pending' })
    proxies[0]?.mend()
    expect(await ledger.sight(transaction.hash)).toEqual({ is: 'unknown' })
  })

  describe('whose connection breaks', () => {
    test('before the node has a transaction says so, and takes the same one again', async () => {
      await using tested = await proxied()
      const { ledger, proxies } = tested
      const sequence = await ledger.nextSequence()
      const { blob, hash } = await signedBy(ledger, await deedOf(), sequence)
      proxies[0]?.lose('eth_sendRawTransaction', 'request')
      await problemOf(ledger.submit(blob))
      expect(await ledger.sight(hash)).toEqual({ is: 'unknown' })
      expect(await ledger.nextSequence()).toBe(sequence)
      expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
      await includedOf(ledger, hash)
    })

    test('after the node has a transaction finds it', async () => {
      await using tested = await proxied()
      const { ledger, proxies } = tested
      const sequence = await ledger.nextSequence()
      const { blob, hash } = await signedBy(ledger, await deedOf(), sequence)
      proxies[0]?.lose('eth_sendRawTransaction', 'answer')
      await problemOf(ledger.submit(blob))
      await includedOf(ledger, hash)
      expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
      expect(await ledger.nextSequence()).toBe(sequence + 1)
    })

    test('asks the next node', async () => {
      await using tested = await proxied(2)
      const { ledger, proxies } = tested
      const { blob, hash } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      proxies[0]?.lose('eth_sendRawTransaction', 'answer')
      expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
      await includedOf(ledger, hash)
      expect(proxies[1]?.asked).toContain('eth_sendRawTransaction')
    })
  })

  describe('and what it costs', () => {
    test('wait while the account has too little money', async () => {
      await using tested = await proxied()
      const { ledger } = tested
      const balance = await node.call('eth_getBalance', ledger.account, 'latest')
      const signed = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      await node.call('anvil_setBalance', ledger.account, '0x1')
      const poor = new RegExp(`^${ledger.account} has 1 wei, and a transaction may take \\d+$`)
      expect(await problemOf(ledger.prepare(await deedOf()))).toMatch(poor)
      expect(await problemOf(ledger.submit(signed.blob))).toMatch(poor)
      await node.call('anvil_setBalance', ledger.account, balance)
      expect(await ledger.submit(signed.blob)).toEqual({ is: 'accepted' })
    })

    test('wait while fees are above what is allowed, and get in when they fall', async () => {
      await using tested = await proxied(1, { feeMax: '20000000000' })
      const { ledger } = tested
      const sequence = await ledger.nextSequence()
      const { blob, hash, terms } = await signedBy(ledger, await deedOf(), sequence)
      await node.call('anvil_setNextBlockBaseFeePerGas', '0x174876e800')
      await node.mine()
      expect(await problemOf(ledger.prepare(await deedOf()))).toMatch(/may cost 20000000000$/)
      expect(await problemOf(ledger.submit(blob))).toBe(
        'the node does not take the transaction for what it pays',
      )
      const atCap = { gas: '1', maxFee: '20000000000', tip: '10000000' }
      const waiting = { blob, terms: JSON.stringify(atCap), signedAtUs: 0 }
      expect(await ledger.betterTerms(waiting)).toBeUndefined()
      expect(await ledger.betterTerms({ ...waiting, terms })).toBeDefined()
      await node.call('anvil_setNextBlockBaseFeePerGas', '0x1')
      await node.mine()
      expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
      await includedOf(ledger, hash)
    })

    test('are bid higher for once one has waited for some blocks', async () => {
      await using tested = await proxied()
      const { ledger } = tested
      const { blob, terms } = await signedBy(ledger, await deedOf(), 1)
      const signedAtUs = systemClock.nowUs() - 59_000_000
      expect(await ledger.betterTerms({ blob, terms, signedAtUs })).toBeUndefined()
      const better = await ledger.betterTerms({ blob, terms, signedAtUs: signedAtUs - 2_000_000 })
      expect(JSON.parse(better ?? '')).toMatchObject({ gas: JSON.parse(terms).gas })
    })
  })

  describe('of a node', () => {
    test('that is one of another network gets nothing signed', async () => {
      await using tested = await proxied()
      const { contract } = tested.ledger
      const settings = settingsOf(node, { network: 'eip155:1', contract })
      const ledger = new EvmLedger({ ...settings, contract })
      const problem = 'the node is one of eip155:31337, and eip155:1 is configured'
      expect(await problemOf(ledger.prepare(await deedOf()))).toBe(problem)
      expect(await problemOf(ledger.nextSequence())).toBe(problem)
      await ledger.close()
    })

    test('that has no such contract gets nothing signed', async () => {
      const ledger = await openEvmLedger(node, { contract: `0x${'12'.repeat(20)}` })
      expect(await problemOf(ledger.prepare(await deedOf()))).toBe(
        'there is no contract of ours at the address that is configured',
      )
      await ledger.close()
    })

    test('that is asked over a WebSocket does the same', async () => {
      const endpoints = [node.endpoint.replace('http', 'ws')]
      await using tested = await proxied()
      const ledger = await openEvmLedger(node, { contract: tested.ledger.contract, endpoints })
      const deed = await deedOf()
      const { transaction } = await putOn(ledger, deed)
      expect((await ledger.find([deed.intentId])).get(deed.intentId)).toMatchObject(transaction)
      await ledger.close()
    })

    test.each([
      ['what is no JSON', () => 'nothing'],
      ['neither a result nor an error', (id: number) => JSON.stringify({ id })],
      ['another kind of result', (id: number) => JSON.stringify({ id, result: {} })],
    ])('that answers %s over a WebSocket is told of, and asked again', async (_, answer) => {
      const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
      await once(server, 'listening')
      server.on('connection', (socket) => {
        socket.on('message', (data: Buffer) => {
          socket.send(answer((JSON.parse(data.toString()) as { id: number }).id))
        })
      })
      const { port } = server.address() as AddressInfo
      const ledger = await openEvmLedger(node, {
        contract: `0x${'12'.repeat(20)}`,
        endpoints: [`ws://127.0.0.1:${port}`, node.endpoint.replace('http', 'ws')],
      })
      const asked = await Promise.all([ledger.nextSequence(), ledger.nextSequence()])
      expect(asked[0]).toBe(asked[1])
      await ledger.close()
      server.close()
      for (const client of server.clients) client.terminate()
    })

    test('whose contract is spelled in capitals is the same', async () => {
      await using tested = await proxied()
      const contract = `0x${tested.ledger.contract.slice(2).toUpperCase()}`
      const ledger = await openEvmLedger(node, { contract })
      await putOn(ledger, await deedOf())
      await ledger.close()
    })

    test('that gives logs of few blocks only is asked more often', async () => {
      await using tested = await proxied()
      const { ledger, proxies } = tested
      const deeds = [await deedOf(), await deedOf()]
      for (const deed of deeds) {
        await putOn(ledger, deed)
        await node.mine(10)
      }
      proxies[0]?.refuse('eth_getLogs', ([filter]) => {
        const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
        return Number(toBlock) - Number(fromBlock) > 3
      })
      const found = await ledger.find(deeds.map(({ intentId }) => intentId))
      expect([...found.keys()]).toEqual(deeds.map(({ intentId }) => intentId))
    })
  })

  test('moves on when somebody sends from its account by hand', async () => {
    await using tested = await proxied()
    const { ledger } = tested
    const sequence = await ledger.nextSequence()
    const { blob } = await signedBy(ledger, await deedOf(), sequence)
    const byHand = { from: ledger.account, to: ledger.account, value: '0x1' }
    await node.call('eth_sendTransaction', byHand)
    await expect.poll(async () => await ledger.nextSequence()).toBe(sequence + 1)
    expect(await ledger.submit(blob)).toEqual({ is: 'superseded' })
  })

  test('has no more in the pool of a node than that promises room for', async () => {
    await using tested = await proxied()
    const { ledger } = tested
    const first = await ledger.nextSequence()
    await node.call('evm_setAutomine', false)
    const said: string[] = []
    for (let at = 0; at < 18; at++) {
      const { blob } = await signedBy(ledger, await deedOf(), first + at)
      said.push((await ledger.submit(blob)).is)
    }
    await node.call('evm_setAutomine', true)
    await node.mine()
    expect(said).toEqual([...Array<string>(16).fill('accepted'), 'early', 'early'])
  })
})
