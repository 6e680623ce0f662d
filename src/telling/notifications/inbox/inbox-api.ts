import type { Static } from 'typebox'
import { formatUs } from '../../../core/time.ts'
import * as s from '../../../requests/http/schema.ts'
import { entryTypes, type InboxEntry } from './inbox-entry.ts'

const severity = s.choice(['info', 'warning', 'critical'])

/** Entries that one request archives by their ids. */
const archivedMax = 100

export const entrySchema = s.component(
  'InboxEntry',
  s.record({
    id: s.uuid,
    created_at: { ...s.dateTime, description: 'When it happened.' },
    type: { ...s.text, enum: entryTypes },
    event_type: { ...s.text, examples: ['vault.created'] },
    title: { ...s.text, examples: ['Vault created'] },
    message: { ...s.text, examples: ['Vault created: boiler 7'] },
    resource_type: { ...s.text, examples: ['vault'] },
    resource_id: s.text,
    vault_id: s.nullable({
      ...s.uuid,
      description: 'The vault that it is about, or of which its resource is.',
    }),
    stream_id: s.nullable({
      ...s.uuid,
      description: 'The stream that it is about, or of which its resource is.',
    }),
    severity: s.typed<string | null>({
      ...s.nullable(severity),
      description: 'Of an alert; null for anything else.',
    }),
    read: s.boolean,
    archived: s.boolean,
    expires_at: { ...s.dateTime, description: 'After 30 days it is gone.' },
  }),
)

const counts = {
  unread_count: { ...s.count, description: 'Of the complete inbox, for any page or filter.' },
}

export const unreadSchema = s.record(counts)

export const inboxPageSchema = s.record({ ...s.pageOf(entrySchema).properties, ...counts })

/** Entries on a page: 20 here, and 10 everywhere else (decisions.md#lists). */
export const inboxPageSizeDefault = 20

export const inboxQuery = s.query({
  ...s.pageQuery,
  page_size: { ...s.pageQuery.page_size, default: inboxPageSizeDefault },
  unread_only: { ...s.boolean, default: false },
  severity: { ...severity, description: 'Of alerts: nothing else is listed then.' },
})

export const archivalSchema = s.component(
  'InboxArchival',
  s.typed<{ readonly ids?: readonly string[]; readonly all_read?: true }>({
    type: 'object',
    additionalProperties: false,
    properties: {
      ids: s.listOf(s.uuid, { minItems: 1, maxItems: archivedMax }),
      all_read: { const: true },
    },
    minProperties: 1,
    maxProperties: 1,
    examples: [{ all_read: true }],
  }),
)

export const archivedSchema = s.record({ archived: s.count })

/** Server-Sent Events are no operation of `operationsOf`: their route has the whole description. */
export const followInboxSchema = {
  operationId: 'followInbox',
  summary: 'Follow the inbox as it grows.',
  description:
    'Server-Sent Events of the name `notification`, each an entry as the list shows it. A client that comes back with `Last-Event-ID` gets what came meanwhile, each once.',
  tags: ['Notifications'],
  headers: {
    type: 'object',
    properties: { 'last-event-id': { ...s.text, description: 'The id of the last event.' } },
  },
  response: {
    200: s.answer(
      {
        ...s.text,
        examples: ['event: notification\nid: 7\ndata: {"event_type":"vault.created"}\n\n'],
      },
      {
        type: 'text/event-stream',
        description: 'Events until either side ends it; the last one says why the service did.',
      },
    ),
  },
} as const

export function entryBody(entry: InboxEntry): Static<typeof entrySchema> {
  return {
    id: entry.id,
    created_at: formatUs(entry.created_at),
    type: entry.type,
    event_type: entry.event_type,
    title: entry.title,
    message: entry.message,
    resource_type: entry.resource_type,
    resource_id: entry.resource_id,
    vault_id: entry.vault_id,
    stream_id: entry.stream_id,
    severity: entry.severity,
    read: entry.isRead,
    archived: entry.isArchived,
    expires_at: formatUs(entry.expires_at),
  }
}
