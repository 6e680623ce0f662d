import { sign } from 'ripple-keypairs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  Client,
  decodeAccountID,
  encode,
  encodeForSigning,
  getNFTokenID,
  type NFTokenMint,
  parseNFTokenID,
  type SubmittableTransaction,
  Wallet,
} from 'xrpl'
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

  /** Has it validated at once. Resolves with what its metadata say. */
  const done = async (transaction: SubmittableTransaction, by = wallet) => {
    const { tx_blob: blob, hash } = by.sign(await client.autofill({ ...transaction }))
    await client.submit(blob)
    node.chain.close()
    const { result } = await client.request({ command: 'tx', transaction: hash })
    return result.meta as { readonly TransactionResult: string; readonly mpt_issuance_id?: string }
  }

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

  test('issues an asset, which the client authorizes, pays and reads', async () => {
    const other = Wallet.fromSeed(seeds.secp256k1)
    const { classicAddress: holder } = other
    const { mpt_issuance_id: id = '' } = await done({
      TransactionType: 'MPTokenIssuanceCreate',
      Account: wallet.classicAddress,
      AssetScale: 3,
      MaximumAmount: '1500',
      Flags: 0x20,
    })
    expect(id.slice(8)).toBe(
      Buffer.from(decodeAccountID(wallet.classicAddress)).toString('hex').toUpperCase(),
    )
    const payment = (value: string): SubmittableTransaction => ({
      TransactionType: 'Payment',
      Account: wallet.classicAddress,
      Destination: holder,
      Amount: { mpt_issuance_id: id, value },
    })
    const authorize: SubmittableTransaction = {
      TransactionType: 'MPTokenAuthorize',
      Account: holder,
      MPTokenIssuanceID: id,
    }
    const codes: string[] = []
    for (const [transaction, by] of [
      [payment('1')],
      [authorize, other],
      [authorize, other],
      [payment('1000')],
      [payment('501')],
      [payment('500')],
      [{ ...authorize, Flags: 1 }, other],
      [{ ...authorize, Account: wallet.classicAddress }],
      [{ ...authorize, MPTokenIssuanceID: `${id.slice(1)}0` }, other],
    ] as const) {
      codes.push((await done(transaction, by)).TransactionResult)
    }
    expect(codes).toEqual([
      'tecNO_AUTH',
      'tesSUCCESS',
      'tecDUPLICATE',
      'tesSUCCESS',
      'tecPATH_PARTIAL',
      'tesSUCCESS',
      'tecHAS_OBLIGATIONS',
      'tecNO_PERMISSION',
      'tecOBJECT_NOT_FOUND',
    ])
    expect(node.chain.newest.accounts.get(holder)?.held.get(id)).toBe(1_500n)
  })

  test.each([
    ['temMALFORMED', { MaximumAmount: '0' }],
    ['temMALFORMED', { MaximumAmount: `${2n ** 63n}` }],
    ['temMALFORMED', { MPTokenMetadata: 'AB'.repeat(1_025) }],
    ['temINVALID_FLAG', { Flags: 0x80 }],
    ['tesSUCCESS', { MPTokenMetadata: 'AB'.repeat(1_024), MaximumAmount: `${2n ** 63n - 1n}` }],
  ])('answers %s to an issuance with %j', async (code, said) => {
    const transaction = await client.autofill({
      TransactionType: 'MPTokenIssuanceCreate',
      Account: wallet.classicAddress,
    } as const)
    // The client would not sign some of them.
    const unsigned = { ...transaction, ...said, SigningPubKey: wallet.publicKey }
    const TxnSignature = sign(encodeForSigning(unsigned), wallet.privateKey)
    expect(node.chain.submit(encode({ ...unsigned, TxnSignature }))).toBe(code)
    node.chain.forgetWaiting()
  })

  test('wants a reserve for an asset that is held, from the third thing on', async () => {
    const holder = Wallet.fromSeed('sEdSKaCy2JT7JaM7v95H9SxkhP9wS2r')
    node.chain.fund(holder.classicAddress, 1_500_000n)
    const codes: string[] = []
    for (let made = 0; made < 3; made++) {
      const issuance = {
        TransactionType: 'MPTokenIssuanceCreate',
        Account: wallet.classicAddress,
      } as const
      const { mpt_issuance_id: id = '' } = await done({ ...issuance })
      const authorize = {
        TransactionType: 'MPTokenAuthorize',
        Account: holder.classicAddress,
        MPTokenIssuanceID: id,
      } as const
      codes.push((await done({ ...authorize }, holder)).TransactionResult)
    }
    expect(codes).toEqual(['tesSUCCESS', 'tesSUCCESS', 'tecINSUFFICIENT_RESERVE'])
  })

  test('tells of ledgers, and of transactions page by page', async () => {
    const closed = new Promise<number>((resolve) => {
      client.once('ledgerClosed', ({ ledger_index: index }) => resolve(index))
    })
    await client.request({ command: 'subscribe', streams: ['ledger'] })
    const { index } = node.chain.close()
    expect(await closed).toBe(index)
    const hashes: string[] = []
    const expected = node.chain
      .validated()
      .filter(({ meta }) => JSON.stringify(meta).includes(wallet.classicAddress))
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
    expect(hashes.length).toBe(expected.length)
    expect(hashes.length).toBeGreaterThan(40)
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
