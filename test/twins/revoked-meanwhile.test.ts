import { describe, expect, test } from 'vitest'
import type { AssetStreamId, UserId, VaultId } from '../../src/core/ids.ts'
import type { SharedResource } from '../../src/twins/permissions/permission.ts'
import type { SharedType } from '../../src/twins/rights/right.ts'
import { SharedTwins } from '../support/shared-twins.ts'

const actor = { userId: 'who', apiKeyId: 'by which key' }
const secondUs = 1_000_000

/** Something that its holder may change, for a second. */
async function writable(twins: SharedTwins, type: SharedType) {
  const owner = await twins.tests.newUser()
  const holder = await twins.tests.newUser()
  const resource = await twins.newResource(owner, type)
  const expiresAtUs = twins.clock.nowUs() + secondUs
  expect(await twins.grant(resource, holder, { role: 'WRITE', expiresAtUs })).toBe(true)
  return { owner, holder, resource }
}

type Sharing = Awaited<ReturnType<typeof writable>>

/** Requests of a holder: each looks first, and resolves with what makes its change then. */
const requests = {
  'PUT of a vault': {
    type: 'vault',
    async looked(twins, holder, id) {
      const vault = await twins.vaults.findVisible(holder, id as VaultId)
      if (!vault) throw new Error('the vault is not shown')
      const change = { change: { description: 'of the holder' }, also: [] }
      return () => twins.vaults.change(holder, vault, change)
    },
  },
  'PUT of an asset stream': {
    type: 'asset_stream',
    async looked(twins, holder, id) {
      const stream = await seenStream(twins, holder, id)
      const change = { change: { description: 'of the holder' }, also: [] }
      return () => twins.assetStreams.change(holder, stream, change)
    },
  },
  'POST of an attachment': {
    type: 'asset_stream',
    async looked(twins, holder, id) {
      const stream = await seenStream(twins, holder, id)
      const about = { name: 'report', description: null, streamId: stream.id } as const
      const wanted = { ...about, ledger: 'XRPL', filename: null, uploadAsZip: false } as const
      const plan = () =>
        twins.attachments.plan(holder, stream, { wanted, network: 'sandbox' }).changes
      return () => twins.tests.attempt(...plan())
    },
  },
} as const satisfies Record<
  string,
  {
    readonly type: SharedType
    readonly looked: (
      twins: SharedTwins,
      holder: UserId,
      id: SharedResource['id'],
    ) => Promise<() => Promise<boolean>>
  }
>

async function seenStream(twins: SharedTwins, holder: UserId, id: SharedResource['id']) {
  const stream = await twins.assetStreams.findVisible(holder, id as AssetStreamId)
  if (!stream) throw new Error('the asset stream is not shown')
  return stream
}

/** What can come between the look of a request and its change. */
const between: Readonly<Record<string, (twins: SharedTwins, sharing: Sharing) => unknown>> = {
  async 'is revoked'(twins, { resource, holder }) {
    const permission = await twins.permissions.findOf(resource, holder)
    if (permission) await twins.permissions.revoke(resource, permission, actor)
  },
  async 'is only to READ any more'(twins, { resource, holder }) {
    const permission = await twins.permissions.findOf(resource, holder)
    const terms = { role: 'READ', expiresAtUs: undefined } as const
    if (permission) await twins.permissions.change(resource, { permission, terms }, actor)
  },
  'is over'(twins) {
    twins.clock.atUs += secondUs
  },
  'has lost its owner': (twins, { owner }) => twins.deleteUser(owner),
  'has lost its holder': (twins, { holder }) => twins.deleteUser(holder),
}

/** What a request could have changed. */
async function changeable({ tests }: SharedTwins) {
  const { state } = tests
  return [
    await state.selectFrom('vaults').select('description').execute(),
    await state.selectFrom('asset_streams').select('description').execute(),
    await state.selectFrom('attachments').select('id').execute(),
    await state.selectFrom('totals').selectAll().where('list', 'like', 'attachments%').execute(),
  ]
}

describe.each(Object.entries(requests))('%s by a permission', (_name, request) => {
  const { type } = request

  test('is made while that counts', async () => {
    await using twins = await SharedTwins.open()
    const { holder, resource } = await writable(twins, type)
    const before = await changeable(twins)
    const change = await request.looked(twins, holder, resource.id)

    expect(await change()).toBe(true)
    expect(await changeable(twins)).not.toEqual(before)
  })

  test.each(Object.entries(between))('is not made when that %s meanwhile', async (_end, end) => {
    await using twins = await SharedTwins.open()
    const sharing = await writable(twins, type)
    const change = await request.looked(twins, sharing.holder, sharing.resource.id)
    const before = await changeable(twins)
    await end(twins, sharing)

    expect(await change()).toBe(false)
    expect(await changeable(twins)).toEqual(before)
  })
})
