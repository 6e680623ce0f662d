import type { FastifyPluginAsync } from 'fastify'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import { noContent, pageOf, pageQuery, query as queryOf } from '../../requests/http/schema.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import { defaultSettings } from './webhook.ts'
import * as api from './webhook-api.ts'
import { attemptsOf } from './webhook-records.ts'
import {
  change,
  ownWebhook,
  registration,
  remove,
  type WebhookRoutesNeeds,
} from './webhook-registration.ts'

/**
 * Registrations for events of the emitted set: `/notifications/webhooks`
 * (decisions.md#two-views-of-one-table).
 */
export function webhookRoutes(needs: WebhookRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Webhooks'] })
    addReading(add, needs)
    addChanging(add, needs)
  }
}

const listQuery = queryOf({ ...api.filterParameters, ...pageQuery })
const pagesQuery = queryOf(pageQuery)

function addReading(add: AddOperation, { state, webhooks }: WebhookRoutesNeeds): void {
  add('GET /notifications/webhooks', {
    operationId: 'listWebhooks',
    summary: "List one's own webhooks, with their secrets.",
    scope: 'webhooks:read',
    query: listQuery,
    answers: { 200: pageOf(api.webhookSchema) },
    handler: async ({ caller, query, reply }) => {
      const page = pageRequest(query)
      const found = await webhooks.listPage(caller.userId, query, sliceOf(page))
      void reply.header('cache-control', 'no-store')
      return envelope(found.webhooks.map(api.webhookBody), found.total, page)
    },
  })

  add('GET /notifications/webhooks/:configId', {
    operationId: 'readWebhook',
    summary: 'Read a webhook, with its secret.',
    scope: 'webhooks:read',
    answers: { 200: api.webhookSchema },
    handler: async ({ caller, params, reply }) => {
      const webhook = await ownWebhook(webhooks, caller.userId, params.configId)
      void reply.header('cache-control', 'no-store')
      return api.webhookBody(webhook)
    },
  })

  add('GET /notifications/webhooks/:configId/deliveries', {
    operationId: 'listDeliveries',
    summary: 'List the attempts to deliver to a webhook, newest first.',
    scope: 'webhooks:read',
    query: pagesQuery,
    answers: { 200: pageOf(api.attemptSchema) },
    handler: async ({ caller, params, query }) => {
      const page = pageRequest(query)
      const webhook = await ownWebhook(webhooks, caller.userId, params.configId)
      const attempts = await attemptsOf(state, webhook.id, sliceOf(page))
      return envelope(attempts, webhook.recordedAttempts, page)
    },
  })
}

function addChanging(add: AddOperation, needs: WebhookRoutesNeeds): void {
  const errors = ['conflict', 'destination_not_allowed'] as const

  add('POST /notifications/webhooks', {
    operationId: 'createWebhook',
    summary: 'Register an endpoint that is notified of events.',
    scope: 'webhooks:write',
    body: api.newWebhookSchema,
    answers: { 201: api.webhookSchema },
    errors,
    effect: async (exchange) => {
      const { url, event_types: eventTypes } = exchange.body
      const settings = api.settingsWith({ ...defaultSettings, url, eventTypes }, exchange.body)
      return await registration(needs, exchange, { settings, bodyOf: api.webhookBody })
    },
    answersSecret: true,
  })

  add('PUT /notifications/webhooks/:configId', {
    operationId: 'changeWebhook',
    summary: 'Change a webhook.',
    description:
      'What is not sent keeps its value. ACTIVE begins again with no failures; with any other status nothing that waits is sent any more.',
    scope: 'webhooks:write',
    body: api.webhookChangeSchema,
    answers: { 200: api.webhookSchema },
    errors,
    handler: async (exchange) => {
      const { params, body, reply } = exchange
      const after = await change(needs, exchange, {
        id: params.configId,
        changedFrom: (before) => api.settingsWith(before, body),
      })
      void reply.header('cache-control', 'no-store')
      return api.webhookBody(after)
    },
  })

  add('DELETE /notifications/webhooks/:configId', {
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook; nothing is sent to it any more.',
    scope: 'webhooks:write',
    answers: { 204: noContent },
    handler: (exchange) => remove(needs, exchange, exchange.params.configId),
  })
}
