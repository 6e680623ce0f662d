import { describe, expect, test } from 'vitest'
import { encodeForSigning, Wallet } from 'xrpl'
import { newId } from '../../src/core/ids.ts'
import { LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { memoOf } from '../../src/ledgers/xrpl/memos.ts'
import { termsOf } from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import { deedOf, includedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'
import { fundedLedger, openXrplLedger, seeds } from '../support/xrpl-ledger.ts'
import { XrplNode } from '../support/xrpl-node/xrpl-node.ts'

/** What is thrown by something that cannot be asked now: it must not show an address. */
async function problemOf(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(LedgerUnreachable)
  const { message } = error as LedgerUnreachable
  expect(message).not.toContain('127.0.0.1')
  return message
}

type Funded = Awaited<ReturnType<typeof fundedLedger>>

/** Signed and not sent. */
async function signedOn({ ledger }: Funded, kind: 'nft' | 'root' = 'root') {
  return await signedBy(ledger, await deedOf({ kind }), await ledger.nextSequence())
}

/** Sends from the same account without us. */
function sendByHand({ chain, ledger }: Funded, memo = newId()): string | undefined {
  const wallet = Wallet.fromSeed(seeds.secp256k1)
  const { tx_blob: blob } = wallet.sign({
    TransactionType: 'AccountSet',
    Account: ledger.account,
    Fee: '10',
    Sequence: chain.current().get(ledger.account)?.sequence ?? 0,
    Memos: [{ Memo: { MemoData: Buffer.from(memo).toString('hex').toUpperCase() } }],
  })
  return chain.submit(blob)
}

describe('a transaction of XRPL', () => {
  test('that is validated is there, whatever a node says to it when it is sent again', async () => {
    await using tested = await fundedLedger()
    const { ledger, node, chain } = tested
    const { blob, hash } = await signedOn(tested)
    await ledger.submit(blob)
    chain.closeMany(40)
    for (const code of [
      'tefMAX_LEDGER',
      'tefPAST_SEQ',
      'tefALREADY',
      'telINSUF_FEE_P',
      'terRETRY',
    ]) {
      node.answersNext = code
      expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
    }
    expect(await ledger.sight(hash)).toMatchObject({ is: 'included', isFinal: true })
  })

  test('is over when a ledger past its last one is validated, and it is in none', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const { blob, hash, terms } = await signedOn(tested)
    chain.closeMany(termsOf(terms).last - chain.newest.index)
    // The last one is validated, and the node would take it no more; but nothing is past it.
    expect(await problemOf(ledger.submit(blob))).toContain('tefMAX_LEDGER')
    chain.close()
    expect(await ledger.sight(hash)).toEqual({ is: 'unknown' })
    expect(await ledger.submit(blob)).toEqual({ is: 'superseded' })
  })

  test.each([
    ['before the last one', -1],
    ['at its beginning', -29],
  ])('is not over while a node has a gap in its history %s', async (_, from) => {
    await using tested = await fundedLedger()
    const { ledger, node, chain } = tested
    const { blob, terms } = await signedOn(tested)
    const { last } = termsOf(terms)
    chain.closeMany(40)
    node.forget(last + from, last + from)
    expect(await problemOf(ledger.submit(blob))).toContain('does not have all ledgers')
    node.remember()
    expect(await ledger.submit(blob)).toEqual({ is: 'superseded' })
  })

  test('that is validated is not over, where only one of hash and history says so', async () => {
    await using tested = await fundedLedger()
    const { ledger, node, chain } = tested
    const { blob, terms } = await signedOn(tested)
    await ledger.submit(blob)
    chain.closeMany(40)
    node.forget(termsOf(terms).last - 1, termsOf(terms).last - 1)
    expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
    node.remember()
    node.isWithoutIndex = true
    expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
  })

  test('that a node remembers without a ledger is over all the same', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const { blob, hash } = await signedOn(tested)
    await ledger.submit(blob)
    chain.dropWaiting()
    expect(await ledger.sight(hash)).toEqual({ is: 'pending' })
    chain.closeMany(40)
    expect(await ledger.sight(hash)).toEqual({ is: 'unknown' })
    expect(await ledger.submit(blob)).toEqual({ is: 'superseded' })
  })

  test('in whose place another one waits may still get in', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const { blob, hash } = await signedOn(tested)
    expect(sendByHand(tested)).toBe('tesSUCCESS')
    expect(await ledger.submit(blob)).toEqual({ is: 'early' })
    chain.forgetWaiting()
    expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
    chain.close()
    expect(await ledger.sight(hash)).toMatchObject({ is: 'included' })
  })

  test('in whose place somebody has sent by hand never gets in', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const { blob, sequence } = await signedOn(tested)
    sendByHand(tested)
    chain.close()
    expect(await ledger.submit(blob)).toEqual({ is: 'superseded' })
    expect(await ledger.nextSequence()).toBe(sequence + 1)
  })

  test('that fails on the ledger is refused with its code, and has its sequence', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const { blob, hash, sequence } = await signedOn(tested)
    await ledger.submit(blob)
    chain.failures.set(hash, 'tecOBJECT_NOT_FOUND')
    chain.close()
    expect(await ledger.sight(hash)).toEqual({
      is: 'refused',
      reason: 'the network refuses it: tecOBJECT_NOT_FOUND',
    })
    expect(await ledger.nextSequence()).toBe(sequence + 1)
    expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
  })

  test('that fails for want of money is signed anew, once there is some', async () => {
    await using tested = await fundedLedger()
    const { ledger, chain } = tested
    const { blob, hash } = await signedOn(tested, 'nft')
    await ledger.submit(blob)
    chain.failures.set(hash, 'tecINSUFFICIENT_RESERVE')
    chain.close()
    expect(await ledger.sight(hash)).toEqual({ is: 'superseded' })
  })

  test.each([
    ['before', 'unknown'],
    ['after', 'pending'],
  ] as const)('over a connection that breaks %s the node has it is %s', async (cut, is) => {
    await using tested = await fundedLedger()
    const { ledger, node, chain } = tested
    const { blob, hash } = await signedOn(tested)
    node.cut = cut
    expect(await problemOf(ledger.submit(blob))).toBe('the node does not answer')
    expect(await ledger.sight(hash)).toEqual({ is })
    expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
    chain.close()
    expect(await ledger.sight(hash)).toMatchObject({ is: 'included' })
    expect(chain.validated().filter((one) => one.blob.hash === hash)).toHaveLength(1)
  })

  test('that is not for this account, or this network, is refused unseen', async () => {
    await using tested = await fundedLedger()
    await using other = await fundedLedger()
    const { node } = tested
    const another = await openXrplLedger(node, {
      issuer: {
        ...(await signerOfOther()),
        sign: async () => ({ signature: Buffer.alloc(64, 1) }),
      },
    })
    const { blob } = await another.sign(await deedOf(), 5, JSON.stringify({ fee: '10', last: 9 }))
    expect(await other.ledger.submit(blob)).toMatchObject({ is: 'refused' })
    expect(other.node.countOf('submit')).toBe(0)
  })

  test('whose code is none of a transaction that is malformed waits for a better day', async () => {
    await using tested = await fundedLedger()
    const { ledger, node } = tested
    const { blob } = await signedOn(tested)
    for (const code of ['telINSUF_FEE_P', 'tefBAD_AUTH', 'temDISABLED', 'terINSUF_FEE_B']) {
      node.answersNext = code
      expect(await problemOf(ledger.submit(blob))).toContain(code)
    }
    node.answersNext = 'temREDUNDANT'
    const reason = 'the network refuses it: temREDUNDANT'
    expect(await ledger.submit(blob)).toEqual({ is: 'refused', reason })
  })
})

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

describe('nodes of XRPL', () => {
  test('that lag behind are not believed that something is not there', async () => {
    await using tested = await fundedLedger()
    const { ledger, node, chain } = tested
    const before = chain.newest.index
    const { blob, hash, sequence } = await signedOn(tested)
    await ledger.submit(blob)
    chain.close()
    expect(await ledger.sight(hash)).toMatchObject({ is: 'included' })
    node.stopsAt = before
    const lagging = 'the node is behind what a node has told before'
    expect(await problemOf(ledger.sight(hash))).toBe(lagging)
    expect(await problemOf(ledger.submit(blob))).toBe(lagging)
    expect(await problemOf(ledger.nextSequence())).toBe(lagging)
    expect(await problemOf(ledger.find([newId()]))).toBe(lagging)
    expect(await problemOf(ledger.prepare(await deedOf()))).toBe(lagging)
    // One says how far they are, and another one answers the rest.
    node.isSeveral = true
    expect(await problemOf(ledger.nextSequence())).toContain('behind')
    node.stopsAt = undefined
    expect(await ledger.nextSequence()).toBe(sequence + 1)
  })

  test('are tried in turn: one that is away, one that lags behind, and one that knows', async () => {
    await using tested = await fundedLedger()
    const { node, chain } = tested
    await using away = await XrplNode.start(chain)
    await using stale = await XrplNode.start(chain)
    const endpoints = [away.endpoint, stale.endpoint, node.httpEndpoint]
    const ledger = await openXrplLedger(node, { endpoints })
    const { hash, blob } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
    await ledger.submit(blob)
    stale.stopsAt = chain.newest.index
    chain.close()
    await ledger.sight(hash)
    await away.down()
    expect(await ledger.sight(newHash())).toEqual({ is: 'unknown' })
    expect(node.countOf('tx')).toBe(1)
    await ledger.close()
  })

  test('of another network get nothing signed', async () => {
    await using tested = await fundedLedger()
    const { ledger, node } = tested
    node.networkId = 2
    expect(await problemOf(ledger.prepare(await deedOf()))).toBe(
      'the node is one of xrpl:2, and xrpl:1 is configured',
    )
    node.networkId = undefined
    expect(await problemOf(ledger.nextSequence())).toContain('xrpl:0')
  })

  test('are asked over JSON-RPC as well', async () => {
    await using tested = await fundedLedger()
    const { node, chain } = tested
    const ledger = await openXrplLedger(node, { endpoints: [node.httpEndpoint] })
    chain.closeEvery(20)
    const { inclusion } = await putOn(ledger, await deedOf({ kind: 'nft' }))
    expect(inclusion.tokenId).toMatch(/^0008/)
    await node.down()
    expect(await problemOf(ledger.nextSequence())).toBe('the node does not answer')
  })
})

describe('an account of XRPL', () => {
  test('that nobody has given money to waits for it', async () => {
    await using node = await XrplNode.start()
    const ledger = await openXrplLedger(node)
    expect(await problemOf(ledger.prepare(await deedOf()))).toBe(
      `${ledger.account} is no account yet: it has to be funded`,
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
    sendByHand(tested)
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

async function signerOfOther() {
  return {
    algorithm: 'Ed25519' as const,
    publicKey: Buffer.alloc(32, 3),
  }
}

function newHash(): string {
  return Buffer.from(newId()).toString('hex').slice(0, 64).toUpperCase().padEnd(64, '0')
}
