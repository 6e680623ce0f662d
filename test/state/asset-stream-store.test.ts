import type { KyselyPlugin } from 'kysely'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type TemplateId, type UserId, type VaultId } from '../../src/core/ids.ts'
import {
  attemptChanges,
  commitChanges,
  openStateForWriting,
  plain,
  type StateWriter,
} from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { countChange, totalOf } from '../../src/storage/state/totals.ts'
import { type AssetStream, assetStreamsMax } from '../../src/twins/asset-streams/asset-stream.ts'
import { AssetStreamStore } from '../../src/twins/asset-streams/asset-stream-store.ts'
import type { Template } from '../../src/twins/templates/template.ts'
import { TemplateStore } from '../../src/twins/templates/template-store.ts'
import { VaultStore } from '../../src/twins/vaults/vault-store.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { TestState } from '../support/test-state.ts'

const common = { name: 'boiler', description: null, public: false }
const newVault = { ...common, ledger: 'XRPL', jsonPayload: null } as const

/** A state with one user, and the stores of what the user has. */
class World implements AsyncDisposable {
  readonly tests: TestState
  readonly userId: UserId

  static async open(): Promise<World> {
    const tests = await TestState.open()
    return new World(tests, await tests.newUser())
  }

  private constructor(tests: TestState, userId: UserId) {
    this.tests = tests
    this.userId = userId
  }

  get needs() {
    return { state: this.tests.state, writer: this.tests, clock: systemClock }
  }

  get assetStreams(): AssetStreamStore {
    return new AssetStreamStore(this.needs)
  }

  async stream(assetCode: string): Promise<AssetStream> {
    const wish = { assetCode, description: null }
    const planned = await this.assetStreams.plan(this.userId, wish, 'sandbox')
    await this.tests.commit(...planned.changes)
    const [made] = await this.assetStreams.withCodes(this.userId, [assetCode])
    return made ?? planned.stream
  }

  async template(requiredStreams: readonly string[]) {
    const wish = { ...common, author: null, hint: '', requiredStreams }
    const planned = await new TemplateStore(this.needs).plan(this.userId, wish)
    await this.tests.commit(...planned.changes)
    return planned.template
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tests[Symbol.asyncDispose]()
  }
}

test('a user can have as many asset streams as the limit says, and no more', async () => {
  await using world = await World.open()
  const { tests, assetStreams, userId } = world
  await tests.commit(countChange(tests.state, 'asset_streams', userId, assetStreamsMax - 1))
  const plan = async (assetCode: string) => {
    const wish = { assetCode, description: null }
    return (await assetStreams.plan(userId, wish, 'sandbox')).changes
  }

  expect(await assetStreams.hasRoom(userId)).toBe(true)
  expect(await tests.attempt(...(await plan('LAST')))).toBe(true)
  expect(await assetStreams.hasRoom(userId)).toBe(false)
  expect(await tests.attempt(...(await plan('BEYOND')))).toBe(false)
  expect(await totalOf(tests.state, 'asset_streams', userId)).toBe(assetStreamsMax)
})

test('one that something is attached to stays, and leaves with the number of its attachments', async () => {
  await using world = await World.open()
  const { tests, assetStreams, userId } = world
  const stream = await world.stream('GOLD')
  await tests.commit(
    countChange(tests.state, 'attachments_of_stream', stream.id, 1),
    tests.state.insertInto('attachments').values({
      id: 'an attachment',
      owner_id: userId,
      created_at: 0,
      name: 'a file',
      stream_id: stream.id,
      ledger: 'XRPL',
      upload_as_zip: 0,
      status: 'SERVICE_RECEIVED',
      progress: '[]',
    }),
  )

  expect(await assetStreams.remove(stream)).toBe(false)
  expect(await assetStreams.findVisible(userId, stream.id)).toEqual({ ...stream, right: 'own' })
  await tests.commit(tests.state.deleteFrom('attachments'))
  expect(await assetStreams.remove(stream)).toBe(true)
  const totals = tests.state.selectFrom('totals').select('list').where('owner_id', '!=', '')
  expect(await totals.execute()).toEqual([{ list: 'asset_streams' }])
  expect(await totalOf(tests.state, 'asset_streams', userId)).toBe(0)
})

test('a vault is not made when one that it lists was deleted meanwhile, and nothing of it is', async () => {
  await using world = await World.open()
  const { tests, assetStreams, userId } = world
  const streams = [await world.stream('GOLD'), await world.stream('IRON')]
  const template = await world.template(['GOLD', 'IRON'])
  const vaults = new VaultStore(world.needs)
  const plan = () =>
    vaults.plan(
      userId,
      { ...newVault, templateId: template.id },
      { template, streams, network: 'sandbox' },
    )
  const before = await plan()
  await tests.commit(...before.changes)
  await vaults.remove(before.vault)

  expect(await assetStreams.remove(streams[1] as AssetStream)).toBe(true)
  expect(await tests.attempt(...(await plan()).changes)).toBe(false)
  // A new one with that code is another one.
  await world.stream('IRON')
  expect(await tests.attempt(...(await plan()).changes)).toBe(false)
  expect(await tests.state.selectFrom('vaults').selectAll().execute()).toEqual([])
  expect(await tests.state.selectFrom('vault_streams').selectAll().execute()).toEqual([])
})

test('a hundred vaults are read with what they list in two statements beside how many there are, and are shared', async () => {
  await using world = await World.open()
  const { tests, userId } = world
  const streams = [await world.stream('GOLD'), await world.stream('IRON')]
  const template = await world.template(['GOLD', 'IRON'])
  const wish = { ...newVault, templateId: template.id }
  const from = { template, streams, network: 'sandbox' }
  for (let count = 0; count < 100; count++) {
    const vaults = new VaultStore(world.needs)
    await tests.commit(...(await vaults.plan(userId, wish, from)).changes)
  }
  let statements = 0
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements++
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const needs = { ...world.needs, state: tests.state.withPlugin(counting) }

  const { items } = await new VaultStore(needs).listPage(userId, { offset: 0, limit: 100 })
  const listed = await new AssetStreamStore(needs).ofVaults(items.map(({ id }) => id))

  expect(statements).toBe(4)
  expect(items).toHaveLength(100)
  expect(items.map(({ id }) => listed.get(id))).toEqual(items.map(() => streams))
})

test('vaults of an earlier release list nothing, and what they are made from can be used', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const earlier = Object.keys(migrations).filter((name) => name < '0044')
  const old = await openOldState(path, earlier)
  const [userId, templateId, vaultId] = [newId<UserId>(), newId<TemplateId>(), newId<VaultId>()]
  old.exec(`INSERT INTO users (id, username, created_at) VALUES ('${userId}', 'ada', 0)`)
  old.exec(`INSERT INTO templates (id, owner_id, created_at, name, name_folded, status, public, hint,
      required_streams)
    VALUES ('${templateId}', '${userId}', 1, 'Boiler', 'boiler', 'UPLOAD_PENDING', 1, '', '["GOLD"]')`)
  old.exec(`INSERT INTO vaults (id, owner_id, created_at, template_id, name, status, ledger, public)
    VALUES ('${vaultId}', '${userId}', 1, '${templateId}', 'boiler 7', 'SERVICE_RECEIVED', 'XRPL', 1)`)
  old.close()

  const state = await openStateForWriting(path)
  const writer: StateWriter = {
    commit: (...changes) => commitChanges(state, changes.map(plain)),
    attempt: (...changes) => attemptChanges(state, changes.map(plain)),
  }
  const needs = { state, writer, clock: systemClock }
  const assetStreams = new AssetStreamStore(needs)
  const vault = await new VaultStore(needs).findVisible(userId, vaultId)

  expect(vault).toMatchObject({ id: vaultId, name: 'boiler 7' })
  expect(await assetStreams.ofVaults([vaultId])).toEqual(new Map())
  expect(await assetStreams.listPage(userId, { offset: 0, limit: 10 })).toEqual({
    items: [],
    total: 0,
  })
  const wish = { assetCode: 'GOLD', description: null }
  const gold = await assetStreams.plan(userId, wish, 'sandbox')
  const template = await new TemplateStore(needs).findVisible(userId, templateId)
  const described = await new TemplateStore(needs).withMetadata(template as Template)
  const from = { template: described, streams: [gold.stream], network: 'sandbox' }
  const made = await new VaultStore(needs).plan(userId, { ...newVault, templateId }, from)
  expect(await writer.attempt(...gold.changes, ...made.changes)).toBe(true)
  expect(await assetStreams.ofVaults([vaultId, made.vault.id])).toEqual(
    new Map([[made.vault.id, await assetStreams.withCodes(userId, ['GOLD'])]]),
  )
  await state.destroy()
})
