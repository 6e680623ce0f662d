import type { FastifyPluginAsync } from 'fastify'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import {
  cursorListOf,
  cursorQuery,
  noContent,
  query as queryOf,
} from '../../requests/http/schema.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import * as api from './bearer-webhook-api.ts'
import { defaultSettings } from './webhook.ts'
import { filterParameters } from './webhook-api.ts'
import { logOf } from './webhook-records.ts'
import {
  change,
  ownWebhook,
  registration,
  remove,
  type WebhookRoutesNeeds,
} from './webhook-registration.ts'

/**
 * Registrations as the token interface has them: another view of the same webhooks
 * (decisions.md#two-views-of-one-table).
 */
export function bearerWebhookRoutes(needs: WebhookRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Webhooks'] })
    addReading(add, needs)
    addChanging(add, needs)
  }
}

const listQuery = queryOf({ ...filterParameters, ...cursorQuery })
const logQuery = queryOf(cursorQuery)

function addReading(add: AddOperation, { state, webhooks }: WebhookRoutesNeeds): void {
  add('GET /webhooks', {
    operationId: 'listBearerWebhooks',
    summary: "List one's own webhooks, as the token interface shows them.",
    scope: 'webhooks:read',
    query: listQuery,
    answers: { 200: cursorListOf(api.bearerWebhookSchema) },
    handler: async ({ caller, query, request, reply }) => {
      const page = cursorRequest(query)
      const { after, limit } = page
      const found = await webhooks.listAfter(caller.userId, query, { after, limit: limit + 1 })
      void reply.header('cache-control', 'no-store')
      return cursorPage(found, page, { request, reply }).map(api.bearerWebhookBody)
    },
  })

  add('GET /webhooks/:webhookId', {
    operationId: 'readBearerWebhook',
    summary: 'Read a webhook, as the token interface shows it.',
    scope: 'webhooks:read',
    answers: { 200: api.bearerWebhookSchema },
    handler: async ({ caller, params, reply }) => {
      const webhook = await ownWebhook(webhooks, caller.userId, params.webhookId)
      void reply.header('cache-control', 'no-store')
      return api.bearerWebhookBody(webhook)
    },
  })

  add('GET /webhooks/:webhookId/logs', {
    operationId: 'readWebhookLogs',
    summary: 'List the events of a webhook, newest first.',
    scope: 'webhooks:read',
    query: logQuery,
    answers: { 200: api.logsSchema },
    handler: async ({ caller, params, query, request, reply }) => {
      const page = cursorRequest(query)
      const { id } = await ownWebhook(webhooks, caller.userId, params.webhookId)
      const found = await logOf(state, id, { before: page.after, limit: page.limit + 1 })
      const logs = cursorPage(found, page, { request, reply }).map(({ body }) => body)
      return { webhookId: id, logs }
    },
  })
}

function addChanging(add: AddOperation, needs: WebhookRoutesNeeds): void {
  const errors = ['conflict', 'destination_not_allowed'] as const

  add('POST /webhooks', {
    operationId: 'createBearerWebhook',
    summary: 'Register an endpoint, also for events of the token interface.',
    scope: 'webhooks:write',
    body: api.newBearerWebhookSchema,
    answers: { 201: api.bearerWebhookSchema },
    errors,
    effect: async (exchange) => {
      const { url, events: eventTypes } = exchange.body
      const first = { ...defaultSettings, url, eventTypes }
      const settings = api.bearerSettingsWith(first, exchange.body)
      return await registration(needs, exchange, { settings, bodyOf: api.bearerWebhookBody })
    },
    answersSecret: true,
  })

  add('PUT /webhooks/:webhookId', {
    operationId: 'changeBearerWebhook',
    summary: 'Change a webhook.',
    description: 'What is not sent keeps its value.',
    scope: 'webhooks:write',
    body: api.bearerWebhookChangeSchema,
    answers: { 200: api.bearerWebhookSchema },
    errors,
    handler: async (exchange) => {
      const { params, body, reply } = exchange
      const after = await change(needs, exchange, {
        id: params.webhookId,
        changedFrom: (before) => api.bearerSettingsWith(before, body),
      })
      void reply.header('cache-control', 'no-store')
      return api.bearerWebhookBody(after)
    },
  })

  add('DELETE /webhooks/:webhookId', {
    operationId: 'deleteBearerWebhook',
    summary: 'Delete a webhook; nothing is sent to it any more.',
    scope: 'webhooks:write',
    answers: { 204: noContent },
    handler: (exchange) => remove(needs, exchange, exchange.params.webhookId),
  })
}
