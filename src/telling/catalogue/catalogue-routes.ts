import type { FastifyPluginAsync } from 'fastify'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { catalogue } from './catalogue.ts'
import { catalogueSchema } from './catalogue-api.ts'

/** Types of events that users can be notified of. */
export function catalogueRoutes(callerOf: CallerOf): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { callerOf, tags: ['Notifications'] })
    add('GET /events/catalogue', {
      operationId: 'readEventCatalogue',
      summary: 'List every type of events.',
      description:
        'How webhooks get each type, which preferences and filters it obeys, whether this version produces it, and the JSON Schema of its `data`. See docs/notifications.md.',
      scope: 'notifications:read',
      answers: { 200: catalogueSchema },
      handler: async () => ({ events: catalogue }),
    })
  }
}
