import type { TSchema } from 'typebox'
import { categories } from '../../../outbox/events/categories.ts'
import { type KnownType, knownTypes } from '../../../outbox/events/event-types.ts'
import * as s from '../../../requests/http/schema.ts'
import type { Verdict } from './effective.ts'
import { channels, frequencies, type Preferences, type PreferencesChange } from './preferences.ts'

const channel = s.choice(channels)

const gateProperties = { enabled: s.boolean, channels: s.listOf(channel, { maxItems: 10 }) }
const gate = s.component('NotificationGate', s.record(gateProperties))

const changedGate = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: gateProperties,
  description: 'What is left out keeps its value; null goes back to the default.',
}

const globalProperties = {
  email_enabled: s.boolean,
  in_app_enabled: s.boolean,
  push_enabled: { ...s.boolean, description: 'Has no effect here.' },
  frequency: s.choice(frequencies, { description: 'Stored; all notifications are sent at once.' }),
}

/** The types of what is stored say which names there are: those of an object made of a list are lost. */
export const preferencesSchema = s.component(
  'NotificationPreferences',
  s.typed<Preferences>({
    ...s.record({
      global_preferences: s.record(globalProperties),
      category_preferences: each(categories, gate),
      event_preferences: each(knownTypes, gate),
    }),
  }),
)

export const preferencesChangeSchema = s.component(
  'NotificationPreferencesChange',
  s.typed<PreferencesChange>({
    ...s.partial({
      global_preferences: s.partial(globalProperties),
      category_preferences: each(categories, changedGate),
      event_preferences: each(knownTypes, changedGate),
    }),
  }),
)

const explainedChannel = s.record({
  delivered: s.boolean,
  levels: s.listOf(
    s.record({
      level: s.choice<Verdict['level']>(['type', 'global', 'category', 'event', 'receivers']),
      allows: s.boolean,
      reason: s.text,
    }),
  ),
})

export const explanationQuery = s.record({ event_type: s.choice<KnownType>(knownTypes) })

export const explanationSchema = s.record({
  event_type: s.text,
  category: s.text,
  channels: s.record({
    email: explainedChannel,
    in_app: explainedChannel,
    push: explainedChannel,
  }),
  webhooks: s.record({ delivered: s.boolean, reason: s.text }),
})

function each<Schema extends TSchema>(names: readonly string[], schema: Schema) {
  return s.partial(Object.fromEntries(names.map((name) => [name, schema])))
}
