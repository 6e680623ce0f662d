import { AuditLog } from '../../src/access/audit/audit-log.ts'
import type { AssetStreamId, UserId, VaultId } from '../../src/core/ids.ts'
import { UserStore } from '../../src/identity/users/user-store.ts'
import { Events } from '../../src/outbox/events/events.ts'
import { LifecycleEvents } from '../../src/outbox/lifecycle/lifecycle-events.ts'
import { openStateForReading, type StateWriter } from '../../src/storage/state/database.ts'
import { totalOf } from '../../src/storage/state/totals.ts'
import { AssetStreamStore } from '../../src/twins/asset-streams/asset-stream-store.ts'
import { AttachmentStore } from '../../src/twins/attachments/attachment-store.ts'
import type { SharedResource, Terms } from '../../src/twins/permissions/permission.ts'
import { PermissionEnds } from '../../src/twins/permissions/permission-ends.ts'
import { PermissionStore } from '../../src/twins/permissions/permission-store.ts'
import type { SharedType } from '../../src/twins/rights/right.ts'
import { sharedLists } from '../../src/twins/rights/shared-rows.ts'
import { TemplateStore } from '../../src/twins/templates/template-store.ts'
import { VaultStore } from '../../src/twins/vaults/vault-store.ts'
import { HandClock } from './hand-clock.ts'
import { TestState } from './test-state.ts'

const actor = { userId: 'who', apiKeyId: 'by which key' }

/** Vaults and asset streams of users who share them, and a clock that stands where it is put. */
export class SharedTwins implements AsyncDisposable {
  readonly tests: TestState
  readonly clock = new HandClock()
  #made = 0

  static async open(): Promise<SharedTwins> {
    return new SharedTwins(await TestState.open())
  }

  private constructor(tests: TestState) {
    this.tests = tests
  }

  needs(writer: StateWriter = this.tests) {
    const { clock } = this
    const { state } = this.tests
    const lifecycle = new LifecycleEvents({ state, writer, clock })
    const events = new Events(state, clock)
    return { state, writer, clock, lifecycle, events, audit: new AuditLog(state, clock) }
  }

  get vaults(): VaultStore {
    return new VaultStore(this.needs())
  }

  get assetStreams(): AssetStreamStore {
    return new AssetStreamStore(this.needs())
  }

  get attachments(): AttachmentStore {
    return new AttachmentStore({
      ...this.needs(),
      openView: () => openStateForReading(this.tests.path),
      uploadWaitUs: 1,
      removedWith: () => [],
    })
  }

  get permissions(): PermissionStore {
    return new PermissionStore(this.needs())
  }

  get ends(): PermissionEnds {
    return new PermissionEnds(this.needs())
  }

  /** Ends what there is to end, portion by portion; resolves with how many there were. */
  async endAll(): Promise<number> {
    const { ends } = this
    let portions = 0
    while (await ends.endSome()) portions++
    return portions
  }

  async newResource(ownerId: UserId, type: SharedType = 'vault'): Promise<SharedResource> {
    return type === 'vault' ? await this.#newVault(ownerId) : await this.#newStream(ownerId)
  }

  async #newStream(ownerId: UserId): Promise<SharedResource> {
    const wish = { assetCode: `A${++this.#made}`, description: null }
    const { stream, changes } = await this.assetStreams.plan(ownerId, wish, 'sandbox')
    await this.tests.commit(...changes)
    return { ...stream, type: 'asset_stream', name: stream.assetCode }
  }

  async #newVault(ownerId: UserId): Promise<SharedResource> {
    const common = { name: 'boiler', description: null, public: false }
    const { template, changes } = await new TemplateStore(this.needs()).plan(ownerId, {
      ...common,
      author: null,
      hint: '',
      requiredStreams: [],
    })
    const planned = await this.vaults.plan(
      ownerId,
      { ...common, templateId: template.id, ledger: 'XRPL', jsonPayload: null },
      { template, streams: [], network: 'sandbox' },
    )
    await this.tests.commit(...changes, ...planned.changes)
    return { ...planned.vault, type: 'vault' }
  }

  /** False when it cannot be. */
  async grant(
    resource: SharedResource,
    userId: UserId,
    terms: Partial<Terms> = {},
  ): Promise<boolean> {
    const wish = { role: 'READ', expiresAtUs: undefined, ...terms } as const
    const holder = { id: userId, username: userId }
    return await this.tests.attempt(
      ...this.permissions.plan(resource, { ...wish, holder }, actor).changes,
    )
  }

  async deleteUser(id: UserId): Promise<void> {
    await new UserStore(this.needs()).delete(actor, id)
  }

  /** Whether there was one to delete. */
  async deleteResource({ type, id, ownerId }: SharedResource): Promise<boolean> {
    const { vaults, assetStreams } = this
    if (type === 'vault') {
      const vault = await vaults.findVisible(ownerId, id as VaultId)
      return vault !== undefined && (await vaults.remove(vault))
    }
    const stream = await assetStreams.findVisible(ownerId, id as AssetStreamId)
    return stream !== undefined && (await assetStreams.remove(stream))
  }

  /** How many rows of an owner there are, and how many the owner and all holders are counted to have. */
  async counted(
    ownerId: UserId,
  ): Promise<readonly [rows: number, granted: number, shared: number]> {
    const { state } = this.tests
    const rows = await state
      .selectFrom('permissions')
      .select('id')
      .where('owner_id', '=', ownerId)
      .execute()
    const shared = await state
      .selectFrom('totals')
      .select('total')
      .where('list', 'in', Object.values(sharedLists))
      .execute()
    const sum = shared.reduce((all, { total }) => all + total, 0)
    return [rows.length, await totalOf(state, 'permissions', ownerId), sum]
  }

  /** What a user is shown in the list of vaults, and of how many. */
  async vaultsOf(userId: UserId): Promise<readonly [ids: readonly string[], total: number]> {
    const { items, total } = await this.vaults.listPage(userId, { offset: 0, limit: 1_000 })
    return [items.map(({ id }) => id), total]
  }

  /** Types of the events of a user, in their order. */
  async toldTo(ownerId: UserId): Promise<readonly string[]> {
    const rows = await this.tests.state
      .selectFrom('events')
      .select('type')
      .where('owner_id', '=', ownerId)
      .orderBy('at')
      .orderBy('type')
      .execute()
    return rows.map(({ type }) => type)
  }

  /** What the audit log says of the ends of permissions. */
  async endsInLog(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { audit } = this.needs()
    const entries = await audit.list({ action: 'permission.ended' }, undefined, 1_000)
    return entries.map(({ subjectId, actor: who, details }) => ({ subjectId, who, ...details }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tests[Symbol.asyncDispose]()
  }
}
