import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import {
  type Deed,
  type Ledger,
  LedgerUnreachable,
  type SignedTransaction,
} from '../../src/ledgers/ledger.ts'
import { checkProofText } from '../../src/ledgers/proofs/check-proof.ts'
import { proofOf } from '../../src/ledgers/proofs/proof.ts'
import { deedOf, gold, includedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'

/** A ledger with nothing of ours on it, of one test alone. */
export interface TestedLedger extends AsyncDisposable {
  readonly ledger: Ledger
  /** Whether it has the CIDs of a transaction, and not only their root. */
  readonly keepsLeaves: boolean
  /** Whether an asset takes one transaction on it (`token`), in which it comes to be where it is distributed from. */
  readonly issuesAtOnce?: boolean
  /** Makes what was signed before this too cheap; undefined where fees do not rise. */
  raiseFees?(): Promise<void>
  /** Ends it, and opens it again; `between` is done meanwhile. */
  restart(between?: () => void): Promise<Ledger>
  /** Takes the last block back, as a reorg does; undefined where none ever is. */
  reorg?(): Promise<Ledger>
  /** Makes it answer nothing from now on. */
  goDown(): Promise<void>
}

/** What each ledger promises that anchors are put on. */
export function ledgerContract(open: () => Promise<TestedLedger>): void {
  describe('a transaction', () => {
    test('that is put on is seen with what shows it', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { transaction, inclusion } = await putOn(ledger, await deedOf())
      expect(transaction.text).not.toBe('')
      expect(inclusion.height).toBeGreaterThan(0)
      expect(inclusion.timeUs).toBeGreaterThan(0)
      expect(inclusion.header).toContain(String(inclusion.height))
      expect(inclusion.blockHash).not.toBe('')
    })

    test.each(['root', 'nft'] as const)('of the kind %s has a proof that holds', async (kind) => {
      await using tested = await open()
      const { ledger } = tested
      const deed = await deedOf({ kind })
      const proof = proofOf({
        status: 'COMPLETED',
        isFinal: true,
        profile: 'unixfs-v1-2025',
        parts: deed.leaves.map(({ cid }, leaf) => ({ name: '', cid, leaf })),
        leaves: deed.leaves.map(({ cid }) => cid),
        ledger: '',
        network: ledger.network,
        ...(await putOn(ledger, deed)),
      })
      const isOwn = ledger.network === 'sandbox'
      const { is } = checkProofText(JSON.stringify(proof), { trustedKeys: new Set() })
      expect(is).toBe(isOwn ? 'proven_under_key' : 'unreachable')
    })

    test('that nobody has sent is unknown', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { hash } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      expect(await tested.ledger.sight(hash)).toEqual({ is: 'unknown' })
    })

    test('is the same for the same deed under the same sequence and the same terms', async () => {
      await using tested = await open()
      const { ledger } = tested
      const deed = await deedOf({ kind: 'nft' })
      const { terms } = (await ledger.prepare(deed)) as { readonly terms: string }
      const one = await ledger.sign(deed, 4, terms)
      expect(await ledger.sign(deed, 4, terms)).toEqual(one)
      expect(one).toMatchObject({ sequence: 4, terms })
      expect((await ledger.sign(deed, 5, terms)).hash).not.toBe(one.hash)
    })

    test('that is sent again changes nothing', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { transaction, inclusion } = await putOn(ledger, await deedOf())
      expect(await ledger.submit(transaction.blob)).toEqual({ is: 'accepted' })
      expect(await includedOf(ledger, transaction.hash)).toEqual(inclusion)
      expect(await ledger.nextSequence()).toBe(transaction.sequence + 1)
    })

    test('that waits can be sent again', async () => {
      await using tested = await open()
      const { ledger } = tested
      const first = await ledger.nextSequence()
      const { blob, hash } = await signedBy(ledger, await deedOf(), first)
      await Promise.all([ledger.submit(blob), ledger.submit(blob), ledger.submit(blob)])
      await includedOf(ledger, hash)
      expect(await ledger.nextSequence()).toBe(first + 1)
    })

    test('whose sequence another one has can never get in', async () => {
      await using tested = await open()
      const { ledger } = tested
      const other = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      await putOn(ledger, await deedOf())
      expect(await ledger.submit(other.blob)).toEqual({ is: 'superseded' })
    })

    test('that leaves a gap gets in after the one before it', async () => {
      await using tested = await open()
      const { ledger } = tested
      const first = await ledger.nextSequence()
      const second = await signedBy(ledger, await deedOf(), first + 1)
      expect(['early', 'accepted']).toContain((await ledger.submit(second.blob)).is)
      expect(['unknown', 'pending', 'early']).toContain((await ledger.sight(second.hash)).is)
      await ledger.submit((await signedBy(ledger, await deedOf(), first)).blob)
      expect(await ledger.submit(second.blob)).toEqual({ is: 'accepted' })
      await includedOf(ledger, second.hash)
    })

    test('that is none is refused', async () => {
      await using tested = await open()
      expect(await tested.ledger.submit('nothing')).toMatchObject({ is: 'refused' })
    })

    test('that was signed just now is to wait for its block', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { blob, terms } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      const waiting = { blob, terms, signedAtUs: systemClock.nowUs() }
      expect(await ledger.betterTerms(waiting)).toBeUndefined()
    })

    test('that is too cheap by now gets better terms, where there are any', async () => {
      await using tested = await open()
      const { ledger } = tested
      const deed = await deedOf()
      const first = await ledger.nextSequence()
      const { hash, blob, terms } = await signedBy(ledger, deed, first)
      await tested.raiseFees?.()
      const better = await ledger.betterTerms({ blob, terms, signedAtUs: 0 })
      expect(better !== undefined).toBe(tested.raiseFees !== undefined)
      if (better === undefined) return
      const another = await ledger.sign(deed, first, better)
      expect(another).toMatchObject({ sequence: first, terms: better })
      expect(another.hash).not.toBe(hash)
      expect(await ledger.submit(another.blob)).toEqual({ is: 'accepted' })
      await includedOf(ledger, another.hash)
    })

    test('of a token has a name for it, which is its own', async () => {
      await using tested = await open()
      const [one, other, root] = [
        await putOn(tested.ledger, await deedOf({ kind: 'nft' })),
        await putOn(tested.ledger, await deedOf({ kind: 'nft' })),
        await putOn(tested.ledger, await deedOf({ kind: 'root' })),
      ]
      expect(one.inclusion.tokenId).toMatch(/./)
      expect(other.inclusion.tokenId).not.toBe(one.inclusion.tokenId)
      expect(root.inclusion.tokenId).toBeUndefined()
    })
  })

  describe('an asset that comes to be at once', () => {
    test('has a name for it, which is its own', async () => {
      await using tested = await open()
      if (!tested.issuesAtOnce) return
      const one = await putOn(tested.ledger, await newIssue())
      const other = await putOn(tested.ledger, await newIssue())
      expect(one.inclusion.tokenId).toMatch(/./)
      expect(other.inclusion.tokenId).not.toBe(one.inclusion.tokenId)
    })

    test('is found after a restart, with all that was said of it', async () => {
      await using tested = await open()
      if (!tested.issuesAtOnce) return
      const deed = await newIssue()
      const { transaction, inclusion } = await putOn(tested.ledger, deed)
      const ledger = await tested.restart()
      const found = (await ledger.find([deed.intentId])).get(deed.intentId)
      const leaves = tested.keepsLeaves ? deed.leaves : []
      expect(found).toEqual({ ...transaction, deed: { ...deed, leaves } })
      expect(await includedOf(ledger, transaction.hash)).toEqual(inclusion)
    })

    test('and whose block is taken back gets in again under the same name', async () => {
      await using tested = await open()
      if (!tested.issuesAtOnce || !tested.reorg) return
      await putOn(tested.ledger, await deedOf())
      const { transaction, inclusion } = await putOn(tested.ledger, await newIssue())
      const ledger = await tested.reorg()
      expect(await ledger.sight(transaction.hash)).toEqual({ is: 'unknown' })
      expect(await ledger.submit(transaction.blob)).toEqual({ is: 'accepted' })
      const again = await includedOf(ledger, transaction.hash)
      expect(again.tokenId).toBe(inclusion.tokenId)
    })
  })

  describe('many transactions', () => {
    test('are all seen, each once', async () => {
      await using tested = await open()
      const { ledger } = tested
      const deeds = await Promise.all(Array.from({ length: 50 }, async () => await deedOf()))
      const first = await ledger.nextSequence()
      const all: SignedTransaction[] = []
      for (const deed of deeds) all.push(await signedBy(ledger, deed, first + all.length))
      for (const { blob } of all) expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
      for (const { hash } of all) await includedOf(ledger, hash)
      expect(await ledger.nextSequence()).toBe(first + 50)
    })
  })

  describe('what is on it', () => {
    test('is found by its intent, and by those of its leaves where it has them', async () => {
      await using tested = await open()
      const { ledger, keepsLeaves } = tested
      const { leaves: one } = await deedOf()
      const { leaves: two } = await deedOf()
      const deed = await deedOf({ leaves: [...one, ...two] })
      const { transaction } = await putOn(ledger, deed)
      const leaf = two[0]?.intentId ?? ''
      const found = await ledger.find([deed.intentId, leaf, newId()])
      const seen = { ...transaction, deed: keepsLeaves ? deed : { ...deed, leaves: [] } }
      const expected = [[deed.intentId, seen], ...(keepsLeaves ? [[leaf, seen]] : [])]
      expect([...found]).toEqual(expected)
    })

    test('is there after a restart', async () => {
      await using tested = await open()
      const deed = await deedOf()
      const { transaction, inclusion } = await putOn(tested.ledger, deed)
      const ledger = await tested.restart()
      expect(await includedOf(ledger, transaction.hash)).toEqual(inclusion)
      const found = (await ledger.find([deed.intentId])).get(deed.intentId)
      expect(found).toMatchObject({ ...transaction, deed: { intentId: deed.intentId } })
      expect(await ledger.nextSequence()).toBe(transaction.sequence + 1)
      await putOn(ledger, await deedOf())
    })

    test('and is taken back gets in again as the same transaction', async () => {
      await using tested = await open()
      if (!tested.reorg) return
      await putOn(tested.ledger, await deedOf())
      const { transaction } = await putOn(tested.ledger, await deedOf())
      const ledger = await tested.reorg()
      expect(await ledger.sight(transaction.hash)).toEqual({ is: 'unknown' })
      expect(await ledger.nextSequence()).toBe(transaction.sequence)
      expect(await ledger.submit(transaction.blob)).toEqual({ is: 'accepted' })
      await includedOf(ledger, transaction.hash)
    })
  })

  describe('a ledger', () => {
    test('tells who waits that there is more to see, also of what came before', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { blob, hash } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      await ledger.submit(blob)
      const never = new AbortController().signal
      while ((await ledger.sight(hash)).is === 'pending') await ledger.changed(never)
      expect(await ledger.sight(hash)).toMatchObject({ is: 'included' })
    })

    test('lets go of who waits when that is aborted', async () => {
      await using tested = await open()
      const stopping = new AbortController()
      const waiting = tested.ledger.changed(stopping.signal)
      stopping.abort()
      await waiting
      await tested.ledger.changed(AbortSignal.abort())
    })

    test('that is down says so, and has no effect', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { blob, hash } = await signedBy(ledger, await deedOf(), await ledger.nextSequence())
      await tested.goDown()
      await expect(ledger.submit(blob)).rejects.toThrow(LedgerUnreachable)
      await expect(ledger.sight(hash)).rejects.toThrow(LedgerUnreachable)
      await expect(ledger.find([newId()])).rejects.toThrow(LedgerUnreachable)
      await expect(ledger.nextSequence()).rejects.toThrow(LedgerUnreachable)
      const again = await tested.restart()
      expect(await again.sight(hash)).toEqual({ is: 'unknown' })
    })

    test('keeps its account over a restart', async () => {
      await using tested = await open()
      const { network, account, distributionWallet } = tested.ledger
      expect(await tested.restart()).toMatchObject({ network, account, distributionWallet })
    })
  })
}

/** An asset of a stream that has none yet. */
async function newIssue(): Promise<Deed> {
  return await deedOf({ kind: 'token', asset: { ...gold, streamId: newId() } })
}
