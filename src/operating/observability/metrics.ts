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

/** A counter with a value for each of a few reasons. */
export interface CounterByReason {
  readonly name: string
  readonly help: string
  readonly values: () => Readonly<Record<string, number>>
}

/** A gauge with a value for each of a few states, or parts. */
export interface GaugeByLabel {
  readonly label: 'state' | 'part'
  readonly name: string
  readonly help: string
  readonly values: () => Readonly<Record<string, number>>
}

/** A figure with a value for each network that is known; those of others are left out. */
export interface ByNetwork {
  readonly type: Metric['type']
  readonly name: string
  readonly help: string
  readonly values: () => Readonly<Record<string, number>>
}

export interface MetricsNeeds {
  readonly metrics: readonly Metric[]
  readonly byReason: readonly CounterByReason[]
  readonly byLabel: readonly GaugeByLabel[]
  readonly byNetwork: readonly ByNetwork[]
  /** Brings in what other threads have counted, once per scrape. */
  readonly refresh: () => Promise<void>
}

/** `GET /metrics` in the text format of Prometheus. */
export function metricsRoutes({
  metrics,
  byReason,
  byLabel,
  byNetwork,
  refresh,
}: MetricsNeeds): FastifyPluginAsync {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'streamvault_' })
  for (const metric of metrics) register(registry, metric)
  for (const counter of byReason) registerByReason(registry, counter)
  for (const gauge of byLabel) registerByLabel(registry, gauge)
  for (const one of byNetwork) registerByNetwork(registry, one)
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

function registerByReason(registry: Registry, { name, help, values }: CounterByReason): void {
  const counter: Counter<'reason'> = new Counter({
    name: `streamvault_${name}`,
    help,
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      counter.reset()
      for (const [reason, value] of Object.entries(values())) counter.inc({ reason }, value)
    },
  })
}

function registerByLabel(registry: Registry, { label, name, help, values }: GaugeByLabel): void {
  const gauge: Gauge<typeof label> = new Gauge({
    name: `streamvault_${name}`,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      for (const [one, value] of Object.entries(values())) gauge.set({ [label]: one }, value)
    },
  })
}

function registerByNetwork(registry: Registry, { type, name, help, values }: ByNetwork): void {
  const options = {
    name: `streamvault_${name}`,
    help,
    labelNames: ['network'] as const,
    registers: [registry],
    collect() {
      figure.reset()
      for (const [network, value] of Object.entries(values())) figure.inc({ network }, value)
    },
  }
  const figure: Gauge<'network'> | Counter<'network'> =
    type === 'gauge' ? new Gauge(options) : new Counter(options)
}
