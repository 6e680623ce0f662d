import type { FastifyPluginAsync } from 'fastify'
import { notFound } from '../../core/not-found.ts'
import { type Downloads, downloadErrors } from '../../files/downloads/downloads.ts'
import { text } from '../../requests/http/schema.ts'
import { fileAnswers } from '../../requests/http/sent-bytes.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { visibleAttachment } from './attachment-routes.ts'
import type { AttachmentStore } from './attachment-store.ts'

export interface AttachmentDownloadRoutesNeeds {
  readonly attachments: AttachmentStore
  readonly downloads: Downloads
  readonly callerOf: CallerOf
}

/** What was attached, as it was uploaded. */
export function attachmentDownloadRoutes(needs: AttachmentDownloadRoutesNeeds): FastifyPluginAsync {
  const { attachments, downloads } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Attachments'] })

    add('GET /attachments/:attachmentId/content', {
      operationId: 'downloadAttachment',
      summary: 'Load the file of an attachment, or all of its files as an archive.',
      description: 'With `Range: bytes=...` (one range) a part of it.',
      scope: 'attachments:read',
      takesCookieAlone: true,
      answers: fileAnswers,
      errors: downloadErrors,
      handler: async ({ caller, params, request, reply }) => {
        const { attachment } = await visibleAttachment(
          attachments,
          caller.userId,
          params.attachmentId,
        )
        const { id, cid, uploadAsZip, filename } = attachment
        const name = filename ?? attachment.name
        const asking = { request, reply }
        return uploadAsZip
          ? await downloads.sendFolder({ holderId: id, cid, name }, asking)
          : await downloads.sendContent({ cid, name }, asking)
      },
    })

    add('GET /attachments/:attachmentId/files/:index', {
      operationId: 'downloadAttachedFile',
      summary: 'Load one file of an attachment.',
      description:
        'By its place in `files`, from 0. With `Range: bytes=...` (one range) a part of it.',
      scope: 'attachments:read',
      params: { index: { ...text, description: 'From 0.' } },
      takesCookieAlone: true,
      answers: fileAnswers,
      errors: downloadErrors,
      handler: async ({ caller, params: { attachmentId, index }, request, reply }) => {
        const { attachment } = await visibleAttachment(attachments, caller.userId, attachmentId)
        const position = /^\d{1,6}$/.test(index) ? Number(index) : undefined
        const file =
          position === undefined ? undefined : await attachments.fileAt(attachment, position)
        if (!file) throw notFound('file', index)
        const name = file.name.slice(file.name.lastIndexOf('/') + 1)
        return await downloads.sendContent({ cid: file.cid, name }, { request, reply })
      },
    })
  }
}
