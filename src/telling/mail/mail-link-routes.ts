import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import {
  lookAtUnsubscription,
  lookAtVerification,
  unsubscribeByMail,
  verifyByMail,
} from './mail-link-api.ts'
import type { MailLinks } from './mail-links.ts'
import { type PageName, pageOf, pagePolicy } from './mail-pages.ts'
import type { Recipient } from './recipient.ts'
import { RecipientAudit } from './recipient-audit.ts'
import type { RecipientStore } from './recipient-store.ts'

export interface MailLinkRoutesNeeds {
  readonly recipients: RecipientStore
  readonly links: MailLinks
  readonly audit: AuditLog
  /** Has who delivers look at recipients anew. */
  readonly changed: (recipientIds: readonly string[]) => Promise<void>
  readonly nowUs: () => number
}

interface MailLink {
  Params: { token: string }
}

type LinkRequest = FastifyRequest<MailLink>

/** What programs send that unsubscribe by one click (RFC 8058, section 3.2); nothing of it is needed. */
const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data']
const formBytesMax = 4_096

const statuses: Readonly<Record<PageName, number>> = {
  verify: 200,
  verified: 200,
  switchedOff: 410,
  expired: 410,
  unknown: 404,
  unsubscribe: 200,
  unsubscribed: 200,
}

/** Where the links of mails lead. There are no credentials: the links are signed. */
export function mailLinkRoutes(needs: MailLinkRoutesNeeds): FastifyPluginAsync {
  const config = { contentPolicy: pagePolicy }
  return async (app) => {
    const options = { parseAs: 'string', bodyLimit: formBytesMax } as const
    app.addContentTypeParser(formTypes, options, (_request, _body, done) => done(null, undefined))

    // Programs follow links to look at them: only a POST changes anything.
    app.get<MailLink>(
      '/mail/verify/:token',
      { schema: lookAtVerification, config },
      (request, reply) => answer(reply, async () => (await asked(needs, request)).page),
    )

    app.post<MailLink>('/mail/verify/:token', { schema: verifyByMail, config }, (request, reply) =>
      answer(reply, () => verify(needs, request)),
    )

    app.get<MailLink>(
      '/mail/unsubscribe/:token',
      { schema: lookAtUnsubscription, config },
      (request, reply) =>
        answer(reply, async () => {
          const isOurs = needs.links.unsubscribed(request.params.token) !== undefined
          return isOurs ? 'unsubscribe' : 'unknown'
        }),
    )

    app.post<MailLink>(
      '/mail/unsubscribe/:token',
      { schema: unsubscribeByMail, config },
      (request, reply) => answer(reply, () => unsubscribe(needs, request)),
    )
  }
}

async function answer(reply: FastifyReply, work: () => Promise<PageName>): Promise<FastifyReply> {
  const name = await work()
  return reply.code(statuses[name]).type('text/html').send(pageOf(name))
}

/** What a link that confirms leads to, and the recipient that is there to be confirmed. */
async function asked(
  { links, recipients, nowUs }: MailLinkRoutesNeeds,
  { params }: LinkRequest,
): Promise<{ readonly page: PageName; readonly waiting?: Recipient }> {
  const claim = links.verified(params.token)
  const recipient = claim && (await recipients.findAny(claim.recipientId))
  if (!recipient) return { page: 'unknown' }
  if (recipient.status === 'DISABLED') return { page: 'switchedOff' }
  if (recipient.status === 'ACTIVE') return { page: 'verified' }
  if (claim.expiresAtUs < nowUs()) return { page: 'expired' }
  return { page: 'verify', waiting: recipient }
}

async function verify(needs: MailLinkRoutesNeeds, request: LinkRequest): Promise<PageName> {
  const { recipients, changed } = needs
  const { page, waiting } = await asked(needs, request)
  if (!waiting) return page
  const entry = auditOf(needs, request).verified(waiting)
  await recipients.attempt(recipients.verify(waiting), entry)
  await changed([waiting.id])
  // Somebody else may have been first, with this link or with another wish.
  const now = await recipients.findAny(waiting.id)
  return now?.status === 'ACTIVE' ? 'verified' : 'switchedOff'
}

async function unsubscribe(needs: MailLinkRoutesNeeds, request: LinkRequest): Promise<PageName> {
  const { links, recipients, changed } = needs
  const id = links.unsubscribed(request.params.token)
  if (id === undefined) return 'unknown'
  const recipient = await recipients.findAny(id)
  // One that is gone is not told anything either.
  if (recipient === undefined) return 'unsubscribed'
  const entry = auditOf(needs, request).unsubscribed(recipient)
  // Otherwise somebody has said so already.
  await recipients.attempt(...recipients.unsubscribe(recipient), entry)
  await changed([id])
  return 'unsubscribed'
}

function auditOf({ audit }: MailLinkRoutesNeeds, { ip }: LinkRequest): RecipientAudit {
  return new RecipientAudit(audit, { address: ip })
}
