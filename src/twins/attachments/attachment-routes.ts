import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { type ConfiguredNetworks, chosenNetwork } from '../../anchors/intents/chosen-network.ts'
import { noRoom } from '../../core/conflict.ts'
import { type AttachmentId, parseId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { UploadUrls } from '../../files/uploads/upload-urls.ts'
import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import { noContent, pageOf, pageQuery, query, text } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import type { AssetStream } from '../asset-streams/asset-stream.ts'
import { visibleAssetStream, writableAssetStream } from '../asset-streams/asset-stream-routes.ts'
import type { AssetStreamStore } from '../asset-streams/asset-stream-store.ts'
import { assertOwned, assertWritable } from '../rights/right.ts'
import {
  pendingStatus,
  type SeenAttachment,
  type ShownAttachment,
  subjectOf,
} from './attachment.ts'
import * as api from './attachment-api.ts'
import { attachmentBody } from './attachment-body.ts'
import { listedFilesMax } from './attachment-row.ts'
import { type AttachmentStore, attachmentsMax } from './attachment-store.ts'
import { uploadSubjectOf } from './attachment-uploads.ts'

export interface AttachmentRoutesNeeds {
  readonly attachments: AttachmentStore
  readonly assetStreams: AssetStreamStore
  readonly uploadUrls: UploadUrls
  /** Largest upload in bytes. */
  readonly uploadBytesMax: number
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly networks: ConfiguredNetworks
  /** Called when contents may have become unused. */
  readonly onReleased: () => void
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Files that belong to asset streams. */
export function attachmentRoutes(needs: AttachmentRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Attachments'] })
    addLists(add, needs)
    addOne(add, needs)
  }
}

function addLists(add: AddOperation, needs: AttachmentRoutesNeeds): void {
  const { attachments } = needs

  add('GET /attachments', {
    operationId: 'listAttachments',
    summary: "List one's own attachments, and those of asset streams that others share.",
    scope: 'attachments:read',
    query: query(pageQuery),
    answers: { 200: pageOf(api.attachmentSchema) },
    errors: ['overloaded'],
    handler: async ({ caller, query: asked }) => {
      const page = pageRequest(asked)
      const { items, total } = await attachments.listPage(caller.userId, sliceOf(page))
      return envelope(await shownAll(needs, caller, items), total, page)
    },
  })

  add('GET /streams/:streamCode/attachments', {
    operationId: 'listStreamAttachments',
    summary: 'List the attachments of an asset stream.',
    description: "By the code of one's own, or by the id of one that is one's own or shared.",
    scope: 'attachments:read',
    params: {
      streamCode: { ...text, description: 'An asset code, or the id of an asset stream.' },
    },
    query: query(pageQuery),
    answers: { 200: pageOf(api.attachmentSchema) },
    handler: async ({ caller, params, query: asked }) => {
      const page = pageRequest(asked)
      const stream = await namedStream(needs, caller.userId, params.streamCode)
      const { items, total } = await attachments.listOfStream(
        caller.userId,
        stream.id,
        sliceOf(page),
      )
      return envelope(await shownAll(needs, caller, items), total, page)
    },
  })
}

function addOne(add: AddOperation, needs: AttachmentRoutesNeeds): void {
  add('POST /attachments', {
    operationId: 'createAttachment',
    summary: 'Attach a file, or the files of an archive, to an asset stream.',
    description:
      'The answer has the address that takes the file: `curl -T FILE "$presigned_url"`. It is good for 15 minutes; reading the attachment gives a fresh one. An attachment belongs to the owner of its asset stream; a permission to WRITE is enough to make it.',
    scope: 'attachments:write',
    body: api.newAttachmentSchema,
    answers: { 201: api.attachmentSchema },
    errors: ['conflict', 'not_found'],
    effect: ({ caller, body }) => creation(needs, caller, body),
  })

  add('GET /attachments/:attachmentId', {
    operationId: 'readAttachment',
    summary: 'Read an attachment.',
    scope: 'attachments:read',
    answers: { 200: api.attachmentSchema },
    handler: async ({ caller, params }) => {
      const { userId } = caller
      const found = await visibleAttachment(needs.attachments, userId, params.attachmentId)
      return await shown(needs, caller, found)
    },
  })

  add('DELETE /attachments/:attachmentId', {
    operationId: 'deleteAttachment',
    summary: 'Delete an attachment with its files.',
    scope: 'attachments:write',
    answers: { 204: noContent },
    handler: async ({ caller, params }) => {
      const find = () => ownAttachment(needs.attachments, caller.userId, params.attachmentId)
      // Its upload may end at the same time; then it is looked at anew.
      while (!(await remove(needs, await find(), caller))) continue
      needs.onReleased()
      return null
    },
  })
}

async function creation(
  needs: AttachmentRoutesNeeds,
  actor: ReturnType<CallerOf>,
  body: Static<typeof api.newAttachmentSchema>,
) {
  const { attachments, lifecycle } = needs
  const { userId } = actor
  const stream = await writableAssetStream(needs.assetStreams, userId, body.stream_id)
  const network = chosenNetwork(actor.apiKeyId, body.ledger, needs.networks)
  const wanted = api.newAttachment(body, stream.id)
  const { attachment, changes } = attachments.plan(userId, stream, { wanted, network })
  const made = { attachment, stream, files: [], right: stream.right }
  const event = { event: 'attachment.created', ...subjectOf(attachment), actor } as const
  return {
    statusCode: 201,
    body: attachmentBody(made, await uploadUrlOf(needs, actor, made)),
    changes: [...changes, ...lifecycle.record({ ...event, notice: noticeOf(made) })],
    refusal: async () => {
      await writableAssetStream(needs.assetStreams, userId, stream.id)
      return noRoom(
        `a user can have ${attachmentsMax} attachments at most`,
        'DELETE /attachments/{attachmentId}',
      )
    },
  }
}

async function remove(
  { attachments, lifecycle }: AttachmentRoutesNeeds,
  found: ShownAttachment,
  actor: LifecycleEvent['actor'],
): Promise<boolean> {
  const event = { event: 'attachment.deleted', ...subjectOf(found.attachment), actor } as const
  const notice = noticeOf(found)
  return await attachments.remove(found.attachment, ...lifecycle.record({ ...event, notice }))
}

/** What whoever is told of an attachment gets to know: no address, and as many files as a list shows. */
function noticeOf(found: ShownAttachment) {
  const files = found.files.slice(0, listedFilesMax)
  return { data: attachmentBody({ ...found, files }) }
}

async function shownAll(
  needs: AttachmentRoutesNeeds,
  caller: ReturnType<CallerOf>,
  found: readonly SeenAttachment[],
): Promise<Static<typeof api.attachmentSchema>[]> {
  return await Promise.all(found.map((one) => shown(needs, caller, one)))
}

async function shown(
  needs: AttachmentRoutesNeeds,
  caller: ReturnType<CallerOf>,
  found: SeenAttachment,
) {
  const isOpen = found.attachment.status === pendingStatus
  return attachmentBody(found, isOpen ? await uploadUrlOf(needs, caller, found) : '')
}

async function uploadUrlOf(
  { uploadUrls, uploadBytesMax }: AttachmentRoutesNeeds,
  caller: ReturnType<CallerOf>,
  { attachment, right }: SeenAttachment,
): Promise<string> {
  if (right === 'read') return ''
  const subject = uploadSubjectOf(attachment.id, right === 'own' ? undefined : caller.userId)
  return await uploadUrls.urlFor(caller, subject, uploadBytesMax)
}

/** @throws DomainError `not_found` */
export async function visibleAttachment(
  attachments: AttachmentStore,
  userId: UserId,
  given: string,
): Promise<SeenAttachment> {
  const id = parseId<AttachmentId>(given)
  const found = id && (await attachments.findVisible(userId, id))
  if (!found) throw notFound('attachment', given)
  return found
}

/** @throws DomainError `not_found`, or `insufficient_permissions` for one of an asset stream that is shared with the user */
async function ownAttachment(
  attachments: AttachmentStore,
  userId: UserId,
  given: string,
): Promise<SeenAttachment> {
  const found = await visibleAttachment(attachments, userId, given)
  assertOwned(found, 'attachment')
  return found
}

/**
 * An attachment for what somebody with a permission to WRITE may do, too.
 *
 * @throws DomainError `not_found`, or `insufficient_permissions` for one that the user can only see
 */
export async function writableAttachment(
  attachments: AttachmentStore,
  userId: UserId,
  given: string,
): Promise<SeenAttachment> {
  const found = await visibleAttachment(attachments, userId, given)
  assertWritable(found, 'attachment')
  return found
}

/** By its code, or else by its id: a code may look like one. @throws DomainError `not_found` */
async function namedStream(
  needs: AttachmentRoutesNeeds,
  userId: UserId,
  given: string,
): Promise<AssetStream> {
  const [coded] = await needs.assetStreams.withCodes(userId, [given])
  return coded ?? (await visibleAssetStream(needs.assetStreams, userId, given))
}
