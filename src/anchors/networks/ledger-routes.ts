import type { FastifyPluginAsync } from 'fastify'
import { ledgers } from '../../core/ledger.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { ledgerBody, ledgersSchema, sandboxBody } from './ledger-api.ts'
import type { LedgerWatch } from './ledger-watch.ts'

interface LedgerRoutesNeeds {
  readonly watch: Pick<LedgerWatch, 'fresh'>
  /** What is wrong with lanes, by the names that a health check has for them. */
  readonly laneProblems: () => Promise<Readonly<Record<string, string>>>
  readonly callerOf: CallerOf
}

/** `GET /ledgers`: where what live keys make is anchored, and how that is doing. */
export function ledgerRoutes(needs: LedgerRoutesNeeds): FastifyPluginAsync {
  const { watch, laneProblems } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Anchors'] })

    add('GET /ledgers', {
      operationId: 'listLedgers',
      summary: 'Read where each ledger is, what an anchor costs there, and whether it answers.',
      description: 'What test keys make is always anchored on the sandbox.',
      scope: 'any',
      answers: { 200: ledgersSchema },
      handler: async () => {
        const [looks, problems] = await Promise.all([watch.fresh(), laneProblems()])
        return ledgers.map((ledger) => {
          const look = looks.find(({ settings }) => settings.ledger === ledger)
          if (!look) return sandboxBody(ledger, problems['ledger'])
          const problem = look.problem ?? problems[`ledger ${look.settings.network}`]
          return ledgerBody({ ...look, problem })
        })
      },
    })
  }
}
