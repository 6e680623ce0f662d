import { categories } from '../../outbox/events/categories.ts'
import { type EventFormat, knownTypes } from '../../outbox/events/event-types.ts'
import * as s from '../../requests/http/schema.ts'

/** What there is to know of one type of events. */
export const catalogueEntrySchema = s.record({
  event_type: s.choice(knownTypes),
  category: s.choice(categories),
  /** How webhooks get it; `none` for what goes to inbox and mail only. */
  format: s.choice<EventFormat>(['emitted', 'forthcoming', 'none']),
  /** False for what can be subscribed to, and never happens. */
  emitted: s.boolean,
  /** Whether something in this version makes it happen. */
  produced: s.boolean,
  /** The keys of `resource_filters` that let it through. */
  filters: s.listOf(s.choice(['vault_ids', 'stream_ids'])),
  coalesced: s.boolean,
  deduplicated: s.boolean,
  data_schema: s.typed<s.JsonSchema>({ type: 'object', additionalProperties: true }),
})

export const catalogueSchema = s.record({ events: s.listOf(catalogueEntrySchema) })
