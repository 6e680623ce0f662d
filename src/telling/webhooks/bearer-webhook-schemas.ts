import {
  boolean,
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  namesOf,
  noContent,
  nullable,
  number,
  partial,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { bearerTypes } from './subscribable.ts'
import { filteredIds, headersSchema, secretSchema } from './webhook-schemas.ts'

const severity = { ...text, enum: ['info', 'warning', 'critical'] } as const

const filters = record(
  {
    vaultIds: filteredIds,
    templateIds: filteredIds,
    userIds: filteredIds,
    severities: listOf(severity, { maxItems: 3 }),
  },
  {
    optional: ['vaultIds', 'templateIds', 'userIds', 'severities'],
    description:
      'An event has to meet each of them; `userIds` are those whose resource it is about, and `severities` those of alerts.',
  },
)

const fields = {
  url: {
    ...text,
    minLength: 1,
    maxLength: 2_048,
    description: 'http or https, port 80 or 443, and no private address.',
  },
  events: listOf(
    { ...text, enum: bearerTypes },
    { minItems: 1, maxItems: 100, examples: [['stream.alert_triggered']] },
  ),
  secret: secretSchema,
  active: { ...boolean, description: 'false: PAUSED.' },
  filters,
  timeout: {
    type: 'integer',
    minimum: 1,
    maximum: 30,
    default: 30,
    description: 'Seconds that one attempt may take.',
  },
  retryCount: {
    type: 'integer',
    minimum: 0,
    maximum: 5,
    default: 2,
    description: 'Attempts after the first one.',
  },
  retryDelay: {
    type: 'integer',
    minimum: 1,
    maximum: 60,
    default: 2,
    description: 'Seconds before the second attempt; twice as many before each further one.',
  },
  headers: headersSchema,
} as const

const shownFilters = record({
  vaultIds: listOf(uuid),
  templateIds: listOf(uuid),
  userIds: listOf(uuid),
  severities: listOf(severity),
})

const webhook = component(
  'BearerWebhook',
  record({
    webhookId: uuid,
    url: text,
    events: listOf(text),
    secret: nullable(text),
    active: boolean,
    filters: shownFilters,
    timeout: number,
    retryCount: count,
    retryDelay: number,
    headers: { type: 'object', additionalProperties: text },
    createdAt: dateTime,
    warnings: listOf(text),
  }),
)

const tags = ['Webhooks'] as const
const params = idParams('webhookId')

export const createBearerWebhook = {
  operationId: 'createBearerWebhook',
  summary: 'Register an endpoint, also for events of the token interface.',
  tags,
  headers: keyHeaders,
  body: component(
    'NewBearerWebhook',
    record(fields, {
      optional: namesOf(fields).filter((name) => name !== 'url' && name !== 'events'),
      examples: [{ url: 'https://receiver.example.com/hook', events: ['stream.alert_triggered'] }],
    }),
  ),
  response: { 201: webhook },
} as const

export const listBearerWebhooks = {
  operationId: 'listBearerWebhooks',
  summary: "List one's own webhooks, as the token interface shows them.",
  tags,
  querystring: query(cursorQuery),
  response: { 200: cursorListOf(webhook) },
} as const

export const readBearerWebhook = {
  operationId: 'readBearerWebhook',
  summary: 'Read a webhook, as the token interface shows it.',
  tags,
  params,
  response: { 200: webhook },
} as const

export const changeBearerWebhook = {
  operationId: 'changeBearerWebhook',
  summary: 'Change a webhook.',
  description: 'What is not sent keeps its value.',
  tags,
  params,
  body: component('BearerWebhookChange', partial(fields, { examples: [{ active: true }] })),
  response: { 200: webhook },
} as const

export const deleteBearerWebhook = {
  operationId: 'deleteBearerWebhook',
  summary: 'Delete a webhook; nothing is sent to it any more.',
  tags,
  params,
  response: { 204: noContent },
} as const

const logged = record({
  eventId: uuid,
  eventType: text,
  deliveryStatus: { ...text, enum: ['pending', 'delivered', 'failed', 'cancelled'] },
  httpStatus: { ...nullable({ type: 'integer' }), description: 'Of the last attempt.' },
  responseTime: { ...nullable(number), description: 'Milliseconds of the last attempt.' },
  timestamp: dateTime,
  attempts: count,
  lastError: nullable(text),
})

export const readWebhookLogs = {
  operationId: 'readWebhookLogs',
  summary: 'List the events of a webhook, newest first.',
  tags,
  params,
  querystring: query(cursorQuery),
  response: {
    200: {
      description: 'The events; the next page is in the header.',
      headers: { Link: { description: 'The next page.', schema: text } },
      content: {
        'application/json': { schema: record({ webhookId: uuid, logs: listOf(logged) }) },
      },
    },
  },
} as const
