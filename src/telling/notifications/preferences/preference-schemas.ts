import { categories } from '../../../outbox/events/categories.ts'
import { knownTypes } from '../../../outbox/events/event-types.ts'
import {
  boolean,
  component,
  keyHeaders,
  listOf,
  query,
  record,
  text,
} from '../../../requests/http/schema.ts'
import { channels, frequencies } from './preferences.ts'

const channel = { ...text, enum: channels } as const

const gateProperties = { enabled: boolean, channels: listOf(channel, { maxItems: 10 }) }
const gate = component('NotificationGate', record(gateProperties))

const changedGate = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: gateProperties,
  description: 'What is left out keeps its value; null goes back to the default.',
} as const

const globalProperties = {
  email_enabled: boolean,
  in_app_enabled: boolean,
  push_enabled: { ...boolean, description: 'Has no effect here.' },
  frequency: { ...text, enum: frequencies, description: 'Stored; everything is told at once.' },
}

function optionalRecord(properties: Readonly<Record<string, object>>) {
  const schemas = properties as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  return record(schemas, { optional: Object.keys(properties) })
}

function each(names: readonly string[], schema: object) {
  return optionalRecord(Object.fromEntries(names.map((name) => [name, schema])))
}

const preferences = component(
  'NotificationPreferences',
  record({
    global_preferences: record(globalProperties),
    category_preferences: each(categories, gate),
    event_preferences: each(knownTypes, gate),
  }),
)

export const readPreferences = {
  operationId: 'readNotificationPreferences',
  summary: 'Read what one wants to be told, and how.',
  tags: ['Notifications'],
  response: { 200: preferences },
} as const

export const changePreferences = {
  operationId: 'changeNotificationPreferences',
  summary: 'Change what one wants to be told.',
  description: 'Each level is merged by itself, and so is each category and event in it.',
  tags: ['Notifications'],
  body: component(
    'NotificationPreferencesChange',
    optionalRecord({
      global_preferences: optionalRecord(globalProperties),
      category_preferences: each(categories, changedGate),
      event_preferences: each(knownTypes, changedGate),
    }),
  ),
  response: { 200: preferences },
} as const

export const resetPreferences = {
  operationId: 'resetNotificationPreferences',
  summary: 'Go back to the default preferences.',
  tags: ['Notifications'],
  headers: keyHeaders,
  response: { 200: preferences },
} as const

const explainedChannel = record({
  delivered: boolean,
  levels: listOf(
    record({
      level: { ...text, enum: ['type', 'global', 'category', 'event', 'receivers'] },
      allows: boolean,
      reason: text,
    }),
  ),
})

export const explainPreferences = {
  operationId: 'explainNotificationPreferences',
  summary: 'Say to which channels a type of events goes, and which level decides.',
  description:
    'The last level is who receives it: without a mail server or an address that is ACTIVE nothing is mailed.',
  tags: ['Notifications'],
  querystring: {
    ...query({ event_type: { ...text, enum: knownTypes } }),
    required: ['event_type'],
  },
  response: {
    200: record({
      event_type: text,
      category: text,
      channels: record({
        email: explainedChannel,
        in_app: explainedChannel,
        push: explainedChannel,
      }),
      webhooks: record({ delivered: boolean, reason: text }),
    }),
  },
} as const
