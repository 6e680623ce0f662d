import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { UserId } from '../../src/core/ids.ts'
import {
  attemptChanges,
  commitChanges,
  openStateForWriting,
  plain,
  type StateDatabase,
  type StateWriter,
} from '../../src/storage/state/database.ts'
import { anchorEarlier } from '../../src/twins/anchored/earlier-resources.ts'
import { AssetStreamStore } from '../../src/twins/asset-streams/asset-stream-store.ts'
import { withMetadata } from '../../src/twins/asset-streams/earlier-asset-stream.ts'
import { statusesIn } from '../../src/twins/progress/progress.ts'
import { TemplateStore } from '../../src/twins/templates/template-store.ts'
import { fromRow as vaultOf } from '../../src/twins/vaults/vault-row.ts'
import { anchoredImage } from '../../src/twins/vaults/vault-uploads.ts'
import { type EarlierIds, newEarlierIds, writeEarlierTwins } from '../support/earlier-twins.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const fileCid = 'bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'

/** As the service has it, with a key that stays. */
function saltOf(id: string): string {
  return Buffer.from(id).toString('base64')
}

/** A state that an earlier release has left, as the new one finds it. */
class Earlier implements AsyncDisposable {
  readonly #folder = new TemporaryFolder()
  readonly ids: EarlierIds
  readonly attachment: string
  #state: StateDatabase | undefined

  private constructor(ids: EarlierIds) {
    this.ids = ids
    this.attachment = ids.attachment
  }

  static async open(ids: EarlierIds = newEarlierIds(), isPublic = true): Promise<Earlier> {
    const earlier = new Earlier(ids)
    const path = earlier.#folder.file('state.db')
    await writeEarlierTwins(path, ids, isPublic)
    earlier.#state = await openStateForWriting(path)
    return earlier
  }

  get state(): StateDatabase {
    if (!this.#state) throw new Error('it is not open')
    return this.#state
  }

  get needs() {
    const writer: StateWriter = {
      commit: (...changes) => commitChanges(this.state, changes.map(plain)),
      attempt: (...changes) => attemptChanges(this.state, changes.map(plain)),
    }
    const stores = { state: this.state, writer, clock: systemClock }
    const salted = { ...stores, saltOf }
    return { ...salted, templates: new TemplateStore(salted) }
  }

  /** Portions that it took. */
  async anchorAll(): Promise<number> {
    let portions = 0
    while (await anchorEarlier(this.needs)) portions++
    return portions
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#state?.destroy()
    this.#folder[Symbol.dispose]()
  }
}

describe('what was there before', () => {
  test('is anchored once, and quietly', async () => {
    await using earlier = await Earlier.open()
    const { state, ids, attachment } = earlier

    expect(await earlier.anchorAll()).toBe(3)
    expect(await earlier.anchorAll()).toBe(0)

    const anchors = await state.selectFrom('anchors').selectAll().orderBy('number').execute()
    expect(anchors.map((anchor) => [anchor.resource_id, anchor.kind, anchor.quiet])).toEqual([
      [ids.stream, 'record', 1],
      [ids.vault, 'nft', 1],
      [attachment, 'root', 1],
    ])
    expect(await state.selectFrom('unanchored').selectAll().execute()).toEqual([])
  })

  test('comes to METADATA_STORED, with metadata of what it refers to', async () => {
    await using earlier = await Earlier.open()
    const { state } = earlier
    await earlier.anchorAll()

    const stream = await state.selectFrom('asset_streams').selectAll().executeTakeFirstOrThrow()
    const template = await state.selectFrom('templates').selectAll().executeTakeFirstOrThrow()
    const vault = await state.selectFrom('vaults').selectAll().executeTakeFirstOrThrow()
    for (const { status, progress } of [stream, vault]) {
      expect(status).toBe('METADATA_STORED')
      expect(statusesIn(progress)).toEqual(['SERVICE_RECEIVED', 'METADATA_STORED'])
    }
    const { bytes } = await state
      .selectFrom('metadata')
      .select('bytes')
      .where('cid', '=', vault.metadata_cid)
      .executeTakeFirstOrThrow()
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({
      name: 'boiler 7',
      template_metadata_cid: template.metadata_cid,
      streams: [stream.metadata_cid],
    })
    expect(template.metadata_cid).toMatch(/^bafkrei/)
  })

  test('of an asset stream that a new vault lists is anchored before that, and once', async () => {
    await using earlier = await Earlier.open()
    const { needs, state, ids } = earlier
    const assetStreams = new AssetStreamStore(needs)
    const before = await assetStreams.withCodes(ids.user as UserId, ['GOLD'])

    const [first, again] = [await withMetadata(needs, before), await withMetadata(needs, before)]
    await earlier.anchorAll()

    expect(before[0]?.metadataCid).toBe('')
    expect(first).toMatchObject([{ id: ids.stream, status: 'METADATA_STORED' }])
    expect(first[0]?.metadataCid).toMatch(/^bafkrei/)
    expect(again).toEqual(first)
    const anchors = state.selectFrom('anchors').where('resource_id', '=', ids.stream)
    expect(await anchors.selectAll().execute()).toHaveLength(1)
  })

  test('gets the same metadata and anchors when that state is restored, and is anchored anew', async () => {
    const ids = newEarlierIds()
    const anchored = async () => {
      await using earlier = await Earlier.open(ids, false)
      await earlier.anchorAll()
      const { state } = earlier
      const anchors = state.selectFrom('anchors').select(['id', 'resource_id'])
      const leaves = state.selectFrom('anchor_leaves').select(['anchor_id', 'position', 'cid'])
      return [await anchors.orderBy('id').execute(), await leaves.execute()]
    }
    expect(await anchored()).toEqual(await anchored())
  })

  test('of a vault whose image was uploaded before its turn came is anchored once, as everything after it', async () => {
    await using earlier = await Earlier.open()
    const { needs, state, ids } = earlier
    await state.updateTable('vaults').set({ image_cid: fileCid, image_uploads: 1 }).execute()
    const row = await state.selectFrom('vaults').selectAll().executeTakeFirstOrThrow()
    const image = { turn: 1, cid: fileCid }
    await needs.writer.commit(...anchoredImage(needs, vaultOf(row), image))

    await earlier.anchorAll()

    const anchors = await state.selectFrom('anchors').selectAll().orderBy('number').execute()
    expect(anchors.map((anchor) => [anchor.resource_id, anchor.operation])).toEqual([
      [ids.vault, 'image:1'],
      [ids.stream, 'creation'],
      [ids.vault, 'creation'],
      [earlier.attachment, 'creation'],
    ])
    expect(await state.selectFrom('unanchored').selectAll().execute()).toEqual([])
  })

  test('is left out when it is gone', async () => {
    await using earlier = await Earlier.open()
    const { state } = earlier
    for (const table of ['vault_streams', 'vaults', 'attachments'] as const) {
      await state.deleteFrom(table).execute()
    }

    await earlier.anchorAll()

    expect(await state.selectFrom('anchors').select('resource_type').execute()).toEqual([
      { resource_type: 'asset_stream' },
    ])
    expect(await state.selectFrom('unanchored').selectAll().execute()).toEqual([])
  })
})
