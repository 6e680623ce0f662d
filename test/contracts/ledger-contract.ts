import { describe, expect, test } from 'vitest'
import { type Ledger, LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { leafHash, rootBy } from '../../src/ledgers/merkle/merkle.ts'
import { parseHeader } from '../../src/ledgers/proofs/block-header.ts'
import { sha256Of } from '../../src/ledgers/proofs/transaction-text.ts'
import { deedOf, includedOf, putOn } from '../support/sandbox-ledger.ts'

/** A ledger with nothing on it, of one test alone. */
export interface TestedLedger extends AsyncDisposable {
  readonly ledger: Ledger
  /** Ends it, and opens it again; `between` is done meanwhile. */
  restart(between?: () => void): Promise<Ledger>
  /** Takes the last block back, as a reorg does. */
  reorg(): Promise<Ledger>
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
      const { header, blockHash, path, height, timeUs, signatures } = inclusion
      expect(sha256Of(transaction.text)).toBe(transaction.hash)
      expect(sha256Of(header)).toBe(blockHash)
      expect(parseHeader(header)).toMatchObject({ height, timeUs })
      expect(rootBy(leafHash(transaction.hash), path)?.toString('hex')).toBe(
        parseHeader(header)?.root,
      )
      expect(signatures).toHaveLength(1)
    })

    test('that nobody has sent is unknown', async () => {
      await using tested = await open()
      const { hash } = tested.ledger.sign(await deedOf(), 1)
      expect(await tested.ledger.sight(hash)).toEqual({ is: 'unknown' })
    })

    test('is the same for the same deed under the same sequence', async () => {
      await using tested = await open()
      const deed = await deedOf({ kind: 'nft' })
      expect(tested.ledger.sign(deed, 4)).toEqual(tested.ledger.sign(deed, 4))
      expect(tested.ledger.sign(deed, 4).hash).not.toBe(tested.ledger.sign(deed, 5).hash)
    })

    test('that is sent again changes nothing', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { transaction, inclusion } = await putOn(ledger, await deedOf())
      expect(await ledger.submit(transaction.blob)).toEqual({ is: 'accepted' })
      expect(await includedOf(ledger, transaction.hash)).toEqual(inclusion)
      expect(await ledger.nextSequence()).toBe(2)
    })

    test('that waits can be sent again', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { blob, hash } = ledger.sign(await deedOf(), 1)
      await Promise.all([ledger.submit(blob), ledger.submit(blob), ledger.submit(blob)])
      await includedOf(ledger, hash)
      expect(await ledger.nextSequence()).toBe(2)
    })

    test('whose sequence another one has can never get in', async () => {
      await using tested = await open()
      const { ledger } = tested
      const other = ledger.sign(await deedOf(), 1)
      await putOn(ledger, await deedOf())
      expect(await ledger.submit(other.blob)).toEqual({ is: 'superseded' })
      expect(await ledger.sight(other.hash)).toEqual({ is: 'unknown' })
    })

    test('whose sequence another one has that waits can never get in', async () => {
      await using tested = await open()
      const { ledger } = tested
      const first = ledger.sign(await deedOf(), 1)
      const second = ledger.sign(await deedOf(), 1)
      expect(
        await Promise.all([ledger.submit(first.blob), ledger.submit(second.blob)]),
      ).toMatchObject([{ is: 'accepted' }, { is: 'superseded' }])
      await includedOf(ledger, first.hash)
    })

    test('that leaves a gap is early, and gets in after the one before it', async () => {
      await using tested = await open()
      const { ledger } = tested
      const second = ledger.sign(await deedOf(), 2)
      expect(await ledger.submit(second.blob)).toEqual({ is: 'early' })
      await putOn(ledger, await deedOf())
      expect(await ledger.submit(second.blob)).toEqual({ is: 'accepted' })
      await includedOf(ledger, second.hash)
    })

    test.each([
      ['no transaction', () => 'nothing'],
      ['changed', (blob: string) => blob.replace('"', "'")],
      [
        'signed by nobody',
        (blob: string) => blob.replace(/"signature":"..../, '"signature":"AAAA'),
      ],
    ])('that is %s is refused', async (_, change) => {
      await using tested = await open()
      const { blob } = tested.ledger.sign(await deedOf(), 1)
      expect(await tested.ledger.submit(change(blob))).toMatchObject({ is: 'refused' })
      expect(await tested.ledger.nextSequence()).toBe(1)
    })

    test('whose root is not that of its leaves is refused', async () => {
      await using tested = await open()
      const deed = { ...(await deedOf()), root: sha256Of('another one') }
      const { blob } = tested.ledger.sign(deed, 1)
      expect(await tested.ledger.submit(blob)).toMatchObject({ is: 'refused' })
    })

    test('of a token has a name for it, which is its own', async () => {
      await using tested = await open()
      const [one, other, root] = [
        await putOn(tested.ledger, await deedOf({ kind: 'nft' })),
        await putOn(tested.ledger, await deedOf({ kind: 'nft' })),
        await putOn(tested.ledger, await deedOf({ kind: 'root' })),
      ]
      expect(one.inclusion.tokenId).toMatch(/^[0-9a-f]{64}$/)
      expect(other.inclusion.tokenId).not.toBe(one.inclusion.tokenId)
      expect(root.inclusion.tokenId).toBeUndefined()
    })
  })

  describe('many transactions', () => {
    test('are all seen, each once', async () => {
      await using tested = await open()
      const { ledger } = tested
      const deeds = await Promise.all(Array.from({ length: 50 }, async () => await deedOf()))
      const all = deeds.map((deed, at) => ledger.sign(deed, at + 1))
      for (const { blob } of all) expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
      for (const { hash } of all) {
        const { header, path } = await includedOf(ledger, hash)
        expect(rootBy(leafHash(hash), path)?.toString('hex')).toBe(parseHeader(header)?.root)
      }
      expect(await ledger.nextSequence()).toBe(51)
    })
  })

  describe('what is on it', () => {
    test('is found by its intent, and by those of its leaves', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { leaves: one } = await deedOf({ intentId: 'one' })
      const { leaves: two } = await deedOf({ intentId: 'two' })
      const deed = await deedOf({ intentId: 'batch', leaves: [...one, ...two] })
      const { transaction } = await putOn(ledger, deed)
      const found = await ledger.find(['batch', 'two', 'nobody'])
      expect([...found]).toEqual([
        ['batch', { ...transaction, deed }],
        ['two', { ...transaction, deed }],
      ])
    })

    test('is there after a restart', async () => {
      await using tested = await open()
      const deed = await deedOf({ intentId: 'before' })
      const { transaction, inclusion } = await putOn(tested.ledger, deed)
      const ledger = await tested.restart()
      expect(await includedOf(ledger, transaction.hash)).toEqual(inclusion)
      expect((await ledger.find(['before'])).get('before')).toEqual({ ...transaction, deed })
      expect(await ledger.nextSequence()).toBe(2)
      await putOn(ledger, await deedOf())
    })

    test('and is taken back gets in again as the same transaction', async () => {
      await using tested = await open()
      await putOn(tested.ledger, await deedOf())
      const { transaction } = await putOn(tested.ledger, await deedOf())
      const ledger = await tested.reorg()
      expect(await ledger.sight(transaction.hash)).toEqual({ is: 'unknown' })
      expect(await ledger.nextSequence()).toBe(2)
      expect(await ledger.submit(transaction.blob)).toEqual({ is: 'accepted' })
      expect(await includedOf(ledger, transaction.hash)).toMatchObject({ height: 2 })
    })
  })

  describe('a ledger', () => {
    test('tells who waits that there is more to see, also of what came before', async () => {
      await using tested = await open()
      const { ledger } = tested
      const { blob, hash } = ledger.sign(await deedOf(), 1)
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
      const { blob, hash } = ledger.sign(await deedOf(), 1)
      await tested.goDown()
      await expect(ledger.submit(blob)).rejects.toThrow(LedgerUnreachable)
      await expect(ledger.sight(hash)).rejects.toThrow(LedgerUnreachable)
      await expect(ledger.find(['one'])).rejects.toThrow(LedgerUnreachable)
      await expect(ledger.nextSequence()).rejects.toThrow(LedgerUnreachable)
      const again = await tested.restart()
      expect(await again.sight(hash)).toEqual({ is: 'unknown' })
    })

    test('keeps its account and its keys over a restart', async () => {
      await using tested = await open()
      const { network, account, distributionWallet } = tested.ledger
      expect(distributionWallet).not.toBe(account)
      expect(await tested.restart()).toMatchObject({ network, account, distributionWallet })
    })
  })
}
