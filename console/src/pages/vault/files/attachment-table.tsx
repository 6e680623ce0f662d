import { Download, Trash2 } from 'lucide'
import { useState } from 'preact/hooks'
import { api } from '../../../api/client.ts'
import { may } from '../../../api/session.ts'
import { Action } from '../../../components/action.tsx'
import { AnchorState } from '../../../components/anchor-state.tsx'
import { ConfirmedDeed } from '../../../components/confirmed-deed.tsx'
import { Icon } from '../../../components/icon.tsx'
import { NameLink } from '../../../components/name-link.tsx'
import { Time } from '../../../components/time.tsx'
import { bytes, count } from '../../../formats/numbers.ts'
import { paths } from '../../../routing/paths.ts'
import { AttachedFiles, isImage } from './attached-files.tsx'
import type { Attachment } from './attachment.ts'

export interface AttachmentTableProps {
  readonly attachments: readonly Attachment[]
  readonly onDone: () => void
}

/** Attachments of an asset stream. */
export function AttachmentTable({ attachments, onDone }: AttachmentTableProps) {
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">Attachments</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Files</th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col">Attached</th>
            <th scope="col">
              <span class="visually-hidden">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {attachments.map((attachment) => (
            <Row key={attachment.id} attachment={attachment} onDone={onDone} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly attachment: Attachment
  readonly onDone: () => void
}

function Row({ attachment, onDone }: RowProps) {
  const { id, name, status, created_at: createdAt, size, failure } = attachment
  return (
    <tr data-row>
      <td class="title vault-attachment">
        <div>
          <NameLink href={paths.record('attachment', id)} name={name} />
          {failure !== null && (
            <div class="vault-refused">
              <bdi>{failure.message}</bdi>
            </div>
          )}
        </div>
      </td>
      <td data-label="State">
        <AnchorState status={status} />
      </td>
      <td data-label="Files">
        <Contents attachment={attachment} />
      </td>
      <td data-label="Size" class="number">
        {bytes(size)}
      </td>
      <td data-label="Attached">
        <Time at={createdAt} as="ago" />
      </td>
      <td data-label="Actions">
        <Deeds attachment={attachment} onDone={onDone} />
      </td>
    </tr>
  )
}

function Contents({ attachment }: { readonly attachment: Attachment }) {
  const { file_count: files, upload_as_zip: isArchive } = attachment
  const [first] = attachment.files
  if (first === undefined) return <span class="soft">none yet</span>
  if (files === 1 && !isArchive && !isImage(first)) return <bdi>{first.media_type}</bdi>
  return (
    <details>
      <summary>{files === 1 ? first.media_type : `${count(files)} files`}</summary>
      <AttachedFiles attachment={attachment} />
    </details>
  )
}

function Deeds({ attachment: { id, name, status, files }, onDone }: RowProps) {
  const [isDeleting, setDeleting] = useState(false)
  const path = { attachmentId: id }
  const retry = async () => {
    await api.call('retryAttachment', { path })
    onDone()
  }
  const remove = async () => {
    await api.call('deleteAttachment', { path })
    setDeleting(false)
    onDone()
  }
  return (
    <span class="row vault-deeds">
      {files.length > 0 && (
        <a class="button" href={`/attachments/${encodeURIComponent(id)}/content`} download>
          <Icon of={Download} />
          Download
          <span class="visually-hidden"> {name}</span>
        </a>
      )}
      {may('attachments:write') && (
        <>
          {status === 'ERROR' && <Action run={retry}>Anchor again</Action>}
          <button type="button" class="button danger" onClick={() => setDeleting(true)}>
            <Icon of={Trash2} label={`Delete ${name}`} />
          </button>
        </>
      )}
      {isDeleting && (
        <ConfirmedDeed
          title="Delete this attachment"
          deed="Delete permanently"
          run={remove}
          onClose={() => setDeleting(false)}
        >
          <p>
            This removes <bdi>{name}</bdi> with its files. They cannot be brought back; what is on
            the ledger stays there.
          </p>
        </ConfirmedDeed>
      )}
    </span>
  )
}
