import type { Static } from 'typebox'
import * as s from '../../requests/http/schema.ts'
import type { Received } from './uploads.ts'

export const takenUploadSchema = s.component(
  'TakenUpload',
  s.record({
    cid: {
      ...s.text,
      description: 'CIDv1 of the file, or of the folder of the files of an archive.',
      examples: ['bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'],
    },
    sha256: s.nullable({ ...s.text, description: 'Hex; null for an archive.' }),
    media_type: s.nullable({ ...s.text, description: 'By the bytes; null for an archive.' }),
    size: { ...s.count, description: 'Bytes of all files.' },
    file_count: s.count,
  }),
)

export function takenUploadBody({
  form,
  taken: { cid, size, files },
}: Received): Static<typeof takenUploadSchema> {
  const only = form.is === 'archive' ? undefined : files[0]
  return {
    cid,
    sha256: only?.sha256 ?? null,
    media_type: only?.mediaType ?? null,
    size,
    file_count: files.length,
  }
}
