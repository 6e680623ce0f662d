import { describe, expect, test } from 'vitest'
import { validateMPTokenMetadata } from 'xrpl'
import type { IssuedAsset } from '../../src/ledgers/ledger.ts'
import { termsOf } from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import { assetDeed, assetOf } from '../support/asset-deeds.ts'
import { putOn, signedBy } from '../support/sandbox-ledger.ts'
import { fundedAccounts, openXrplLedger, problemOf } from '../support/xrpl-ledger.ts'
import { XrplNode } from '../support/xrpl-node/xrpl-node.ts'

type Accounts = Awaited<ReturnType<typeof fundedAccounts>>

const steps = [
  ['issuance', 'issuer'],
  ['authorization', 'distributor'],
  ['payment', 'issuer'],
] as const

type Step = (typeof steps)[number][0]

const roles = Object.fromEntries(steps) as Readonly<Record<Step, 'issuer' | 'distributor'>>

/** Puts a step on. Resolves with the asset as it is known by then. */
async function take(accounts: Accounts, kind: Step, asset: IssuedAsset): Promise<IssuedAsset> {
  accounts.chain.closeEvery(10)
  const { inclusion } = await putOn(accounts.ledgerOf(roles[kind]), await assetDeed(kind, asset))
  accounts.chain.hold()
  return inclusion.tokenId === undefined ? asset : { ...asset, tokenId: inclusion.tokenId }
}

/** An asset that is as far as before a step. */
async function before(accounts: Accounts, kind: Step): Promise<IssuedAsset> {
  let asset = assetOf()
  for (const [step] of steps) {
    if (step === kind) break
    asset = await take(accounts, step, asset)
  }
  return asset
}

/** Signed and sent, in no ledger yet. */
async function sent({ ledgerOf }: Accounts, kind: Step, asset: IssuedAsset) {
  const ledger = ledgerOf(roles[kind])
  const deed = await assetDeed(kind, asset)
  const transaction = await signedBy(ledger, deed, await ledger.nextSequence())
  const submission = await ledger.submit(transaction.blob)
  return { ledger, deed, submission, ...transaction }
}

function accountOf({ chain, ledgerOf }: Accounts, role: 'issuer' | 'distributor') {
  return chain.newest.accounts.get(ledgerOf(role).account)
}

describe('an asset on XRPL', () => {
  test.each([
    ['GOLD', '1000000', 2],
    ['"'.repeat(20), `${2n ** 63n - 1n}`, 0],
    ['x', '1', 10],
  ])(
    'of the code %s and the amount %s is all with the distributor',
    async (code, amount, precision) => {
      await using accounts = await fundedAccounts()
      let asset = assetOf({ code, amount, precision })
      for (const [step] of steps) asset = await take(accounts, step, asset)
      const [issuance] = accountOf(accounts, 'issuer')?.issued ?? []
      expect(issuance).toMatchObject({
        id: asset.tokenId,
        maximum: BigInt(amount),
        outstanding: BigInt(amount),
      })
      const { Flags, AssetScale = 0, MPTokenMetadata } = issuance?.fields ?? {}
      expect([Flags, AssetScale]).toEqual([0x30, precision])
      const hex = String(MPTokenMetadata)
      expect(JSON.parse(Buffer.from(hex, 'hex').toString())).toMatchObject({
        t: code,
        ai: { stream: asset.streamId },
      })
      expect(hex.length / 2).toBeLessThan(250)
      const held = accountOf(accounts, 'distributor')?.held
      expect([...(held ?? [])]).toEqual([[asset.tokenId, BigInt(amount)]])
    },
  )

  test('has metadata of XLS-89, but for an icon', async () => {
    await using accounts = await fundedAccounts()
    await take(accounts, 'issuance', assetOf())
    const [issuance] = accountOf(accounts, 'issuer')?.issued ?? []
    expect(validateMPTokenMetadata(String(issuance?.fields['MPTokenMetadata']))).toEqual([
      'icon/i: should be a non-empty string.',
    ])
  })

  test('has an id that follows from account and sequence', async () => {
    await using accounts = await fundedAccounts()
    const ledger = accounts.ledgerOf('issuer')
    const sequence = await ledger.nextSequence()
    const { tokenId } = await take(accounts, 'issuance', assetOf())
    expect(tokenId).toMatch(/^[\dA-F]{48}$/)
    expect(Number.parseInt(tokenId?.slice(0, 8) ?? '', 16)).toBe(sequence)
  })

  test('that the node calls something else is not there for now', async () => {
    await using accounts = await fundedAccounts()
    const { chain, node } = accounts
    const { ledger, hash } = await sent(accounts, 'issuance', assetOf())
    chain.close()
    node.issuanceId = '0'.repeat(48)
    expect(await problemOf(ledger.sight(hash))).toBe(
      'the node says of an asset that it has another id',
    )
    node.issuanceId = undefined
    expect(await ledger.sight(hash)).toMatchObject({ is: 'included' })
  })

  test('has no id of what is no issuance that was validated', async () => {
    await using accounts = await fundedAccounts()
    const { ledger, hash } = await sent(accounts, 'issuance', assetOf())
    accounts.chain.failures.set(hash, 'tecDIR_FULL')
    accounts.chain.close()
    const reason = 'the network refuses it: tecDIR_FULL'
    expect(await ledger.sight(hash)).toEqual({ is: 'refused', reason })
  })

  test('takes two sequences of the issuer, and one of the distributor', async () => {
    await using accounts = await fundedAccounts()
    const sequences = async () => [
      await accounts.ledgerOf('issuer').nextSequence(),
      await accounts.ledgerOf('distributor').nextSequence(),
    ]
    const [issuer = 0, distributor = 0] = await sequences()
    let asset = assetOf()
    for (const [step] of steps) asset = await take(accounts, step, asset)
    expect(await sequences()).toEqual([issuer + 2, distributor + 1])
  })
})

describe.each(steps)('a transaction for the %s', (kind, role) => {
  test('that nodes forget is over with its last ledger, and can be signed anew', async () => {
    await using accounts = await fundedAccounts()
    const { chain } = accounts
    const asset = await before(accounts, kind)
    const { ledger, deed, hash, blob, terms } = await sent(accounts, kind, asset)
    chain.forgetWaiting()
    chain.closeMany(termsOf(terms).last - chain.newest.index + 1)
    expect(await ledger.sight(hash)).toEqual({ is: 'unknown' })
    expect(await ledger.submit(blob)).toEqual({ is: 'superseded' })
    const again = await signedBy(ledger, deed, await ledger.nextSequence())
    expect(await ledger.submit(again.blob)).toEqual({ is: 'accepted' })
    chain.close()
    expect(await ledger.sight(again.hash)).toMatchObject({ is: 'included', isFinal: true })
    const done = chain.validated().filter(({ blob: one }) => one.account === ledger.account)
    expect(done.filter((one) => one.blob.hash === hash)).toEqual([])
  })

  test.each(['before', 'after'] as const)(
    'over a connection that breaks %s the node has it is made once',
    async (cut) => {
      await using accounts = await fundedAccounts()
      const { chain, node } = accounts
      const ledger = accounts.ledgerOf(role)
      const deed = await assetDeed(kind, await before(accounts, kind))
      const { blob, hash } = await signedBy(ledger, deed, await ledger.nextSequence())
      node.cut = cut
      expect(await problemOf(ledger.submit(blob))).toBe('the node hangs up')
      expect(await ledger.submit(blob)).toEqual({ is: 'accepted' })
      chain.close()
      expect(await ledger.sight(hash)).toMatchObject({ is: 'included' })
      expect(chain.validated().filter((one) => one.blob.hash === hash)).toHaveLength(1)
    },
  )

  test('that fails for want of money is signed anew', async () => {
    await using accounts = await fundedAccounts()
    const { ledger, hash } = await sent(accounts, kind, await before(accounts, kind))
    accounts.chain.failures.set(hash, 'tecINSUFFICIENT_RESERVE')
    accounts.chain.close()
    expect(await ledger.sight(hash)).toEqual({ is: 'superseded' })
  })

  test('waits for a network that knows assets', async () => {
    await using accounts = await fundedAccounts()
    const asset = await before(accounts, kind)
    accounts.node.answersNext = 'temDISABLED'
    expect(await problemOf(sent(accounts, kind, asset))).toContain('temDISABLED')
  })
})

describe('an authorization', () => {
  test('that is there already is done, and is found', async () => {
    await using accounts = await fundedAccounts()
    const { chain } = accounts
    const asset = await before(accounts, 'payment')
    const { ledger, deed, hash, submission } = await sent(accounts, 'authorization', asset)
    expect(submission).toEqual({ is: 'accepted' })
    chain.close()
    expect(chain.validated().at(-1)?.meta.TransactionResult).toBe('tecDUPLICATE')
    expect(await ledger.sight(hash)).toMatchObject({ is: 'included', isFinal: true })
    expect((await ledger.find([deed.intentId])).get(deed.intentId)?.hash).toBe(hash)
    await take(accounts, 'payment', asset)
  })

  test('of an asset that is not there is refused', async () => {
    await using accounts = await fundedAccounts()
    const asset = assetOf({ tokenId: 'AB'.repeat(24) })
    const { ledger, hash } = await sent(accounts, 'authorization', asset)
    accounts.chain.close()
    const reason = 'the network refuses it: tecOBJECT_NOT_FOUND'
    expect(await ledger.sight(hash)).toEqual({ is: 'refused', reason })
  })

  test('waits for the money of the distributor', async () => {
    await using node = await XrplNode.start()
    const ledger = await openXrplLedger(node, { role: 'distributor' })
    const deed = await assetDeed('authorization', assetOf({ tokenId: 'AB'.repeat(24) }))
    expect(await problemOf(ledger.prepare(deed))).toBe(
      `${ledger.account} is not an account yet: it has to be funded`,
    )
    node.chain.fund(ledger.account, 1_500_000n)
    expect(await problemOf(ledger.prepare(deed))).toMatch(/has 1500000 drops, and needs 3000100$/)
    node.chain.fund(ledger.account, 1_600_000n)
    expect(await ledger.prepare(deed)).toHaveProperty('terms')
    await ledger.close()
  })
})

describe('a payment', () => {
  test('that is made twice fails: there is no more of the asset', async () => {
    await using accounts = await fundedAccounts()
    const asset = await take(accounts, 'payment', await before(accounts, 'payment'))
    const { ledger, hash } = await sent(accounts, 'payment', asset)
    accounts.chain.close()
    const reason = 'the network refuses it: tecPATH_PARTIAL'
    expect(await ledger.sight(hash)).toEqual({ is: 'refused', reason })
    const held = accountOf(accounts, 'distributor')?.held
    expect([...(held ?? [])]).toEqual([[asset.tokenId, 1_000_000n]])
  })

  test('to who has not asked for it is refused', async () => {
    await using accounts = await fundedAccounts()
    const asset = await before(accounts, 'authorization')
    const { ledger, hash } = await sent(accounts, 'payment', asset)
    accounts.chain.close()
    const reason = 'the network refuses it: tecNO_AUTH'
    expect(await ledger.sight(hash)).toEqual({ is: 'refused', reason })
  })
})

test('a transaction of one of our accounts is none of the other', async () => {
  await using accounts = await fundedAccounts()
  const asset = await before(accounts, 'authorization')
  const { blob, deed } = await sent(accounts, 'authorization', asset)
  accounts.chain.close()
  const issuer = accounts.ledgerOf('issuer')
  expect(await issuer.submit(blob)).toEqual({
    is: 'refused',
    reason: `it is of the account ${accounts.ledgerOf('distributor').account}`,
  })
  expect(await issuer.find([deed.intentId])).toEqual(new Map())
})

test('an asset without an id, and one in a single transaction, are refused unseen', async () => {
  await using accounts = await fundedAccounts()
  const ledger = accounts.ledgerOf('issuer')
  expect(await ledger.prepare(await assetDeed('payment', assetOf()))).toEqual({
    refused: 'payment: the asset has no id of the network',
  })
  expect(await ledger.prepare(await assetDeed('token', assetOf()))).toEqual({
    refused: 'XRPL has no single transaction for an asset',
  })
})
