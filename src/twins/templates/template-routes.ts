import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { changedMeanwhile, conflict, noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { parseId, type TemplateId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { type Downloads, downloadErrors } from '../../files/downloads/downloads.ts'
import type { UploadUrls } from '../../files/uploads/upload-urls.ts'
import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { assertOwn } from '../../requests/http/ownership.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import { noContent, pageOf } from '../../requests/http/schema.ts'
import { fileAnswers } from '../../requests/http/sent-bytes.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import type { Template, TemplateChange } from './template.ts'
import * as api from './template-api.ts'
import { type TemplateStore, templatesMax } from './template-store.ts'
import { templateLinks } from './template-uploads.ts'

export interface TemplateRoutesNeeds {
  readonly templates: TemplateStore
  readonly uploadUrls: UploadUrls
  readonly downloads: Downloads
  readonly publicUrl: string
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  /** Called when contents may have become unused. */
  readonly onReleased: () => void
  readonly posts: Posts
  readonly callerOf: CallerOf
}

export function templateRoutes(needs: TemplateRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Templates'] })
    addReading(add, needs)
    addDownloads(add, needs)
    addChanging(add, needs)
  }
}

function addReading(add: AddOperation, needs: TemplateRoutesNeeds): void {
  const { templates } = needs

  add('GET /templates', {
    operationId: 'listTemplates',
    summary: "List one's own templates, or public ones.",
    scope: 'vaults:read',
    query: api.templatesQuery,
    answers: { 200: pageOf(api.templateSchema) },
    errors: ['overloaded'],
    handler: async ({ caller, query }) => {
      const page = pageRequest(query)
      const found = await templates.list(api.templateQuery(query, caller.userId), sliceOf(page))
      const content = found.templates.map((template) => shown(needs, caller, template))
      return envelope(await Promise.all(content), found.total, page)
    },
  })

  add('GET /templates/:templateId', {
    operationId: 'readTemplate',
    summary: 'Read a template.',
    scope: 'vaults:read',
    answers: { 200: api.templateSchema },
    handler: async ({ caller, params }) => {
      const template = await visibleTemplate(templates, caller.userId, params.templateId)
      return await shown(needs, caller, template)
    },
  })
}

function addDownloads(add: AddOperation, { templates, downloads }: TemplateRoutesNeeds): void {
  add('GET /templates/:templateId/bundle', {
    operationId: 'downloadTemplateBundle',
    summary: 'Load the files of a template, as an archive.',
    scope: 'vaults:read',
    takesCookieAlone: true,
    answers: fileAnswers,
    errors: downloadErrors,
    handler: async ({ caller, params, request, reply }) => {
      const template = await visibleTemplate(templates, caller.userId, params.templateId)
      const { id, bundleCid: cid, name } = template
      return await downloads.sendFolder({ holderId: id, cid, name }, { request, reply })
    },
  })

  add('GET /templates/:templateId/image', {
    operationId: 'downloadTemplateImage',
    summary: 'Load the image of a template.',
    scope: 'vaults:read',
    takesCookieAlone: true,
    answers: fileAnswers,
    errors: downloadErrors,
    handler: async ({ caller, params, request, reply }) => {
      const template = await visibleTemplate(templates, caller.userId, params.templateId)
      const { imageCid: cid, name } = template
      return await downloads.sendContent({ cid, name }, { request, reply })
    },
  })
}

function addChanging(add: AddOperation, needs: TemplateRoutesNeeds): void {
  const { templates } = needs

  add('POST /templates', {
    operationId: 'createTemplate',
    summary: 'Create a template.',
    scope: 'vaults:write',
    body: api.newTemplateSchema,
    answers: { 201: api.templateSchema },
    errors: ['conflict'],
    effect: ({ caller, body }) => creation(needs, caller, body),
  })

  add('PUT /templates/:templateId', {
    operationId: 'changeTemplate',
    summary: 'Change a template.',
    description: 'What is not sent keeps its value.',
    scope: 'vaults:write',
    body: api.templateChangeSchema,
    answers: { 200: api.templateSchema },
    errors: ['conflict'],
    handler: async ({ caller, params, body }) => {
      const template = await ownTemplate(templates, caller.userId, params.templateId)
      await change(needs, { template, actor: caller }, api.templateChange(body))
      const changed = await visibleTemplate(templates, caller.userId, template.id)
      return await shown(needs, caller, changed)
    },
  })

  add('DELETE /templates/:templateId', {
    operationId: 'deleteTemplate',
    summary: 'Delete a template.',
    description: 'One that no vault was made from.',
    scope: 'vaults:write',
    answers: { 204: noContent },
    errors: ['conflict'],
    handler: async ({ caller, params }) => {
      const template = await ownTemplate(templates, caller.userId, params.templateId)
      const removed = await remove(needs, { template, actor: caller })
      needs.onReleased()
      return removed
    },
  })
}

async function creation(
  needs: TemplateRoutesNeeds,
  actor: ReturnType<CallerOf>,
  body: Static<typeof api.newTemplateSchema>,
) {
  const { templates, lifecycle } = needs
  const { template, changes } = await templates.plan(actor.userId, api.newTemplate(body))
  const event = { event: 'template.created', ...subjectOf(template), actor } as const
  return {
    statusCode: 201,
    body: await shown(needs, actor, template),
    changes: [...changes, ...lifecycle.record(event)],
    refusal: tooMany,
  }
}

/** The template as a caller sees it. */
async function shown(
  { uploadUrls, publicUrl }: TemplateRoutesNeeds,
  caller: ReturnType<CallerOf>,
  template: Template,
): Promise<Static<typeof api.templateSchema>> {
  const links = await templateLinks(template, { uploadUrls, publicUrl, caller })
  return api.templateBody(template, links)
}

async function tooMany(): Promise<DomainError> {
  return noRoom(
    `a user can have ${templatesMax} templates at most`,
    'DELETE /templates/{templateId}',
  )
}

/** @throws DomainError `not_found` */
export async function visibleTemplate(
  templates: TemplateStore,
  userId: UserId,
  text: string,
): Promise<Template> {
  const id = parseId<TemplateId>(text)
  const template = id && (await templates.findVisible(userId, id))
  if (!template) throw notFound('template', text)
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
  throw changedAtOnce()
}

async function remove(
  { templates, lifecycle }: TemplateRoutesNeeds,
  { template, actor }: Changing,
): Promise<null> {
  const event = { event: 'template.deleted', ...subjectOf(template), actor } as const
  if (await templates.remove(template, ...lifecycle.record(event))) return null
  await visibleTemplate(templates, template.ownerId, template.id)
  if (!(await templates.isUsed(template.id))) throw changedAtOnce()
  throw conflict(
    'vaults have been made from the template',
    'Keep it, or delete its vaults first with DELETE /vaults/{vaultId}; PUT /templates/{templateId} changes it.',
  )
}

function changedAtOnce(): DomainError {
  return changedMeanwhile('the template', 'GET /templates/{templateId}')
}
