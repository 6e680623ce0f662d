import type { Compilable } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import type { UserId } from '../../src/core/ids.ts'
import { LifecycleEvents } from '../../src/outbox/lifecycle/lifecycle-events.ts'
import { openStateForReading } from '../../src/storage/state/database.ts'
import { AssetStreamStore } from '../../src/twins/asset-streams/asset-stream-store.ts'
import { AssetStore } from '../../src/twins/assets/asset-store.ts'
import { AttachmentStore } from '../../src/twins/attachments/attachment-store.ts'
import { appendedProgress, storedStatus } from '../../src/twins/progress/progress.ts'
import { forgottenSignatures, SignatureStore } from '../../src/twins/signatures/signature-store.ts'
import { TemplateStore } from '../../src/twins/templates/template-store.ts'
import { VaultStore } from '../../src/twins/vaults/vault-store.ts'
import { TestState } from './test-state.ts'

const common = { name: 'boiler', description: null, public: true }
const network = 'sandbox'

/** A state with one user, and what that user has to anchor. */
export class Twins implements AsyncDisposable {
  readonly tests: TestState
  readonly userId: UserId

  static async open(): Promise<Twins> {
    const tests = await TestState.open()
    return new Twins(tests, await tests.newUser())
  }

  private constructor(tests: TestState, userId: UserId) {
    this.tests = tests
    this.userId = userId
  }

  get needs() {
    return { state: this.tests.state, writer: this.tests, clock: systemClock }
  }

  get vaults(): VaultStore {
    return new VaultStore(this.needs)
  }

  get assetStreams(): AssetStreamStore {
    return new AssetStreamStore(this.needs)
  }

  get attachments(): AttachmentStore {
    return new AttachmentStore({
      ...this.needs,
      openView: () => openStateForReading(this.tests.path),
      uploadWaitUs: 1,
      removedWith: (id) => forgottenSignatures(this.tests.state, id),
    })
  }

  get lifecycle(): LifecycleEvents {
    return new LifecycleEvents(this.needs)
  }

  async newStream(assetCode: string): Promise<string> {
    const wish = { assetCode, description: null }
    const { stream, changes } = await this.assetStreams.plan(this.userId, wish, network)
    await this.#commit(changes)
    return stream.id
  }

  /** A vault that lists these asset streams. */
  async newVault(codes: readonly string[] = []): Promise<string> {
    const { userId } = this
    const wish = { ...common, author: null, hint: '', requiredStreams: codes }
    const { template, changes } = await new TemplateStore(this.needs).plan(userId, wish)
    await this.#commit(changes)
    const streams = await this.assetStreams.withCodes(userId, codes)
    const planned = await this.vaults.plan(
      userId,
      { ...common, templateId: template.id, ledger: 'XRPL', jsonPayload: '{"hall":3}' },
      { template, streams, network },
    )
    await this.#commit(planned.changes)
    return planned.vault.id
  }

  /** An attachment whose file has come. */
  async newAttachment(assetCode: string): Promise<string> {
    const [stream] = await this.assetStreams.withCodes(this.userId, [assetCode])
    if (!stream) throw new Error(`no asset stream ${assetCode}`)
    const wish = { streamId: stream.id, filename: null, uploadAsZip: false }
    const { attachment, changes } = this.attachments.plan(
      this.userId,
      { ...stream, right: 'own' },
      { wanted: { name: 'report', description: null, ledger: 'XRPL', ...wish }, network },
    )
    await this.#commit(changes)
    const cid = 'bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'
    const upload = { cid, size: 0, files: [] }
    await this.#commit([
      ...this.attachments.stored(attachment.id, upload),
      ...this.attachments.anchored(attachment, upload),
    ])
    return attachment.id
  }

  /** One that is stored, of content that is there. */
  async newSignature(attachmentId: string): Promise<string> {
    const attachment = await this.attachments.load(attachmentId)
    if (!attachment) throw new Error('no attachment')
    const store = new SignatureStore(this.needs)
    const wish = { signerId: this.userId, brought: undefined, network }
    const { signature, changes } = store.plan(attachment, wish)
    await this.#commit(changes)
    const stored = appendedProgress(storedStatus, systemClock.nowUs())
    await this.#commit([
      this.tests.state
        .updateTable('signatures')
        .set({ status: storedStatus, progress: stored, ready: 0 })
        .where('id', '=', signature.id),
    ])
    return signature.id
  }

  /** The asset of an asset stream that is completed, whatever there was before; on the sandbox unless it says otherwise. */
  async newAsset(assetCode: string, on: string = network): Promise<string> {
    const { state } = this.tests
    const completed = state.updateTable('asset_streams').set({ status: 'COMPLETED' })
    await this.#commit([completed.where('asset_code', '=', assetCode)])
    const [stream] = await this.assetStreams.withCodes(this.userId, [assetCode])
    if (!stream) throw new Error(`no asset stream ${assetCode}`)
    const wish = { supply: '21000000', precision: 6, ledger: 'XRPL', network: on } as const
    const { asset, changes } = await new AssetStore(this.needs).plan(stream, wish)
    await this.#commit(changes)
    return asset.id
  }

  async eventsOf(resourceId: string) {
    return await this.tests.state
      .selectFrom('events')
      .select(['type', 'quiet', 'data'])
      .where('resource_id', '=', resourceId)
      .execute()
  }

  async #commit(changes: readonly Compilable[]): Promise<void> {
    if (!(await this.tests.attempt(...changes))) throw new Error('nothing was made')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tests[Symbol.asyncDispose]()
  }
}
