import type { Compilable } from 'kysely'
import type { AttachmentId, UserId } from '../../core/ids.ts'
import type { UploadSubject } from '../../files/store/upload-id.ts'
import type { UploadFailure, UploadKind } from '../../files/uploads/upload-kind.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { StateWriter } from '../../storage/state/database.ts'
import { appendedStep, failedStatus } from '../progress/progress.ts'
import { type Attachment, pendingStatus, type ShownAttachment, subjectOf } from './attachment.ts'
import { attachmentBody } from './attachment-body.ts'
import type { AttachmentStore } from './attachment-store.ts'

/** Attachments that one look ends: their events are written in the same transaction. */
const endedAtOnceMax = 100

export interface AttachmentUploadsNeeds {
  readonly attachments: AttachmentStore
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly writer: StateWriter
  readonly uploadBytesMax: number
  readonly nowUs: () => number
}

/** An attachment takes one file, or one archive, in its life. */
export function uploadSubjectOf(id: AttachmentId, holderId: UserId | undefined): UploadSubject {
  return { purpose: 'attachment', resourceId: id, turn: 1, holderId }
}

/** What is uploaded for attachments. */
export function attachmentUploads(needs: AttachmentUploadsNeeds): UploadKind {
  const { attachments, lifecycle, uploadBytesMax } = needs
  return {
    purpose: 'attachment',

    async expected(resourceId) {
      const attachment = await attachments.load(resourceId)
      if (attachment?.status !== pendingStatus) return undefined
      const { ownerId, uploadAsZip, filename, name } = attachment
      const form = uploadAsZip
        ? ({ is: 'archive' } as const)
        : ({ is: 'file', name: filename ?? name } as const)
      return { ownerId, turn: 1, form, bytesMax: uploadBytesMax }
    },

    byHolders: {
      async mayUpload(resourceId, holderId) {
        const found = await attachments.findVisible(holderId, resourceId as AttachmentId)
        return found?.right === 'write'
      },
      stillMayUpload: (resourceId, holderId) => attachments.stillWritable(resourceId, holderId),
    },

    async taken(resourceId, _turn, upload) {
      const attachment = await attachments.load(resourceId)
      if (!attachment) return attachments.stored(resourceId, upload)
      const event = { event: 'attachment.stored', ...subjectOf(attachment) } as const
      return [
        ...attachments.stored(resourceId, upload),
        ...attachments.anchored(attachment, upload),
        ...lifecycle.record({ ...event, actor: undefined }),
      ]
    },

    async refused(resourceId, _turn, failure) {
      const attachment = await attachments.load(resourceId)
      return attachment ? await endedBy(needs, attachment, failure) : []
    },
  }
}

/** Ends attachments whose files have not come in time. Resolves with whether there may be more. */
export async function endOverdue(needs: AttachmentUploadsNeeds): Promise<boolean> {
  const due = await needs.attachments.due(endedAtOnceMax)
  for (const attachment of due) {
    const failure = { error: 'upload_expired', message: 'nothing was uploaded in time' }
    await needs.writer.attempt(...(await endedBy(needs, attachment, failure)))
  }
  return due.length === endedAtOnceMax
}

async function endedBy(
  { attachments, lifecycle, nowUs }: AttachmentUploadsNeeds,
  attachment: Attachment,
  failure: UploadFailure,
): Promise<readonly Compilable[]> {
  const found = await attachments.findVisible(attachment.ownerId, attachment.id)
  if (!found) return []
  const atUs = nowUs()
  const after = ended(found, failure, atUs)
  const event = { event: 'attachment.failed', ...subjectOf(attachment), actor: undefined } as const
  return [
    attachments.failed(attachment.id, failure, atUs),
    ...lifecycle.record({ ...event, notice: { data: attachmentBody(after) } }),
  ]
}

/** The attachment as it will be. */
function ended(
  { attachment, ...rest }: ShownAttachment,
  failure: UploadFailure,
  atUs: number,
): ShownAttachment {
  return {
    ...rest,
    attachment: {
      ...attachment,
      status: failedStatus,
      progress: appendedStep(attachment.progress, failedStatus, atUs),
      failure: JSON.stringify(failure),
    },
  }
}
