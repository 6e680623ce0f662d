import type { Static } from 'typebox'
import { severities } from '../../../processors/alert-rules.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import { assertSendable } from './custom-headers.ts'
import { bearerTypes, warningsOf } from './subscribable.ts'
import type { Webhook, WebhookSettings } from './webhook.ts'
import {
  filteredIds,
  folded,
  headersSchema,
  secretSchema,
  shownHeadersSchema,
  urlSchema,
} from './webhook-api.ts'

const severity = s.choice(severities)

const fields = {
  url: urlSchema,
  events: s.listOf(s.choice(bearerTypes), {
    minItems: 1,
    maxItems: 100,
    examples: [['stream.alert_triggered']],
  }),
  secret: secretSchema,
  active: { ...s.boolean, description: 'false: PAUSED.' },
  filters: s.partial(
    {
      vaultIds: filteredIds,
      templateIds: filteredIds,
      userIds: filteredIds,
      severities: s.listOf(severity, { maxItems: 3 }),
    },
    {
      description:
        'An event has to meet each of them; `userIds` are those whose resource it is about, and `severities` those of alerts.',
    },
  ),
  timeout: s.integer(1, 30, { default: 30, description: 'Seconds that one attempt may take.' }),
  retryCount: s.integer(0, 5, { default: 2, description: 'Attempts after the first one.' }),
  retryDelay: s.integer(1, 60, {
    default: 2,
    description: 'Seconds before the second attempt; twice as many before each further one.',
  }),
  headers: headersSchema,
}

export const newBearerWebhookSchema = s.component(
  'NewBearerWebhook',
  s.record(fields, {
    optional: s.namesOf(fields).filter((name) => name !== 'url' && name !== 'events'),
    examples: [{ url: 'https://receiver.example.com/hook', events: ['stream.alert_triggered'] }],
  }),
)

export const bearerWebhookChangeSchema = s.component(
  'BearerWebhookChange',
  s.partial(fields, { examples: [{ active: true }] }),
)

export const bearerWebhookSchema = s.component(
  'BearerWebhook',
  s.record({
    webhookId: s.uuid,
    url: s.text,
    events: s.listOf(s.text),
    secret: s.nullable(s.text),
    active: s.boolean,
    filters: s.record({
      vaultIds: s.listOf(s.uuid),
      templateIds: s.listOf(s.uuid),
      userIds: s.listOf(s.uuid),
      severities: s.listOf({ ...s.text, enum: severities }),
    }),
    timeout: s.number,
    retryCount: s.count,
    retryDelay: s.number,
    headers: shownHeadersSchema,
    createdAt: s.dateTime,
    warnings: s.listOf(s.text),
  }),
)

/** An event that a webhook is or was told of. */
export const loggedSchema = s.record({
  eventId: s.uuid,
  eventType: s.text,
  deliveryStatus: { ...s.text, enum: ['pending', 'delivered', 'failed', 'cancelled'] },
  httpStatus: {
    ...s.typed<number | null>({ type: ['integer', 'null'] }),
    description: 'Of the last attempt.',
  },
  responseTime: { ...s.nullable(s.number), description: 'Milliseconds of the last attempt.' },
  timestamp: s.dateTime,
  attempts: s.count,
  lastError: s.nullable(s.text),
})

export const logsSchema = s.answer(s.record({ webhookId: s.uuid, logs: s.listOf(loggedSchema) }), {
  description: 'The events; the next page is in the header.',
  headers: { Link: { description: 'The next page.', schema: s.text } },
})

type BearerWebhookChange = Static<typeof bearerWebhookChangeSchema>

/**
 * Settings with what a body says in the place of what was there before.
 *
 * @throws DomainError `invalid_request` for headers that cannot be sent
 */
export function bearerSettingsWith<Settings extends WebhookSettings>(
  before: Settings,
  body: BearerWebhookChange,
): Settings {
  const { url, events, secret, filters, timeout, retryCount, retryDelay, headers } = body
  if (headers) assertSendable(headers, 'headers')
  return {
    ...before,
    ...(url !== undefined && { url }),
    ...(events && { eventTypes: [...new Set(events)] }),
    // A secret that is set is wanted at once; a rotation is asked for otherwise.
    ...(secret !== undefined && { secret, previousSecret: undefined }),
    ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
    ...(retryCount !== undefined && { retryCount }),
    ...(retryDelay !== undefined && { retryDelayMs: retryDelay * 1_000 }),
    ...(headers && { customHeaders: headers }),
    ...(filters && { filters: withFilters(before, filters) }),
    status: statusWith(before, body),
  }
}

/** One that was disabled is not active: whoever says so again leaves it as it is. */
function statusWith(
  { status }: WebhookSettings,
  { active }: BearerWebhookChange,
): WebhookSettings['status'] {
  if (active === undefined || (!active && status === 'DISABLED')) return status
  return active ? 'ACTIVE' : 'PAUSED'
}

function withFilters(
  { filters }: WebhookSettings,
  wanted: NonNullable<BearerWebhookChange['filters']>,
): WebhookSettings['filters'] {
  const { vaultIds: _, templateIds: __, userIds: ___, severities: ____, ...rest } = filters
  const given = Object.entries(wanted).filter(([, ids]) => ids.length > 0)
  return { ...rest, ...Object.fromEntries(given.map(([name, ids]) => [name, folded(ids)])) }
}

/** A webhook as `/webhooks` shows it. */
export function bearerWebhookBody(webhook: Webhook): Static<typeof bearerWebhookSchema> {
  const { filters } = webhook
  return {
    webhookId: webhook.id,
    url: webhook.url,
    events: webhook.eventTypes,
    secret: webhook.secret,
    active: webhook.status === 'ACTIVE',
    filters: {
      vaultIds: filters.vaultIds ?? [],
      templateIds: filters.templateIds ?? [],
      userIds: filters.userIds ?? [],
      severities: filters.severities ?? [],
    },
    timeout: webhook.timeoutMs / 1_000,
    retryCount: webhook.retryCount,
    retryDelay: webhook.retryDelayMs / 1_000,
    headers: webhook.customHeaders,
    createdAt: formatUs(webhook.createdAtUs),
    warnings: warningsOf(webhook.eventTypes),
  }
}
