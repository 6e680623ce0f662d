import type { Selectable } from 'kysely'
import type { AssetStreamId, AttachmentId, UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import { filesOf } from '../../files/contents/content-rows.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { streamsWithIds } from '../asset-streams/asset-stream-store.ts'
import type { Attachment, ShownAttachment } from './attachment.ts'

/** Files that a list shows of one attachment: a page of a hundred archives has to fit into an answer. */
export const listedFilesMax = 100

/** Attachments with what is shown beside them. */
export async function shownAttachments(
  state: StateDatabase,
  rows: readonly Selectable<StateSchema['attachments']>[],
  filesMax: number = Number.MAX_SAFE_INTEGER,
): Promise<readonly ShownAttachment[]> {
  if (rows.length === 0) return []
  const streams = await streamsWithIds(
    state,
    rows.map((row) => row.stream_id),
  )
  const files = Map.groupBy(
    await filesOf(
      state,
      rows.map(({ id }) => id),
      { from: 0, below: filesMax },
    ),
    ({ holderId }) => holderId,
  )
  return rows.flatMap((row) => {
    const stream = streams.get(row.stream_id)
    // A stream stays as long as something is attached to it.
    if (!stream) return []
    const own = files.get(row.id) ?? []
    return [{ attachment: fromRow(row), stream, files: own.map(({ file }) => file) }]
  })
}

/** An attachment, made of what is stored. */
export function fromRow(row: Selectable<StateSchema['attachments']>): Attachment {
  return {
    id: row.id as AttachmentId,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    name: row.name,
    description: row.description,
    streamId: row.stream_id as AssetStreamId,
    ledger: row.ledger as Ledger,
    network: row.network,
    filename: row.filename,
    uploadAsZip: row.upload_as_zip === 1,
    status: row.status,
    txHash: row.tx_hash,
    cid: row.cid,
    size: row.size,
    fileCount: row.file_count,
    progress: row.progress,
    failure: row.failure,
  }
}
