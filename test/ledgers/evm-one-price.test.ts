import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EvmLedger } from '../../src/ledgers/evm/evm-ledger.ts'
import { LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { openEvmLedger, settingsOf } from '../support/evm-ledger.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { NodeProxy } from '../support/node-proxy.ts'
import { deedOf, includedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'

const gwei = 1_000_000_000n

/** What is allowed in these tests. */
const feeMax = String(20n * gwei)

describe.skipIf(areNodesMissing)('a network without EIP-1559', () => {
  let node: Anvil
  let ledger: EvmLedger

  beforeAll(async () => {
    node = await Anvil.start('--hardfork', 'berlin')
    ledger = await openEvmLedger(node, { ledger: 'POLYGON_ZKEVM', feeMax })
  })

  afterAll(async () => {
    await ledger?.close()
    await node?.[Symbol.asyncDispose]()
  })

  async function setPrice(price: bigint): Promise<void> {
    await node.call('anvil_setMinGasPrice', `0x${price.toString(16)}`)
  }

  test('is paid the one price that its node asks for', async () => {
    await setPrice(3n * gwei)
    const { transaction } = await putOn(ledger, await deedOf())
    expect(JSON.parse(transaction.terms)).toEqual({
      gas: expect.any(String),
      maxFee: String(3n * gwei),
    })
    const told = await node.call('eth_getTransactionByHash', transaction.hash)
    expect(told).toMatchObject({ type: '0x0', gasPrice: '0xb2d05e00' })
  })

  test('is asked for its price alone: it need not know what else there is', async () => {
    const proxy = await NodeProxy.start(node.endpoint)
    for (const method of ['eth_feeHistory', 'eth_maxPriorityFeePerGas']) {
      proxy.refuse(method, () => true)
    }
    const { contract } = ledger
    // It is not said of it that it has one price: its blocks show that.
    for (const name of ['POLYGON_ZKEVM', 'ETHEREUM'] as const) {
      const settings = settingsOf(node, { ledger: name, endpoints: [proxy.endpoint] })
      const proxied = new EvmLedger({ ...settings, contract })
      await putOn(proxied, await deedOf())
      await proxied.close()
    }
    await proxy[Symbol.asyncDispose]()
  })

  test('lets wait what costs more than is allowed', async () => {
    await setPrice(21n * gwei)
    const asked = ledger.prepare(await deedOf())
    await expect(asked).rejects.toThrow(LedgerUnreachable)
    await expect(asked).rejects.toThrow(`it costs ${21n * gwei} wei per gas now, and may cost`)
    await setPrice(20n * gwei)
    expect(await ledger.prepare(await deedOf())).toEqual({
      terms: expect.stringContaining(`"maxFee":"${20n * gwei}"`),
    })
    await setPrice(gwei)
  })

  test('takes what is bid higher for in the place of what waits, up to what is allowed', async () => {
    await setPrice(gwei)
    const deed = await deedOf()
    const first = await signedBy(ledger, deed, await ledger.nextSequence())
    await node.call('evm_setAutomine', false)
    expect(await ledger.submit(first.blob)).toEqual({ is: 'accepted' })
    const better = await ledger.betterTerms({ ...first, signedAtUs: 0 })
    expect(JSON.parse(better ?? '')).toMatchObject({ maxFee: String((gwei * 9n) / 8n) })
    const second = await ledger.sign(deed, first.sequence, better ?? '')
    expect(await ledger.submit(second.blob)).toEqual({ is: 'accepted' })
    await node.call('evm_setAutomine', true)
    await node.mine()
    await includedOf(ledger, second.hash)
    expect(await ledger.submit(first.blob)).toEqual({ is: 'superseded' })
    const atCap = JSON.stringify({ gas: '1', maxFee: feeMax })
    const waiting = { blob: second.blob, terms: atCap, signedAtUs: 0 }
    expect(await ledger.betterTerms(waiting)).toBeUndefined()
  })
})
