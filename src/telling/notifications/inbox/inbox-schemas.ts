import {
  boolean,
  choice,
  component,
  count,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  pageOf,
  pageQuery,
  query,
  record,
  text,
  uuid,
} from '../../../requests/http/schema.ts'
import { entryTypes } from './inbox-entry.ts'

const severity = choice(['info', 'warning', 'critical'])

/** Entries that one request archives by their ids. */
const archivedMax = 100

const entry = component(
  'InboxEntry',
  record({
    id: uuid,
    created_at: { ...dateTime, description: 'When it happened.' },
    type: { ...text, enum: entryTypes },
    event_type: { ...text, examples: ['vault.created'] },
    title: { ...text, examples: ['Vault created'] },
    message: { ...text, examples: ['Vault created: boiler 7'] },
    resource_type: { ...text, examples: ['vault'] },
    resource_id: text,
    severity: { ...nullable(severity), description: 'Of an alert; null for anything else.' },
    read: boolean,
    archived: boolean,
    expires_at: { ...dateTime, description: 'After 30 days it is gone.' },
  }),
)

const unreadCount = { ...count, description: 'Of the whole inbox, whatever page or filter.' }
const params = idParams('notificationId')
const page = pageOf(entry)

/** The size of a page is 20 here, and 10 everywhere else (decisions.md#lists). */
/** Entries on a page. */
export const inboxPageSizeDefault = 20

const inboxPageQuery = {
  ...pageQuery,
  page_size: { ...pageQuery.page_size, default: inboxPageSizeDefault },
}

export const listInbox = {
  operationId: 'listInbox',
  summary: 'List what one was told, newest first.',
  description: 'Without what is archived or older than 30 days.',
  tags: ['Notifications'],
  querystring: query({
    ...inboxPageQuery,
    unread_only: { ...boolean, default: false },
    severity: { ...severity, description: 'Of alerts: nothing else is listed then.' },
  }),
  response: {
    200: record({ ...(page['properties'] as Record<string, object>), unread_count: unreadCount }),
  },
} as const

export const countUnread = {
  operationId: 'countUnreadInboxEntries',
  summary: 'Count what one was told and has not read.',
  tags: ['Notifications'],
  response: { 200: record({ unread_count: unreadCount }) },
} as const

export const readInboxEntry = {
  operationId: 'markInboxEntryRead',
  summary: 'Mark one entry as read.',
  tags: ['Notifications'],
  params,
  response: { 200: entry },
} as const

export const readWholeInbox = {
  operationId: 'markInboxRead',
  summary: 'Mark every entry as read.',
  tags: ['Notifications'],
  response: { 200: record({ unread_count: unreadCount }) },
} as const

export const deleteInboxEntry = {
  operationId: 'deleteInboxEntry',
  summary: 'Delete an entry.',
  description: 'An event that it stood for is then told again if it happens again.',
  tags: ['Notifications'],
  params,
  response: { 204: noContent },
} as const

export const archiveInboxEntries = {
  operationId: 'archiveInboxEntries',
  summary: 'Archive entries: they leave the list and the count.',
  description:
    'Those with these ids, or all that are read. Ids that are unknown or archived already are passed over.',
  tags: ['Notifications'],
  headers: keyHeaders,
  body: component('InboxArchival', {
    type: 'object',
    additionalProperties: false,
    properties: {
      ids: listOf(uuid, { minItems: 1, maxItems: archivedMax }),
      all_read: { const: true },
    },
    minProperties: 1,
    maxProperties: 1,
    examples: [{ all_read: true }],
  }),
  response: { 200: record({ archived: count }) },
} as const

export const followInboxSchema = {
  operationId: 'followInbox',
  summary: 'Follow the inbox as it grows.',
  description:
    'Server-Sent Events of the name `notification`, each an entry as the list shows it. Whoever comes back with `Last-Event-ID` gets what came meanwhile, each once.',
  tags: ['Notifications'],
  headers: {
    type: 'object',
    properties: { 'last-event-id': { ...text, description: 'The id of the last event.' } },
  },
  response: {
    200: {
      description: 'Events until either side ends it; the last one says why the service did.',
      content: {
        'text/event-stream': {
          schema: {
            ...text,
            examples: ['event: notification\nid: 7\ndata: {"event_type":"vault.created"}\n\n'],
          },
        },
      },
    },
  },
} as const
