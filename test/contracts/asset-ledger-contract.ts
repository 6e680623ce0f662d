import { describe, expect, test } from 'vitest'
import { assetStepsOf } from '../../src/ledgers/assets/asset-steps.ts'
import type { KeyRole } from '../../src/ledgers/keys/ledger-key.ts'
import type { DeedKind, IssuedAsset, Ledger } from '../../src/ledgers/ledger.ts'
import { assetDeed, assetOf } from '../support/asset-deeds.ts'
import { deedOf, includedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'

/** A network with nothing of ours on it, as each of our accounts sees it. */
export interface TestedAccounts extends AsyncDisposable {
  /** The ledger of an account; the issuer has one in any case. */
  ledgerOf(role: KeyRole): Ledger
  /** Opens it again. */
  restart(): Promise<void>
}

/** What each ledger promises that assets are issued on. */
export function assetLedgerContract(open: () => Promise<TestedAccounts>): void {
  describe('an asset', () => {
    test('is there when each of its steps is, and has an id from the first one on', async () => {
      await using accounts = await open()
      const [first, ...others] = await issued(accounts)
      expect(first?.inclusion.tokenId).toMatch(/./)
      expect(others.map(({ inclusion }) => inclusion.tokenId)).toEqual(others.map(() => undefined))
    })

    test('has an id of its own, also of the same code', async () => {
      await using accounts = await open()
      const [one] = await issued(accounts)
      const [other] = await issued(accounts)
      expect(one?.inclusion.tokenId).not.toBe(other?.inclusion.tokenId)
    })

    test('is found step by step, by who has signed', async () => {
      await using accounts = await open()
      for (const { role, deed, transaction } of await issued(accounts)) {
        const found = await accounts.ledgerOf(role).find([deed.intentId])
        const { intentId, kind, root } = deed
        const expected = { ...transaction, deed: { intentId, kind, root } }
        expect(found.get(intentId)).toMatchObject(expected)
      }
    })

    test('is there after a restart, as it was', async () => {
      await using accounts = await open()
      const steps = await issued(accounts)
      await accounts.restart()
      for (const { role, deed, transaction, inclusion } of steps) {
        const ledger = accounts.ledgerOf(role)
        expect(await includedOf(ledger, transaction.hash)).toEqual(inclusion)
        expect((await ledger.find([deed.intentId])).get(deed.intentId)?.hash).toBe(transaction.hash)
      }
    })
  })

  describe('a step of an asset', () => {
    test('is the same for the same deed under the same sequence and the same terms', async () => {
      await using accounts = await open()
      await eachStep(accounts, async (ledger, kind, asset) => {
        const deed = await assetDeed(kind, asset)
        const sequence = await ledger.nextSequence()
        const one = await signedBy(ledger, deed, sequence)
        expect(await ledger.sign(deed, sequence, one.terms)).toEqual(one)
        return await includedAfter(ledger, one)
      })
    })

    test('that is sent again changes nothing', async () => {
      await using accounts = await open()
      await eachStep(accounts, async (ledger, kind, asset) => {
        const { transaction, inclusion } = await putOn(ledger, await assetDeed(kind, asset))
        expect(await ledger.submit(transaction.blob)).toEqual({ is: 'accepted' })
        expect(await includedOf(ledger, transaction.hash)).toEqual(inclusion)
        expect(await ledger.nextSequence()).toBe(transaction.sequence + 1)
        return inclusion.tokenId
      })
    })

    test('is refused without its asset', async () => {
      await using accounts = await open()
      const { network } = accounts.ledgerOf('issuer')
      for (const { kind, role } of assetStepsOf(network)) {
        const prepared = await accounts.ledgerOf(role).prepare({ ...(await deedOf()), kind })
        expect(prepared).toMatchObject({ refused: expect.stringContaining(kind) })
      }
    })
  })
}

/** Goes the way of an asset; each step resolves with the id that it has given, if it has. */
async function eachStep(
  accounts: TestedAccounts,
  act: (ledger: Ledger, kind: DeedKind, asset: IssuedAsset) => Promise<string | undefined>,
): Promise<void> {
  let asset = assetOf()
  for (const { kind, role } of assetStepsOf(accounts.ledgerOf('issuer').network)) {
    const tokenId = await act(accounts.ledgerOf(role), kind, asset)
    if (tokenId !== undefined) asset = { ...asset, tokenId }
  }
}

async function includedAfter(
  ledger: Ledger,
  { blob, hash }: { readonly blob: string; readonly hash: string },
): Promise<string | undefined> {
  expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
  return (await includedOf(ledger, hash)).tokenId
}

/** Puts all steps of a new asset on. */
async function issued(accounts: TestedAccounts) {
  const steps: (Awaited<ReturnType<typeof putOnAs>> & { readonly role: KeyRole })[] = []
  await eachStep(accounts, async (ledger, kind, asset) => {
    const role = ledger === accounts.ledgerOf('issuer') ? 'issuer' : 'distributor'
    const step = await putOnAs(ledger, kind, asset)
    steps.push({ ...step, role })
    return step.inclusion.tokenId
  })
  return steps
}

async function putOnAs(ledger: Ledger, kind: DeedKind, asset: IssuedAsset) {
  const deed = await assetDeed(kind, asset)
  return { deed, ...(await putOn(ledger, deed)) }
}
