import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { parseId, type TemplateId, type UserId } from '../../core/ids.ts'
import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { assertOwn } from '../../requests/http/ownership.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type Template, type TemplateChange, templateBody } from './template.ts'
import {
  type ChangeTemplate,
  type CreateTemplate,
  type ListTemplates,
  newTemplate,
  type OneTemplate,
  templateChange,
  templateQuery,
} from './template-requests.ts'
import {
  changeTemplate,
  createTemplate,
  deleteTemplate,
  listTemplates,
  readTemplate,
} from './template-schemas.ts'
import { type TemplateStore, templatesMax } from './template-store.ts'

export interface TemplateRoutesNeeds {
  readonly templates: TemplateStore
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly posts: Posts
  readonly callerOf: CallerOf
}

export function templateRoutes(needs: TemplateRoutesNeeds): FastifyPluginAsync {
  const { templates, callerOf } = needs
  return async (app) => {
    app.post<CreateTemplate>(
      '/templates',
      { schema: createTemplate, config: { scope: 'vaults:write', errors: ['conflict'] } },
      (request, reply) => create(needs, request, reply),
    )

    app.get<ListTemplates>(
      '/templates',
      { schema: listTemplates, config: { scope: 'vaults:read', errors: ['overloaded'] } },
      async (request) => {
        const query = templateQuery(request.query, callerOf(request).userId)
        const page = pageRequest(request.query)
        const found = await templates.list(query, sliceOf(page))
        return envelope(found.templates.map(templateBody), found.total, page)
      },
    )

    app.get<OneTemplate>(
      '/templates/:templateId',
      { schema: readTemplate, config: { scope: 'vaults:read' } },
      async (request) => {
        const { userId } = callerOf(request)
        return templateBody(await visibleTemplate(templates, userId, request.params.templateId))
      },
    )

    app.put<ChangeTemplate>(
      '/templates/:templateId',
      { schema: changeTemplate, config: { scope: 'vaults:write', errors: ['conflict'] } },
      async (request) => {
        const actor = callerOf(request)
        const template = await ownTemplate(templates, actor.userId, request.params.templateId)
        await change(needs, { template, actor }, templateChange(request.body))
        return templateBody(await visibleTemplate(templates, actor.userId, template.id))
      },
    )

    app.delete<OneTemplate>(
      '/templates/:templateId',
      { schema: deleteTemplate, config: { scope: 'vaults:write', errors: ['conflict'] } },
      async (request, reply) => {
        const actor = callerOf(request)
        const template = await ownTemplate(templates, actor.userId, request.params.templateId)
        await remove(needs, { template, actor })
        return reply.code(204).send()
      },
    )
  }
}

async function create(
  { templates, lifecycle, posts, callerOf }: TemplateRoutesNeeds,
  request: FastifyRequest<CreateTemplate>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const actor = callerOf(request)
  const { userId } = actor
  return await posts.answer({ request, reply, userId }, async () => {
    const { template, changes } = templates.plan(userId, newTemplate(request.body))
    const event = { event: 'template.created', ...subjectOf(template), actor } as const
    return {
      statusCode: 201,
      body: templateBody(template),
      changes: [...changes, ...lifecycle.record(event)],
      refusal: tooMany,
    }
  })
}

async function tooMany(): Promise<DomainError> {
  return new DomainError('conflict', `a user can have ${templatesMax} templates at most`)
}

/** @throws DomainError `not_found` */
export async function visibleTemplate(
  templates: TemplateStore,
  userId: UserId,
  text: string,
): Promise<Template> {
  const id = parseId<TemplateId>(text)
  const template = id && (await templates.findVisible(userId, id))
  if (!template) throw new DomainError('not_found', `no template ${text}`)
  return template
}

async function ownTemplate(
  templates: TemplateStore,
  userId: UserId,
  text: string,
): Promise<Template> {
  const template = await visibleTemplate(templates, userId, text)
  assertOwn(userId, template, 'template')
  return template
}

/** What an event of a template is about. */
function subjectOf({ ownerId, id, name }: Template) {
  return { ownerId, resourceId: id, name }
}

/** A template that somebody changes. */
interface Changing {
  readonly template: Template
  readonly actor: LifecycleEvent['actor']
}

async function change(
  { templates, lifecycle }: TemplateRoutesNeeds,
  { template, actor }: Changing,
  wanted: TemplateChange,
): Promise<void> {
  const subject = subjectOf({ ...template, ...wanted })
  const event = { event: 'template.updated', ...subject, actor } as const
  if (await templates.change(template, wanted, ...lifecycle.record(event))) return
  await visibleTemplate(templates, template.ownerId, template.id)
  throw changedMeanwhile()
}

async function remove(
  { templates, lifecycle }: TemplateRoutesNeeds,
  { template, actor }: Changing,
): Promise<void> {
  const event = { event: 'template.deleted', ...subjectOf(template), actor } as const
  if (await templates.remove(template, ...lifecycle.record(event))) return
  await visibleTemplate(templates, template.ownerId, template.id)
  if (!(await templates.isUsed(template.id))) throw changedMeanwhile()
  throw new DomainError('conflict', 'vaults have been made from the template')
}

function changedMeanwhile(): DomainError {
  return new DomainError('conflict', 'the template was changed meanwhile: try again')
}
