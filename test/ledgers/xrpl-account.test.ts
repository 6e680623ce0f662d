import { describe, expect, test } from 'vitest'
import { encodeForSigning, Wallet } from 'xrpl'
import { newId } from '../../src/core/ids.ts'
import { memoOf } from '../../src/ledgers/xrpl/memos.ts'
import { termsOf } from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import { deedOf, includedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'
import {
  fundedLedger,
  openXrplLedger,
  problemOf,
  seeds,
  sendByHand,
} from '../support/xrpl-ledger.ts'
import { XrplNode } from '../support/xrpl-node/xrpl-node.ts'

describe('a token', () => {
  test('has the URI of its metadata, and 256 bytes of it at most', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const deed = await deedOf({ kind: 'nft' })
    const uri = `ipfs://${'a'.repeat(249)}`
    expect(await ledger.prepare({ ...deed, uri })).toHaveProperty('terms')
    const longer = { ...deed, uri: `${uri}b` }
    const refused = 'the URI of a token has 1 to 256 bytes, and this one 257'
    expect(await ledger.prepare(longer)).toEqual({ refused })
    await expect(ledger.sign(longer, 1, '{}')).rejects.toThrow(refused)
    const { transaction } = await (async () => {
      chain.closeEvery(20)
      return await putOn(ledger, { ...deed, uri })
    })()
    const found = await ledger.find([deed.intentId])
    expect(found.get(deed.intentId)).toEqual({ ...transaction, deed: { ...deed, uri, leaves: [] } })
  })

  test('is refused by a node where the library signs a longer one', async () => {
    await using tested = await fundedLedger()
    const { chain, ledger } = tested
    const wallet = Wallet.fromSeed(seeds.secp256k1)
    const transaction = {
      TransactionType: 'NFTokenMint',
      Account: ledger.account,
      Fee: '10',
      Sequence: chain.current().get(ledger.account)?.sequence ?? 0,
      NFTokenTaxon: 0,
      URI: 'AB'.repeat(257),
    } as const
    expect(encodeForSigning({ ...transaction })).toContain('AB'.repeat(257))
    expect(chain.submit(wallet.sign({ ...transaction }).tx_blob)).toBe('temMALFORMED')
  })
})

describe('an account of XRPL', () => {
  test('that nobody has given money to waits for it', async () => {
    await using node = await XrplNode.start()
    const ledger = await openXrplLedger(node)
    expect(await problemOf(ledger.prepare(await deedOf()))).toBe(
      `${ledger.account} is not an account yet: it has to be funded`,
    )
    node.chain.fund(ledger.account, 2_000_000n)
    expect(await ledger.prepare(await deedOf())).toHaveProperty('terms')
    // A token needs a reserve, which a root does not.
    expect(await problemOf(ledger.prepare(await deedOf({ kind: 'nft' })))).toMatch(
      /has 2000000 drops, and needs 3000100$/,
    )
    node.chain.fund(ledger.account, 2_000_000n)
    expect(await ledger.prepare(await deedOf({ kind: 'nft' }))).toHaveProperty('terms')
    await ledger.close()
  })

  test('pays what it costs, up to its limit', async () => {
    await using tested = await fundedLedger({ feeMax: '500' })
    const { ledger, node, chain } = tested
    const feeNow = async () => {
      const prepared = await ledger.prepare(await deedOf())
      return 'terms' in prepared ? termsOf(prepared.terms).fee : undefined
    }
    expect(await feeNow()).toBe(10n)
    chain.openFee = 257n
    expect(await feeNow()).toBe(257n)
    node.loadFactor = 30.05
    expect(await feeNow()).toBe(301n)
    chain.openFee = 501n
    expect(await problemOf(feeNow())).toBe('it costs 501 drops now, and may cost 500')
  })

  test('has ten transactions in the queue at most: those after it are early', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    expect(ledger.inFlightMax).toBe(10)
    const first = await ledger.nextSequence()
    const signed = []
    for (let at = 0; at < 11; at++) signed.push(await signedBy(ledger, await deedOf(), first + at))
    chain.openFee = 5_000n
    const said = []
    for (const { blob } of signed) said.push((await ledger.submit(blob)).is)
    expect(said).toEqual([...Array.from({ length: 10 }, () => 'accepted'), 'early'])
    chain.openFee = 10n
    chain.closeMany(2)
    expect(await ledger.submit(signed[10]?.blob ?? '')).toEqual({ is: 'accepted' })
    chain.close()
    for (const { hash } of signed) await includedOf(ledger, hash)
  })
})

describe('what is found of an account', () => {
  test('is what it has sent itself, and what was done, over many pages', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const deeds = []
    for (let at = 0; at < 20; at++) {
      const deed = await deedOf({ kind: at % 2 ? 'record' : 'root' })
      const { blob, hash } = await signedBy(ledger, deed, await ledger.nextSequence())
      await ledger.submit(blob)
      if (at === 7) chain.failures.set(hash, 'tecOBJECT_NOT_FOUND')
      deeds.push({ deed, hash })
      chain.close()
    }
    const found = await ledger.find(deeds.map(({ deed }) => deed.intentId))
    const expected = deeds.filter((_, at) => at !== 7)
    expect([...found.values()].map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash))
    const [one] = deeds
    expect(found.get(one?.deed.intentId ?? '')?.deed).toEqual({ ...one?.deed, leaves: [] })
  })

  test('is not what others have sent to it', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const deed = await deedOf()
    const other = Wallet.fromSeed(seeds.ed25519)
    chain.fund(other.classicAddress, 5_000_000n)
    const { tx_blob: blob } = other.sign({
      TransactionType: 'Payment',
      Account: other.classicAddress,
      Destination: ledger.account,
      Amount: '1',
      Fee: '10',
      Sequence: chain.current().get(other.classicAddress)?.sequence ?? 0,
      Memos: [memoOf(deed)],
    })
    expect(chain.submit(blob)).toBe('tesSUCCESS')
    chain.close()
    expect(await ledger.find([deed.intentId])).toEqual(new Map())
  })

  test('has to be whole since the account was made', async () => {
    await using tested = await fundedLedger()
    const { ledger, node, chain } = tested
    const made = chain.newest.index
    chain.closeMany(5)
    sendByHand(chain)
    chain.closeMany(5)
    node.forget(made + 2, made + 3)
    expect(await problemOf(ledger.find([newId()]))).toContain('since the account was made')
    node.forget(1_000, made)
    expect(await problemOf(ledger.find([newId()]))).toContain('since the account was made')
    node.forget(1_000, made - 1)
    expect(await ledger.find([newId()])).toEqual(new Map())
  })

  test('is not asked for twice: what was not there can only be in later ledgers', async () => {
    await using tested = await fundedLedger()
    const { ledger, node, chain } = tested
    const deed = await deedOf()
    expect(await ledger.find([deed.intentId])).toEqual(new Map())
    // Now it needs no more than what has come since then.
    node.forget(1_000, chain.newest.index)
    chain.closeEvery(20)
    await putOn(ledger, deed)
    expect([...(await ledger.find([deed.intentId])).keys()]).toEqual([deed.intentId])
  })

  test('may be older than what was looked for before', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const [deed, later] = [await deedOf(), newId()]
    chain.closeEvery(20)
    await putOn(ledger, deed)
    expect(await ledger.find([later])).toEqual(new Map())
    const found = await ledger.find([later, deed.intentId])
    expect([...found.keys()]).toEqual([deed.intentId])
  })
})
