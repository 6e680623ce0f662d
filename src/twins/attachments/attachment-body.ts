import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import type { NamedContent } from '../../files/content/content.ts'
import { assetStreamBody } from '../asset-streams/asset-stream-body.ts'
import { failureBody, progressBody } from '../progress/progress.ts'
import type { ShownAttachment } from './attachment.ts'
import type { attachmentSchema, fileSchema } from './attachment-api.ts'

/** The attachment as its owner sees it, with the address for its upload where it waits for one. */
export function attachmentBody(
  { attachment, stream, files }: ShownAttachment,
  presignedUrl = '',
): Static<typeof attachmentSchema> {
  return {
    id: attachment.id,
    name: attachment.name,
    description: attachment.description,
    created_at: formatUs(attachment.createdAtUs),
    ledger: attachment.ledger,
    status: attachment.status,
    presigned_url: presignedUrl,
    stream_id: attachment.streamId,
    filename: attachment.filename,
    tx_hash: attachment.txHash,
    upload_as_zip: attachment.uploadAsZip,
    size: attachment.size,
    stream: assetStreamBody(stream),
    file_count: attachment.fileCount,
    files: files.map(fileBody),
    progress: progressBody(attachment.progress),
    failure: failureBody(attachment.failure),
  }
}

function fileBody({
  name: path,
  size,
  mediaType,
  cid,
  sha256,
}: NamedContent): Static<typeof fileSchema> {
  return { name: path, size, media_type: mediaType, cid, sha256 }
}
