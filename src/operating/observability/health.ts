import type { FastifyPluginAsync } from 'fastify'
import { readHealth, readLiveness, readReadiness } from './operations-schemas.ts'

const readinessPaths = [
  ['/health', readHealth],
  ['/health/ready', readReadiness],
] as const

/** Parts of the service that may fail, and what is wrong with them now. */
export type FailingParts = Readonly<Record<string, string>>

export interface HealthRoutesNeeds {
  /** The parts that fail now: an empty object means ready. */
  readonly failingParts: () => Promise<FailingParts>
  /** Parts that do not work now, and that all else can do without for a while. */
  readonly degradedParts: () => Promise<FailingParts>
}

/** Liveness and readiness, for those who start, stop and route to the service. */
export function healthRoutes({
  failingParts,
  degradedParts,
}: HealthRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.get('/health/live', { schema: readLiveness }, () => ({ status: 'live' }))
    for (const [path, schema] of readinessPaths) {
      app.get(path, { schema }, async (_, reply) => {
        const [failing, degraded] = await Promise.all([failingParts(), degradedParts()])
        const isReady = Object.keys(failing).length === 0
        return reply
          .code(isReady ? 200 : 503)
          .send({ status: isReady ? 'ready' : 'not_ready', failing, degraded })
      })
    }
  }
}
