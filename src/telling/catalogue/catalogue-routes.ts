import type { FastifyPluginAsync } from 'fastify'
import { categories } from '../../outbox/events/categories.ts'
import { knownTypes } from '../../outbox/events/event-types.ts'
import { boolean, listOf, record, text } from '../../requests/http/schema.ts'
import { catalogue } from './catalogue.ts'

const readCatalogue = {
  operationId: 'readEventCatalogue',
  summary: 'List every type of events.',
  description:
    'How webhooks get each type, which preferences and filters it obeys, whether this version produces it, and the JSON Schema of its `data`. See docs/notifications.md.',
  tags: ['Notifications'],
  response: {
    200: record({
      events: listOf(
        record({
          event_type: { ...text, enum: knownTypes },
          category: { ...text, enum: categories },
          format: { ...text, enum: ['emitted', 'forthcoming', 'none'] },
          emitted: boolean,
          produced: boolean,
          filters: listOf({ ...text, enum: ['vault_ids', 'stream_ids'] }),
          coalesced: boolean,
          deduplicated: boolean,
          data_schema: { type: 'object', additionalProperties: true },
        }),
      ),
    }),
  },
} as const

/** Types of events that users can be notified of. */
export function catalogueRoutes(): FastifyPluginAsync {
  return async (app) => {
    app.get(
      '/events/catalogue',
      { schema: readCatalogue, config: { scope: 'notifications:read' } },
      async () => ({ events: catalogue }),
    )
  }
}
