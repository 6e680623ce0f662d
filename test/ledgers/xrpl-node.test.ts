import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, getNFTokenID, type NFTokenMint, parseNFTokenID, Wallet } from 'xrpl'
import { seeds } from '../support/xrpl-ledger.ts'
import { XrplNode } from '../support/xrpl-node/xrpl-node.ts'

/** The node that tests use, as the client of the library sees it: it has been written against others. */
describe('the node of our own', () => {
  const wallet = Wallet.fromSeed(seeds.ed25519)
  let node: XrplNode
  let client: Client

  beforeAll(async () => {
    node = await XrplNode.start()
    node.chain.fund(wallet.classicAddress, 50_000_000n)
    node.chain.closeEvery(20)
    client = new Client(node.endpoint)
    await client.connect()
  })

  afterAll(async () => {
    await client.disconnect()
    await node[Symbol.asyncDispose]()
  })

  test('takes what the client fills in and signs, and has it validated', async () => {
    const transaction = { TransactionType: 'AccountSet', Account: wallet.classicAddress } as const
    const { result } = await client.submitAndWait({ ...transaction }, { wallet })
    expect(result.validated).toBe(true)
    expect(result.meta).toMatchObject({ TransactionResult: 'tesSUCCESS' })
  })

  test('makes tokens whose id the library finds and reads, also on a second page', async () => {
    const mint: NFTokenMint = {
      TransactionType: 'NFTokenMint',
      Account: wallet.classicAddress,
      NFTokenTaxon: 77,
      Flags: 8,
      URI: 'ABCD',
    }
    const ids = new Set<string>()
    for (let made = 0; made < 35; made++) {
      const { tx_blob: blob, hash } = wallet.sign(await client.autofill({ ...mint }))
      await client.submit(blob)
      node.chain.close()
      const { result } = await client.request({ command: 'tx', transaction: hash })
      const id = getNFTokenID(result.meta) ?? ''
      ids.add(id)
      const read = parseNFTokenID(id)
      expect(read).toMatchObject({ Flags: 8, Issuer: wallet.classicAddress, Taxon: 77 })
    }
    expect(ids.size).toBe(35)
    const { result } = await client.request({
      command: 'account_info',
      account: wallet.classicAddress,
      ledger_index: 'validated',
    })
    expect(result.account_data.OwnerCount).toBe(2)
  })

  test('sends money, and makes the account that gets it', async () => {
    const other = Wallet.fromSeed(seeds.secp256k1).classicAddress
    const payment = {
      TransactionType: 'Payment',
      Account: wallet.classicAddress,
      Destination: other,
      Amount: '2500000',
    } as const
    await client.submitAndWait({ ...payment }, { wallet })
    expect(await client.getXrpBalance(other)).toBe(2.5)
    const toItself = { ...payment, Destination: wallet.classicAddress }
    const signed = wallet.sign(await client.autofill({ ...toItself }))
    const { result } = await client.submit(signed.tx_blob)
    expect(result.engine_result).toBe('temREDUNDANT')
  })

  test('tells of ledgers, and of transactions page by page', async () => {
    const closed = new Promise<number>((resolve) => {
      client.once('ledgerClosed', ({ ledger_index: index }) => resolve(index))
    })
    await client.request({ command: 'subscribe', streams: ['ledger'] })
    const { index } = node.chain.close()
    expect(await closed).toBe(index)
    const hashes: string[] = []
    let marker: unknown
    do {
      const { result } = await client.request({
        command: 'account_tx',
        account: wallet.classicAddress,
        ...(marker !== undefined && { marker }),
      })
      hashes.push(...result.transactions.map(({ hash }) => hash ?? ''))
      marker = result.marker
    } while (marker !== undefined)
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(hashes.length).toBe(1 + 1 + 35 + 1)
  })

  test('takes nothing with a signature that is wrong', async () => {
    const { tx_blob: blob } = wallet.sign(
      await client.autofill({ TransactionType: 'AccountSet', Account: wallet.classicAddress }),
    )
    const at = blob.indexOf('7440') + 10
    const wrong = blob.slice(0, at) + (blob[at] === '0' ? '1' : '0') + blob.slice(at + 1)
    await expect(client.submit(wrong)).rejects.toThrow(/in words/)
    const other = Wallet.fromSeed(seeds.secp256k1)
    const foreign = other.sign({
      ...(await client.autofill({ TransactionType: 'AccountSet', Account: wallet.classicAddress })),
    })
    expect((await client.submit(foreign.tx_blob)).result.engine_result).toBe('tefBAD_AUTH')
  })
})
