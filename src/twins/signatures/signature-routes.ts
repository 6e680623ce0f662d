import type { FastifyPluginAsync } from 'fastify'
import { type ConfiguredNetworks, chosenNetwork } from '../../anchors/intents/chosen-network.ts'
import { conflict } from '../../core/conflict.ts'
import { invalidParameter } from '../../core/errors.ts'
import { parseId, type SignatureId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { isSignedBy, otherForm } from '../../ledgers/signatures/check-signature.ts'
import { signingText } from '../../ledgers/signatures/signing-text.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import { pageOf, pageQuery, query } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { visibleAttachment, writableAttachment } from '../attachments/attachment-routes.ts'
import type { AttachmentStore } from '../attachments/attachment-store.ts'
import { failedStatus } from '../progress/progress.ts'
import type { ContentKeys } from './content-keys.ts'
import { type BroughtSignature, type ShownSignature, signaturesMax } from './signature.ts'
import * as api from './signature-api.ts'
import { signatureBody } from './signature-body.ts'
import { eventsOfSignature } from './signature-events.ts'
import type { SignatureStore } from './signature-store.ts'

export interface SignatureRoutesNeeds {
  readonly attachments: AttachmentStore
  readonly signatures: SignatureStore
  readonly contentKeys: Pick<ContentKeys, 'isOwn'>
  readonly networks: ConfiguredNetworks
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  /** Called when there is one more that may be signed or checked. */
  readonly onAsked: () => void
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Who has signed what is attached. */
export function signatureRoutes(needs: SignatureRoutesNeeds): FastifyPluginAsync {
  const { attachments, signatures } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Signatures'] })
    addCreation(add, needs)

    add('GET /attachments/:attachmentId/signatures', {
      operationId: 'listSignatures',
      summary: 'List the signatures of an attachment.',
      description: 'The oldest first.',
      scope: 'attachments:read',
      query: query(pageQuery),
      answers: { 200: pageOf(api.signatureSchema) },
      handler: async ({ caller, params, query: asked }) => {
        const { userId } = caller
        const { attachment } = await visibleAttachment(attachments, userId, params.attachmentId)
        const page = pageRequest(asked)
        const { items, total } = await signatures.listPage(attachment.id, sliceOf(page))
        return envelope(items.map(signatureBody), total, page)
      },
    })

    add('GET /attachments/:attachmentId/signatures/:signatureId', {
      operationId: 'readSignature',
      summary: 'Read a signature.',
      scope: 'attachments:read',
      answers: { 200: api.signatureSchema },
      handler: async ({ caller, params }) => {
        return signatureBody((await visibleSignature(needs, caller.userId, params)).shown)
      },
    })
  }
}

function addCreation(add: AddOperation, needs: SignatureRoutesNeeds): void {
  add('POST /attachments/:attachmentId/signatures', {
    operationId: 'createSignature',
    summary: 'Sign the content of an attachment.',
    description:
      'With `{}` the service signs, once the content is there. A signature that is brought along is checked against the content, now or when that comes. See docs/signatures.md for the text that is signed.',
    scope: 'attachments:write',
    body: api.newSignatureSchema,
    answers: { 201: api.signatureSchema },
    errors: ['conflict', 'signature_mismatch'],
    effect: async ({ caller, params, body }) => {
      const brought = api.broughtSignature(body)
      const find = async () =>
        (await writableAttachment(needs.attachments, caller.userId, params.attachmentId)).attachment
      const attachment = await find()
      await assertSignable(needs, attachment, brought)
      return await creation(needs, { caller, attachment, brought, find })
    },
  })
}

interface Creation {
  readonly caller: ReturnType<CallerOf>
  readonly attachment: Attachment
  readonly brought: BroughtSignature | undefined
  /** The attachment as it is now. */
  readonly find: () => Promise<Attachment>
}

async function creation(
  needs: SignatureRoutesNeeds,
  { caller, attachment, brought, find }: Creation,
) {
  const { signatures, lifecycle } = needs
  const { userId: signerId, apiKeyId } = caller
  const network = chosenNetwork(apiKeyId, attachment.ledger, needs.networks)
  const { signature, changes } = signatures.plan(attachment, { signerId, brought, network })
  const made: ShownSignature = { signature, signedBy: await signatures.nameOf(signerId) }
  const { name } = attachment
  const events = eventsOfSignature(made, { word: 'created', name, actor: caller })
  return {
    statusCode: 201,
    body: signatureBody(made),
    changes: [...changes, ...events.flatMap((event) => lifecycle.record(event))],
    refusal: async () => {
      const now = await find()
      await assertSignable(needs, now, brought)
      return (await signatures.hasRoom(now.id))
        ? conflict('you have asked the service to sign this already', listed)
        : conflict(`an attachment can have ${signaturesMax} signatures at most`, listed)
    },
    afterwards: async () => needs.onAsked(),
  }
}

const listed = 'GET /attachments/{attachmentId}/signatures shows the signatures that there are.'

/**
 * Whether an attachment takes a signature, as far as it can be told before.
 *
 * @throws DomainError `conflict`, `signature_mismatch`, or `invalid_request` for a key of the service itself
 */
async function assertSignable(
  { signatures, contentKeys }: SignatureRoutesNeeds,
  { id, status, cid }: Attachment,
  brought: BroughtSignature | undefined,
): Promise<void> {
  if (status === failedStatus)
    throw conflict(
      `its status is ${failedStatus}: it has no content`,
      'Make another attachment with POST /attachments, and upload its file.',
    )
  if (!brought) return
  const { key, signature } = brought
  if (contentKeys.isOwn(key.id)) {
    throw invalidParameter('public_key', 'is one of the service: send {} to have it sign')
  }
  if (cid !== '' && !isSignedBy(key, signingText(cid), signature)) {
    throw api.mismatch(`it is not a signature of that key over the text that names ${cid}`)
  }
  const other = await signatures.ofKey(id, key.id)
  if (!other) return
  if (otherForm(key.algorithm, signature) === other.signature) {
    throw api.mismatch('it is the other form of a signature that is there already')
  }
  throw conflict('it has a signature of this key already', listed)
}

/** @throws DomainError `not_found` */
export async function visibleSignature(
  { attachments, signatures }: Pick<SignatureRoutesNeeds, 'attachments' | 'signatures'>,
  userId: UserId,
  params: { readonly attachmentId: string; readonly signatureId: string },
) {
  const found = await visibleAttachment(attachments, userId, params.attachmentId)
  const shown = await namedSignature(signatures, found.attachment, params.signatureId)
  return { stream: found.stream, right: found.right, shown }
}

/** @throws DomainError `not_found` */
async function namedSignature(
  signatures: SignatureStore,
  { id: attachmentId }: Attachment,
  given: string,
): Promise<ShownSignature> {
  const id = parseId<SignatureId>(given)
  const shown = id && (await signatures.find(attachmentId, id))
  if (!shown) throw notFound('signature', given)
  return shown
}
