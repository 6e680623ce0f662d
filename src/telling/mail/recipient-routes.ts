import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import { type EmailRecipientId, parseId, type UserId } from '../../core/ids.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { mailAttemptsOf } from './mail-records.ts'
import { type Recipient, recipientsMax } from './recipient.ts'
import { RecipientAudit } from './recipient-audit.ts'
import {
  changedRecipient,
  type NewRecipientBody,
  newRecipient,
  type RecipientChangeBody,
  recipientBody,
} from './recipient-requests.ts'
import {
  changeRecipient,
  createRecipient,
  deleteRecipient,
  listMailAttempts,
  listRecipients,
  readRecipient,
  verifyRecipient,
} from './recipient-schemas.ts'
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

interface ListRecipients {
  Querystring: QueryOf<typeof listRecipients.querystring>
}

interface OneRecipient {
  Params: { configId: string }
}

const path = '/notifications/email-configs'
const onePath = `${path}/:configId`
const reading = { scope: 'notifications:read' } as const
const writing = { scope: 'notifications:write', errors: ['conflict'] } as const
const asking = { scope: 'notifications:write', errors: ['conflict', 'rate_limited'] } as const

/**
 * Addresses that are told of events by mail: `/notifications/email-configs` (decisions.md#mail).
 */
export function recipientRoutes(needs: RecipientRoutesNeeds): FastifyPluginAsync {
  const { recipients, changed, posts, callerOf } = needs
  return async (app) => {
    app.post<{ Body: NewRecipientBody }>(
      path,
      { schema: createRecipient, config: asking },
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const wanted = newRecipient(request.body)
          const { recipient, changes } = recipients.plan(userId, wanted)
          return {
            statusCode: 201,
            body: recipientBody(recipient),
            changes: [...changes, auditOf(needs, request).created(recipient)],
            refusal: () => refusalOf(recipients, userId, wanted),
            afterwards: () => changed([recipient.id]),
          }
        })
      },
    )

    app.get<ListRecipients>(path, { schema: listRecipients, config: reading }, async (request) => {
      const page = pageRequest(request.query)
      const found = await recipients.listPage(callerOf(request).userId, sliceOf(page))
      return envelope(found.recipients.map(recipientBody), found.total, page)
    })

    oneRecipientRoutes(app, needs)
    actionRoutes(app, needs)
  }
}

function oneRecipientRoutes(app: FastifyInstance, needs: RecipientRoutesNeeds): void {
  const { state, recipients, changed } = needs
  app.get<OneRecipient>(onePath, { schema: readRecipient, config: reading }, async (request) =>
    recipientBody(await ownRecipient(needs, request)),
  )

  app.put<OneRecipient & { Body: RecipientChangeBody }>(
    onePath,
    { schema: changeRecipient, config: writing },
    async (request) => {
      const before = await ownRecipient(needs, request)
      const after = changedRecipient(before, request.body)
      const isChanged = await recipients.attempt(
        ...recipients.change(before, after),
        ...auditOf(needs, request).changed(before, after),
      )
      await changed([before.id])
      const now = await ownRecipient(needs, request)
      if (isChanged) return recipientBody(now)
      throw new DomainError('conflict', 'the address was changed meanwhile: try again')
    },
  )

  app.delete<OneRecipient>(
    onePath,
    { schema: deleteRecipient, config: { scope: 'notifications:write' } },
    async (request, reply) => {
      const recipient = await ownRecipient(needs, request)
      const entry = auditOf(needs, request).deleted(recipient)
      // Otherwise somebody else has deleted it meanwhile, which is what was asked for.
      await recipients.attempt(...recipients.remove(recipient), entry)
      await changed([recipient.id])
      return reply.code(204).send()
    },
  )

  app.get<OneRecipient & ListRecipients>(
    `${onePath}/deliveries`,
    { schema: listMailAttempts, config: reading },
    async (request) => {
      const page = pageRequest(request.query)
      const { id, recordedAttempts } = await ownRecipient(needs, request)
      return envelope(await mailAttemptsOf(state, id, sliceOf(page)), recordedAttempts, page)
    },
  )
}

function actionRoutes(app: FastifyInstance, needs: RecipientRoutesNeeds): void {
  const { recipients, changed, posts, callerOf } = needs
  app.post<OneRecipient>(
    `${onePath}/verification`,
    { schema: verifyRecipient, config: asking },
    async (request, reply) => {
      const { userId } = callerOf(request)
      return await posts.answer({ request, reply, userId }, async () => {
        const recipient = await ownRecipient(needs, request)
        if (recipient.verifiedAtUs !== undefined) {
          throw new DomainError('conflict', 'the address is confirmed: it can be switched on')
        }
        const isOff = recipient.status === 'DISABLED'
        const after: Recipient = {
          ...recipient,
          status: 'PENDING_VERIFICATION',
          consecutiveFailures: isOff ? 0 : recipient.consecutiveFailures,
        }
        return {
          statusCode: 202,
          body: recipientBody(after),
          changes: [
            ...recipients.planVerification(recipient),
            ...auditOf(needs, request).changed(recipient, after),
          ],
          refusal: async () => tooManyMails,
          afterwards: () => changed([recipient.id]),
        }
      })
    },
  )
}

const tooManyMails = new DomainError(
  'rate_limited',
  'too many mails have asked for consent today: this address, or all of yours',
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
  { recipients, callerOf }: Pick<RecipientRoutesNeeds, 'recipients' | 'callerOf'>,
  request: FastifyRequest<OneRecipient>,
): Promise<Recipient> {
  const text = request.params.configId
  const id = parseId<EmailRecipientId>(text)
  const recipient = id && (await recipients.find(callerOf(request).userId, id))
  if (!recipient) throw new DomainError('not_found', `no address ${text}`)
  return recipient
}
