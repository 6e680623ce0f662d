import type { FastifyPluginAsync } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { readMetrics } from './operations-schemas.ts'

/** One figure of the service; read when it is asked for, so that counting costs nothing extra. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly value: () => number
}

export interface MetricsNeeds {
  readonly metrics: readonly Metric[]
  /** Brings in what other threads have counted, once per scrape. */
  readonly refresh: () => Promise<void>
}

/** `GET /metrics` in the text format of Prometheus. */
export function metricsRoutes({ metrics, refresh }: MetricsNeeds): FastifyPluginAsync {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'streamvault_' })
  for (const metric of metrics) register(registry, metric)
  return async (app) => {
    app.get('/metrics', { schema: readMetrics }, async (_, reply) => {
      await refresh()
      return reply.type(registry.contentType).send(await registry.metrics())
    })
  }
}

function register(registry: Registry, { name, help, type, value }: Metric): void {
  const options = { name: `streamvault_${name}`, help, registers: [registry] }
  if (type === 'gauge') {
    const gauge: Gauge = new Gauge({ ...options, collect: () => gauge.set(value()) })
    return
  }
  const counter: Counter = new Counter({
    ...options,
    collect() {
      counter.reset()
      counter.inc(value())
    },
  })
}
