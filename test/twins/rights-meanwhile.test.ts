import { expect, test } from 'vitest'
import type { VaultId } from '../../src/core/ids.ts'
import { VaultStore } from '../../src/twins/vaults/vault-store.ts'
import { VerificationStore } from '../../src/twins/verification/verification-store.ts'
import { SharedTwins } from '../support/shared-twins.ts'

/** A vault, its owner, and somebody who may change it. */
async function sharedVault(twins: SharedTwins) {
  const owner = await twins.tests.newUser()
  const holder = await twins.tests.newUser()
  const resource = await twins.newResource(owner)
  await twins.grant(resource, holder, { role: 'WRITE' })
  const vaults = new VaultStore(twins.needs())
  const seenBy = async (userId: typeof owner) => {
    const vault = await vaults.findVisible(userId, resource.id as VaultId)
    if (!vault) throw new Error('the vault is not seen')
    return vault
  }
  const put = async (userId: typeof owner, isPublic: boolean) =>
    await vaults.change(userId, await seenBy(userId), { change: { public: isPublic }, also: [] })
  return { owner, holder, resource, vaults, seenBy, put }
}

test('a vault that its owner hides is not shown again by what a holder has sent meanwhile', async () => {
  await using twins = await SharedTwins.open()
  const { owner, holder, vaults, seenBy, put } = await sharedVault(twins)
  await put(owner, true)
  const seen = await seenBy(holder)

  await put(owner, false)
  const change = { name: 'boiler 8', public: true }
  expect(await vaults.change(holder, seen, { change, also: [] })).toBe(true)

  expect(await seenBy(owner)).toMatchObject({ name: 'boiler 8', public: false })
})

test('a verification is not asked for by a permission that ends meanwhile', async () => {
  await using twins = await SharedTwins.open()
  const { owner, holder, resource, seenBy } = await sharedVault(twins)
  const verifications = new VerificationStore(twins.needs())
  const seen = await seenBy(holder)
  const permission = await twins.permissions.findOf(resource, holder)
  if (!permission) throw new Error('there is no permission')

  await twins.permissions.revoke(resource, permission, { userId: owner, apiKeyId: 'a key' })

  expect(await verifications.ask(holder, seen)).toBeUndefined()
  expect(await verifications.isThere()).toBe(false)
  expect(await verifications.ask(owner, await seenBy(owner))).toMatchObject({ vaultId: seen.id })
})
