import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import {
  type BearerWebhookBody,
  bearerSettingsWith,
  bearerWebhookBody,
} from './bearer-webhook-requests.ts'
import {
  changeBearerWebhook,
  createBearerWebhook,
  deleteBearerWebhook,
  listBearerWebhooks,
  readBearerWebhook,
  readWebhookLogs,
} from './bearer-webhook-schemas.ts'
import { defaultSettings, type WebhookSettings } from './webhook.ts'
import { logOf } from './webhook-records.ts'
import {
  change,
  ownWebhook,
  register,
  remove,
  type WebhookRoutesNeeds,
} from './webhook-registration.ts'

interface CreateWebhook {
  Body: BearerWebhookBody & Required<Pick<BearerWebhookBody, 'url' | 'events'>>
}

interface ListWebhooks {
  Querystring: QueryOf<typeof listBearerWebhooks.querystring>
}

interface OneWebhook {
  Params: { webhookId: string }
}

interface ChangeWebhook extends OneWebhook {
  Body: BearerWebhookBody
}

interface ReadLogs extends OneWebhook, ListWebhooks {}

const reading = { scope: 'webhooks:read' } as const
const writing = {
  scope: 'webhooks:write',
  errors: ['conflict', 'destination_not_allowed'],
} as const

/**
 * Registrations as the token interface has them: another view of the same webhooks
 * (decisions.md#two-views-of-one-table).
 */
export function bearerWebhookRoutes(needs: WebhookRoutesNeeds): FastifyPluginAsync {
  const { webhooks, callerOf } = needs
  return async (app) => {
    app.post<CreateWebhook>(
      '/webhooks',
      { schema: createBearerWebhook, config: writing },
      async (request, reply) => {
        const { url, events: eventTypes } = request.body
        const first: WebhookSettings = { ...defaultSettings, url, eventTypes }
        const settings = () => bearerSettingsWith(first, request.body)
        return await register(needs, { request, reply }, { settings, bodyOf: bearerWebhookBody })
      },
    )

    app.get<ListWebhooks>(
      '/webhooks',
      { schema: listBearerWebhooks, config: reading },
      async (request, reply) => {
        const page = cursorRequest(request.query)
        const { userId } = callerOf(request)
        const found = await webhooks.listAfter(userId, page.after, page.limit + 1)
        void reply.header('cache-control', 'no-store')
        return cursorPage(found, page, { request, reply }).map(bearerWebhookBody)
      },
    )

    oneWebhookRoutes(app, needs)
  }
}

function oneWebhookRoutes(app: FastifyInstance, needs: WebhookRoutesNeeds): void {
  const { state, webhooks, callerOf } = needs
  app.get<OneWebhook>(
    '/webhooks/:webhookId',
    { schema: readBearerWebhook, config: reading },
    async (request, reply) => {
      const { userId } = callerOf(request)
      const webhook = await ownWebhook(webhooks, userId, request.params.webhookId)
      void reply.header('cache-control', 'no-store')
      return bearerWebhookBody(webhook)
    },
  )

  app.put<ChangeWebhook>(
    '/webhooks/:webhookId',
    { schema: changeBearerWebhook, config: writing },
    async (request, reply) => {
      const after = await change(needs, request, {
        id: request.params.webhookId,
        changedFrom: (before) => bearerSettingsWith(before, request.body),
      })
      void reply.header('cache-control', 'no-store')
      return bearerWebhookBody(after)
    },
  )

  app.delete<OneWebhook>(
    '/webhooks/:webhookId',
    { schema: deleteBearerWebhook, config: { scope: 'webhooks:write' } },
    (request, reply) => remove(needs, { request, reply }, request.params.webhookId),
  )

  app.get<ReadLogs>(
    '/webhooks/:webhookId/logs',
    { schema: readWebhookLogs, config: reading },
    async (request, reply) => {
      const { userId } = callerOf(request)
      const page = cursorRequest(request.query)
      const { id } = await ownWebhook(webhooks, userId, request.params.webhookId)
      const found = await logOf(state, id, { before: page.after, limit: page.limit + 1 })
      const logs = cursorPage(found, page, { request, reply }).map(({ body }) => body)
      return { webhookId: id, logs }
    },
  )
}
