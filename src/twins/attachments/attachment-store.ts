import { type Compilable, sql } from 'kysely'
import { forgottenAnchors, plannedAnchor } from '../../anchors/intents/plan-anchor.ts'
import type { Clocks } from '../../core/clock.ts'
import { type AssetStreamId, type AttachmentId, newId, type UserId } from '../../core/ids.ts'
import type { NamedContent, TakenUpload } from '../../files/content/content.ts'
import { filesOf, givenRoom, heldFiles, releasedFiles } from '../../files/contents/content-rows.ts'
import type { UploadFailure } from '../../files/uploads/upload-kind.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import type { Slice } from '../../storage/state/listing.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import type { SeenAssetStream } from '../asset-streams/asset-stream.ts'
import {
  appendedProgress,
  failedStatus,
  receivedStatus,
  startedProgress,
  storedStatus,
} from '../progress/progress.ts'
import { rightOf } from '../rights/right.ts'
import { type Looking, roleOf, stillAllowed, stillWritable } from '../rights/shared-rows.ts'
import {
  type Attachment,
  type NewAttachment,
  pendingStatus,
  type SeenAttachment,
} from './attachment.ts'
import { AttachmentLists, type AttachmentPage } from './attachment-lists.ts'
import { fromRow, shownAttachments } from './attachment-row.ts'

/** Attachments of one user, of whom each may be an archive of thousands of files. */
export const attachmentsMax = 1_000_000

export interface AttachmentStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clocks
  /** A connection of its own to the state, for what reads it for a longer time. */
  readonly openView: () => StateDatabase
  /** How long an upload is waited for. */
  readonly uploadWaitUs: number
  /** Changes that remove what goes with an attachment. */
  readonly removedWith: (id: AttachmentId) => readonly Compilable[]
}

export class AttachmentStore {
  readonly #needs: AttachmentStoreNeeds
  readonly #lists: AttachmentLists

  constructor(needs: AttachmentStoreNeeds) {
    this.#needs = needs
    this.#lists = new AttachmentLists(needs)
  }

  /**
   * A new attachment of an asset stream, whose owner has it, as it is received, and the changes that store it as one
   * that waits for its file. They find nothing to change when the stream is gone, or the right of the user to change
   * it, or when its owner has too many.
   */
  plan(
    userId: UserId,
    { ownerId, right }: SeenAssetStream,
    { wanted, network }: { readonly wanted: NewAttachment; readonly network: string },
  ): { readonly attachment: Attachment; readonly changes: readonly Compilable[] } {
    const { state, clock, uploadWaitUs } = this.#needs
    const id = newId<AttachmentId>()
    const createdAtUs = clock.nowUs()
    const progress = startedProgress(createdAtUs, receivedStatus)
    const { name, description, streamId, ledger, filename, uploadAsZip } = wanted
    const insert = state
      .insertInto('attachments')
      .columns(insertedColumns)
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${createdAtUs}, ${name}, ${description}, id, ${ledger}, ${network},
                ${filename}, ${uploadAsZip ? 1 : 0}, ${receivedStatus}, ${progress},
                ${clock.steadyUs() + uploadWaitUs}
              FROM asset_streams
              WHERE id = ${streamId} AND owner_id = ${ownerId}
                AND ${isBelow('attachments', ownerId, attachmentsMax)}`,
      )
    const pending = state
      .updateTable('attachments')
      .set({ status: pendingStatus, progress: appendedProgress(pendingStatus, createdAtUs) })
      .where('id', '=', id)
    return {
      attachment: {
        ...wanted,
        id,
        ownerId,
        createdAtUs,
        network,
        status: receivedStatus,
        txHash: '',
        cid: '',
        size: 0,
        fileCount: 0,
        progress,
        failure: null,
      },
      changes: [
        insert,
        ...stillAllowed(state, { userId, right, nowUs: createdAtUs }, streamId),
        pending,
        countChange(state, 'attachments', ownerId, 1),
        countChange(state, 'attachments_of_stream', streamId, 1),
      ],
    }
  }

  async hasRoom(ownerId: UserId): Promise<boolean> {
    return (await totalOf(this.#needs.state, 'attachments', ownerId)) < attachmentsMax
  }

  /** An attachment that this user may see: an own one, or of a shared asset stream (decisions.md#what-others-show). */
  async findVisible(userId: UserId, id: AttachmentId): Promise<SeenAttachment | undefined> {
    const { state, clock } = this.#needs
    const row = await state
      .selectFrom('attachments')
      .selectAll()
      .select(roleOf(userId, sql`stream_id`, clock.nowUs()).as('role'))
      .where('id', '=', id)
      .where(sql<boolean>`(owner_id = ${userId} OR role IS NOT NULL)`)
      .executeTakeFirst()
    if (!row) return undefined
    const [shown] = await shownAttachments(state, [row])
    return shown && { ...shown, right: rightOf(userId, shown.attachment.ownerId, row.role) }
  }

  /** An attachment of whatever user. */
  async load(id: string): Promise<Attachment | undefined> {
    const row = await this.#needs.state
      .selectFrom('attachments')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && fromRow(row)
  }

  /** One's own and those of asset streams that are shared with this user, oldest first. */
  async listPage(userId: UserId, slice: Slice): Promise<AttachmentPage> {
    return await this.#lists.page(userId, slice)
  }

  /** What is attached to one asset stream, which the user sees. */
  async listOfStream(
    userId: UserId,
    streamId: AssetStreamId,
    slice: Slice,
  ): Promise<AttachmentPage> {
    return await this.#lists.pageOfStream(userId, streamId, slice)
  }

  /** One file of an attachment, by its place among them. */
  async fileAt({ id }: Attachment, position: number): Promise<NamedContent | undefined> {
    const [file] = await filesOf(this.#needs.state, [id], { from: position, below: position + 1 })
    return file?.file
  }

  /** Changes that give an attachment its files. They find no row unless it waits for them. */
  stored(id: string, { cid, size, files }: TakenUpload): readonly Compilable[] {
    const { state, clock } = this.#needs
    return [
      this.#ended(id, storedStatus, clock.nowUs()).set({ cid, size, file_count: files.length }),
      ...heldFiles(state, id, files),
    ]
  }

  /** Changes that have the files anchored that an attachment gets. */
  anchored(attachment: Attachment, { cid }: TakenUpload): readonly Compilable[] {
    return anchoredFiles(this.#needs, { ...attachment, cid })
  }

  /** Changes with which an attachment waits no more. They find no row unless it does. */
  failed(id: string, failure: UploadFailure, atUs: number): Compilable {
    return this.#ended(id, failedStatus, atUs).set({ failure: JSON.stringify(failure) })
  }

  /** Some of those whose upload is not waited for any longer. */
  async due(limit: number): Promise<readonly Attachment[]> {
    const { state, clock } = this.#needs
    const rows = await state
      .selectFrom('attachments')
      .selectAll()
      .where('upload_due_at', '<=', clock.steadyUs())
      .orderBy('upload_due_at')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  }

  /** A change that finds no row unless a user may write to the asset stream of an attachment. */
  stillWritable(id: string, userId: UserId): Compilable {
    const streamId = sql<string>`(SELECT stream_id FROM attachments WHERE attachments.id = ${id})`
    return stillWritable(this.#needs.state, this.#looking(userId), streamId)
  }

  /** Removes an own attachment, with what else belongs to the change. False when it is gone, or changed meanwhile. */
  async remove(attachment: Attachment, ...also: readonly Compilable[]): Promise<boolean> {
    const { state, writer, removedWith } = this.#needs
    const { id, ownerId, streamId, status, size } = attachment
    return await writer.attempt(
      state
        .deleteFrom('attachments')
        .where('id', '=', id)
        .where('owner_id', '=', ownerId)
        .where('status', '=', status),
      releasedFiles(state, id),
      ...forgottenAnchors(state, id).map(optional),
      ...removedWith(id),
      givenRoom(state, ownerId, sql<number>`${size}`),
      countChange(state, 'attachments', ownerId, -1),
      countChange(state, 'attachments_of_stream', streamId, -1),
      ...also,
    )
  }

  #ended(id: string, status: string, atUs: number) {
    return this.#needs.state
      .updateTable('attachments')
      .set({ status, progress: appendedProgress(status, atUs), upload_due_at: null })
      .where('id', '=', id)
      .where('status', '=', pendingStatus)
  }

  #looking(userId: UserId): Looking {
    return { userId, nowUs: this.#needs.clock.nowUs() }
  }
}

/** The changes that have the files of an attachment anchored: one leaf among those of others. */
export function anchoredFiles(
  needs: Pick<AttachmentStoreNeeds, 'state' | 'clock'>,
  { id, ledger, network, cid }: Attachment,
  isQuiet = false,
): readonly Compilable[] {
  return plannedAnchor(needs, {
    resourceType: 'attachment',
    resourceId: id,
    operation: 'creation',
    ledger,
    network,
    kind: 'root',
    parts: [{ name: '', cid }],
    isQuiet,
  })
}

const insertedColumns = [
  'id',
  'owner_id',
  'created_at',
  'name',
  'description',
  'stream_id',
  'ledger',
  'network',
  'filename',
  'upload_as_zip',
  'status',
  'progress',
  'upload_due_at',
] as const
