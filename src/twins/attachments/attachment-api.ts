import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import type { AssetStreamId } from '../../core/ids.ts'
import { ledgers } from '../../core/ledger.ts'
import * as s from '../../requests/http/schema.ts'
import { assetStreamSchema } from '../asset-streams/asset-stream-api.ts'
import {
  failureSchema,
  ledgerSchema,
  progressSchema,
  statusSchema,
} from '../progress/progress-api.ts'
import type { NewAttachment } from './attachment.ts'

/** What the file systems of those who download it take (NAME_MAX of Linux). */
const filenameBytesMax = 255

const name = { ...s.text, minLength: 1, maxLength: 200, examples: ['inspection report'] }
const description = s.nullable({ ...s.text, maxLength: 10_000 })

export const fileSchema = s.component(
  'AttachedFile',
  s.record({
    name: { ...s.text, description: 'Of an archive: the path within it.' },
    size: { ...s.count, description: 'Bytes.' },
    media_type: s.text,
    cid: { ...s.text, description: 'CIDv1.' },
    sha256: { ...s.text, description: 'Hex.' },
  }),
)

export const attachmentSchema = s.component(
  'Attachment',
  s.record({
    id: s.uuid,
    name: { ...s.text, examples: ['inspection report'] },
    description: s.nullable(s.text),
    created_at: s.dateTime,
    ledger: ledgerSchema,
    status: statusSchema,
    presigned_url: {
      ...s.text,
      description: 'Takes the file by PUT, for 15 minutes; empty when there is nothing to upload.',
    },
    stream_id: s.uuid,
    filename: s.nullable(s.text),
    tx_hash: s.text,
    upload_as_zip: s.boolean,
    size: { ...s.count, description: 'Bytes of all files.' },
    stream: assetStreamSchema,
    file_count: s.count,
    files: s.listOf(fileSchema, { description: 'In lists, the first hundred.' }),
    progress: s.listOf(progressSchema),
    failure: failureSchema,
  }),
)

export const newAttachmentSchema = s.component(
  'NewAttachment',
  s.record(
    {
      name,
      description,
      stream_id: { ...s.text, examples: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] },
      ledger: s.choice(ledgers),
      filename: s.nullable({
        ...s.text,
        minLength: 1,
        maxLength: filenameBytesMax,
        // No path, and nothing that changes how the name looks.
        pattern: '^[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]*$',
        examples: ['report.pdf'],
      }),
      upload_as_zip: {
        ...s.boolean,
        default: false,
        description: 'Whether an archive is uploaded, whose entries become the files.',
      },
    },
    { optional: ['description', 'filename', 'upload_as_zip'] },
  ),
)

/**
 * The attachment that a body describes.
 *
 * @throws DomainError `invalid_request`
 */
export function newAttachment(
  body: Static<typeof newAttachmentSchema>,
  streamId: AssetStreamId,
): NewAttachment {
  const filename = body.filename ?? null
  if (filename === '.' || filename === '..') {
    throw invalidParameter('filename', 'is the name of a folder')
  }
  if (filename !== null && Buffer.byteLength(filename) > filenameBytesMax) {
    throw invalidParameter('filename', `may have ${filenameBytesMax} bytes`)
  }
  return {
    name: body.name,
    description: body.description ?? null,
    streamId,
    ledger: body.ledger,
    filename,
    uploadAsZip: body.upload_as_zip ?? false,
  }
}
