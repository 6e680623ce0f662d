import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import { changedMeanwhile, conflict } from '../../core/conflict.ts'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import { type EmailRecipientId, parseId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import { noContent, pageOf, pageQuery, query as queryOf } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
} from '../../requests/operations/operation.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { mailAttemptsOf } from './mail-records.ts'
import { type Recipient, recipientsMax } from './recipient.ts'
import * as api from './recipient-api.ts'
import { RecipientAudit } from './recipient-audit.ts'
import type { NewRecipient, RecipientStore } from './recipient-store.ts'

export interface RecipientRoutesNeeds {
  readonly state: StateDatabase
  readonly recipients: RecipientStore
  readonly audit: AuditLog
  /** Has who delivers look at recipients anew. */
  readonly changed: (recipientIds: readonly string[]) => Promise<void>
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/**
 * Addresses that are told of events by mail: `/notifications/email-configs` (decisions.md#mail).
 */
export function recipientRoutes(needs: RecipientRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Notifications'] })
    addReading(add, needs)
    addAsking(add, needs)
    addChanging(add, needs)
  }
}

const pagesQuery = queryOf(pageQuery)

function addReading(add: AddOperation, { state, recipients }: RecipientRoutesNeeds): void {
  add('GET /notifications/email-configs', {
    operationId: 'listEmailRecipients',
    summary: "List one's own addresses.",
    scope: 'notifications:read',
    query: pagesQuery,
    answers: { 200: pageOf(api.recipientSchema) },
    handler: async ({ caller, query }) => {
      const page = pageRequest(query)
      const found = await recipients.listPage(caller.userId, sliceOf(page))
      return envelope(found.recipients.map(api.recipientBody), found.total, page)
    },
  })

  add('GET /notifications/email-configs/:configId', {
    operationId: 'readEmailRecipient',
    summary: 'Read an address.',
    scope: 'notifications:read',
    answers: { 200: api.recipientSchema },
    handler: async (exchange) => api.recipientBody(await ownRecipient(recipients, exchange)),
  })

  add('GET /notifications/email-configs/:configId/deliveries', {
    operationId: 'listMailAttempts',
    summary: 'List the attempts to send mails to an address, newest first.',
    scope: 'notifications:read',
    query: pagesQuery,
    answers: { 200: pageOf(api.mailAttemptSchema) },
    handler: async (exchange) => {
      const page = pageRequest(exchange.query)
      const { id, recordedAttempts } = await ownRecipient(recipients, exchange)
      return envelope(await mailAttemptsOf(state, id, sliceOf(page)), recordedAttempts, page)
    },
  })
}

function addAsking(add: AddOperation, needs: RecipientRoutesNeeds): void {
  const errors = ['conflict', 'rate_limited'] as const

  add('POST /notifications/email-configs', {
    operationId: 'createEmailRecipient',
    summary:
      'Add an address that is notified of events by mail; it is sent a link that confirms it.',
    description: 'A user has five addresses at most, each once; those that are DISABLED count.',
    scope: 'notifications:write',
    body: api.newRecipientSchema,
    answers: { 201: api.recipientSchema },
    errors,
    effect: (exchange) => creation(needs, exchange),
  })

  add('POST /notifications/email-configs/:configId/verification', {
    operationId: 'askEmailRecipientAgain',
    summary: 'Send another mail with a link that confirms the address.',
    scope: 'notifications:write',
    answers: { 202: api.recipientSchema },
    errors,
    effect: (exchange) => verification(needs, exchange),
  })
}

function addChanging(add: AddOperation, needs: RecipientRoutesNeeds): void {
  add('PUT /notifications/email-configs/:configId', {
    operationId: 'changeEmailRecipient',
    summary: 'Switch an address on or off, or change of which alerts it is notified.',
    description:
      'What is not sent keeps its value. ACTIVE begins again with no failures, and is for addresses that were confirmed.',
    scope: 'notifications:write',
    body: api.recipientChangeSchema,
    answers: { 200: api.recipientSchema },
    errors: ['conflict'],
    handler: async (exchange) => api.recipientBody(await change(needs, exchange)),
  })

  add('DELETE /notifications/email-configs/:configId', {
    operationId: 'deleteEmailRecipient',
    summary: 'Remove an address; nothing is sent to it any more.',
    scope: 'notifications:write',
    answers: { 204: noContent },
    handler: (exchange) => remove(needs, exchange),
  })
}

/** A request about an address of the caller. */
type Asked = Pick<Exchange<'/:configId'>, 'caller' | 'params' | 'request'>

interface Created extends Pick<Exchange, 'caller' | 'request'> {
  readonly body: Static<typeof api.newRecipientSchema>
}

/** @throws DomainError `invalid_request` for what is no address */
async function creation(needs: RecipientRoutesNeeds, { caller, body, request }: Created) {
  const { recipients, changed } = needs
  const wanted = api.newRecipient(body)
  const { recipient, changes } = recipients.plan(caller.userId, wanted)
  return {
    statusCode: 201,
    body: api.recipientBody(recipient),
    changes: [...changes, auditOf(needs, request).created(recipient)],
    refusal: () => refusalOf(recipients, caller.userId, wanted),
    afterwards: () => changed([recipient.id]),
  }
}

/** @throws DomainError `not_found`, or `conflict` for one that was confirmed */
async function verification(needs: RecipientRoutesNeeds, asked: Asked) {
  const { recipients, changed } = needs
  const recipient = await ownRecipient(recipients, asked)
  if (recipient.verifiedAtUs !== undefined) {
    throw conflict(
      'the address is confirmed: it can be switched on',
      'Switch it on with status ACTIVE: PUT /notifications/email-configs/{configId}.',
    )
  }
  const isOff = recipient.status === 'DISABLED'
  const after: Recipient = {
    ...recipient,
    status: 'PENDING_VERIFICATION',
    consecutiveFailures: isOff ? 0 : recipient.consecutiveFailures,
  }
  return {
    statusCode: 202,
    body: api.recipientBody(after),
    changes: [
      ...recipients.planVerification(recipient),
      ...auditOf(needs, asked.request).changed(recipient, after),
    ],
    refusal: async () => tooManyMails,
    afterwards: () => changed([recipient.id]),
  }
}

interface Changed extends Asked {
  readonly body: Static<typeof api.recipientChangeSchema>
}

/** @throws DomainError `not_found`, or `conflict` when it was changed meanwhile */
async function change(needs: RecipientRoutesNeeds, asked: Changed): Promise<Recipient> {
  const { recipients, changed } = needs
  const before = await ownRecipient(recipients, asked)
  const after = api.changedRecipient(before, asked.body)
  const isChanged = await recipients.attempt(
    ...recipients.change(before, after),
    ...auditOf(needs, asked.request).changed(before, after),
  )
  await changed([before.id])
  const now = await ownRecipient(recipients, asked)
  if (isChanged) return now
  throw changedMeanwhile('the address', 'GET /notifications/email-configs/{configId}')
}

/** @throws DomainError `not_found` */
async function remove(needs: RecipientRoutesNeeds, asked: Asked): Promise<null> {
  const { recipients, changed } = needs
  const recipient = await ownRecipient(recipients, asked)
  const entry = auditOf(needs, asked.request).deleted(recipient)
  // Otherwise somebody else has deleted it meanwhile, which is what was asked for.
  await recipients.attempt(...recipients.remove(recipient), entry)
  await changed([recipient.id])
  return null
}

const tooManyMails = new DomainError(
  'rate_limited',
  'too many mails with a link to confirm were sent today, to this address or to all of yours',
  { retryAfter: 3_600 },
)

/** Why an address could not be added. */
async function refusalOf(
  recipients: RecipientStore,
  userId: UserId,
  { address }: NewRecipient,
): Promise<DomainError> {
  const { recipients: known } = await recipients.listPage(userId, { offset: 0, limit: 10 })
  if (known.some((one) => recipients.isSame(one, address))) {
    return invalidParameter('email', 'is one of your addresses already')
  }
  if (known.length < recipientsMax) return tooManyMails
  return invalidParameter('email', `is one too many: a user has ${recipientsMax} addresses at most`)
}

function auditOf(
  { audit, callerOf }: Pick<RecipientRoutesNeeds, 'audit' | 'callerOf'>,
  request: FastifyRequest,
): RecipientAudit {
  return new RecipientAudit(audit, actorOf(request, callerOf))
}

/** @throws DomainError `not_found`, for the addresses of others as well */
async function ownRecipient(
  recipients: RecipientStore,
  { caller, params: { configId } }: Pick<Asked, 'caller' | 'params'>,
): Promise<Recipient> {
  const id = parseId<EmailRecipientId>(configId)
  const recipient = id && (await recipients.find(caller.userId, id))
  if (!recipient) throw notFound('address', configId)
  return recipient
}
