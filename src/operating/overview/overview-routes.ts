import type { FastifyPluginAsync } from 'fastify'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { type OverviewNeeds, overviewOf } from './overview.ts'
import { overviewBody, overviewSchema } from './overview-api.ts'
import { CountedStreams } from './stream-figures.ts'

interface OverviewRoutesNeeds extends Omit<OverviewNeeds, 'countedStreams'> {
  readonly callerOf: CallerOf
}

/** How all that a user has is doing, in one answer. */
export function overviewRoutes(needs: OverviewRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const { callerOf, state } = needs
    const countedStreams = new CountedStreams(state)
    const add = operationsOf(app, { callerOf, tags: ['Data streams'] })
    add('GET /overview', {
      operationId: 'readOverview',
      summary: 'Read the state of all your data streams, and what needs attention.',
      description: [
        'Readings per minute are counted in memory: since the service has begun, and for an hour.',
        'What was received and quarantined stands at its receipt, and what was stored at when it was.',
      ].join(' '),
      scope: ['streams:read', 'data:read'],
      answers: { 200: overviewSchema },
      handler: async ({ caller }) =>
        overviewBody(await overviewOf({ ...needs, countedStreams }, caller)),
    })
  }
}
