import { bytes, count } from '../../../formats/numbers.ts'
import type { Attachment } from './attachment.ts'

type AttachedFile = Attachment['files'][number]

/** Larger images are loaded when somebody asks for them. */
const previewBytesMax = 10 * 1024 * 1024

/** What browsers draw, and which is no document: an SVG would be one. */
const drawn = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif']

export function isImage({ media_type: type }: AttachedFile): boolean {
  return drawn.includes(type)
}

/** The files of an attachment, each to be had by itself, and its image where it is one. */
export function AttachedFiles({ attachment }: { readonly attachment: Attachment }) {
  const { id, files, file_count: all } = attachment
  return (
    <ul class="vault-files">
      {files.map((file, index) => {
        const href = `/attachments/${encodeURIComponent(id)}/files/${index}`
        return (
          <li key={file.name}>
            <a href={href} download>
              <bdi>{file.name}</bdi>
            </a>{' '}
            <span class="soft">
              {file.media_type}, {bytes(file.size)}
            </span>
            <div class="soft mono vault-cid">{file.cid}</div>
            {isImage(file) && file.size <= previewBytesMax && (
              <img class="vault-preview" src={href} alt={file.name} loading="lazy" />
            )}
          </li>
        )
      })}
      {all > files.length && (
        <li class="soft">and {count(all - files.length)} more, which the download has</li>
      )}
    </ul>
  )
}
