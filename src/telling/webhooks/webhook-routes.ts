import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import { defaultSettings, type WebhookSettings } from './webhook.ts'
import { attemptsOf } from './webhook-records.ts'
import {
  change,
  ownWebhook,
  register,
  remove,
  type WebhookRoutesNeeds,
} from './webhook-registration.ts'
import { settingsWith, type WebhookBody, webhookBody } from './webhook-requests.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  readWebhook,
} from './webhook-schemas.ts'

interface CreateWebhook {
  Body: WebhookBody & Required<Pick<WebhookBody, 'url' | 'event_types'>>
}

interface ListWebhooks {
  Querystring: QueryOf<typeof listWebhooks.querystring>
}

interface OneWebhook {
  Params: { configId: string }
}

interface ChangeWebhook extends OneWebhook {
  Body: WebhookBody
}

interface ListDeliveries extends OneWebhook, ListWebhooks {}

const reading = { scope: 'webhooks:read' } as const
const writing = {
  scope: 'webhooks:write',
  errors: ['conflict', 'destination_not_allowed'],
} as const

/**
 * Registrations for events of the emitted set: `/notifications/webhooks`
 * (decisions.md#two-views-of-one-table).
 */
export function webhookRoutes(needs: WebhookRoutesNeeds): FastifyPluginAsync {
  const { webhooks, callerOf } = needs
  return async (app) => {
    app.post<CreateWebhook>(
      '/notifications/webhooks',
      { schema: createWebhook, config: writing },
      async (request, reply) => {
        const { url, event_types: eventTypes } = request.body
        const first: WebhookSettings = { ...defaultSettings, url, eventTypes }
        const settings = () => settingsWith(first, request.body)
        return await register(needs, { request, reply }, { settings, bodyOf: webhookBody })
      },
    )

    app.get<ListWebhooks>(
      '/notifications/webhooks',
      { schema: listWebhooks, config: reading },
      async (request, reply) => {
        const page = pageRequest(request.query)
        const found = await webhooks.listPage(callerOf(request).userId, sliceOf(page))
        void reply.header('cache-control', 'no-store')
        return envelope(found.webhooks.map(webhookBody), found.total, page)
      },
    )

    oneWebhookRoutes(app, needs)
  }
}

function oneWebhookRoutes(app: FastifyInstance, needs: WebhookRoutesNeeds): void {
  const { state, webhooks, callerOf } = needs
  app.get<OneWebhook>(
    '/notifications/webhooks/:configId',
    { schema: readWebhook, config: reading },
    async (request, reply) => {
      const { userId } = callerOf(request)
      const webhook = await ownWebhook(webhooks, userId, request.params.configId)
      void reply.header('cache-control', 'no-store')
      return webhookBody(webhook)
    },
  )

  app.put<ChangeWebhook>(
    '/notifications/webhooks/:configId',
    { schema: changeWebhook, config: writing },
    async (request, reply) => {
      const after = await change(needs, request, {
        id: request.params.configId,
        changedFrom: (before) => settingsWith(before, request.body),
      })
      void reply.header('cache-control', 'no-store')
      return webhookBody(after)
    },
  )

  app.delete<OneWebhook>(
    '/notifications/webhooks/:configId',
    { schema: deleteWebhook, config: { scope: 'webhooks:write' } },
    (request, reply) => remove(needs, { request, reply }, request.params.configId),
  )

  app.get<ListDeliveries>(
    '/notifications/webhooks/:configId/deliveries',
    { schema: listDeliveries, config: reading },
    async (request) => {
      const { userId } = callerOf(request)
      const page = pageRequest(request.query)
      const webhook = await ownWebhook(webhooks, userId, request.params.configId)
      const attempts = await attemptsOf(state, webhook.id, sliceOf(page))
      return envelope(attempts, webhook.recordedAttempts, page)
    },
  )
}
