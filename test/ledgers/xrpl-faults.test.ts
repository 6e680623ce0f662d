import { describe, expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { termsOf } from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import { deedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'
import { fundedLedger, openXrplLedger, problemOf, sendByHand } from '../support/xrpl-ledger.ts'
import { XrplNode } from '../support/xrpl-node/xrpl-node.ts'

type Funded = Awaited<ReturnType<typeof fundedLedger>>

/** Signed and not sent. */
async function signedOn({ ledger }: Funded, kind: 'nft' | 'root' = 'root') {
  return await signedBy(ledger, await deedOf({ kind }), await ledger.nextSequence())
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
    sendByHand(chain)
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
    sendByHand(chain)
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
    expect(await problemOf(ledger.submit(blob))).toBe('the node hangs up')
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
    const lagging = `the node is at the block ${before}, and one has reported ${before + 1} before: it lags behind, or its chain was begun again`
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

  test('that lag behind are known for that after a start, by what was written down', async () => {
    await using tested = await fundedLedger()
    const { ledger, node, chain } = tested
    const before = chain.newest.index
    const { blob, hash } = await signedOn(tested)
    await ledger.submit(blob)
    chain.close()
    expect(await ledger.sight(hash)).toMatchObject({ is: 'included' })
    node.stopsAt = before
    const { heights } = ledger
    const anew = await openXrplLedger(node, { heights })
    const lagging = `the node is at the block ${before}, and one has reported ${before + 1}`
    expect(await problemOf(anew.sight(hash))).toContain(lagging)
    expect(await problemOf(anew.nextSequence())).toContain(lagging)
    await anew.close()
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
    const away = /^the node (refuses connections|hangs up)$/
    expect(await problemOf(ledger.nextSequence())).toMatch(away)
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
