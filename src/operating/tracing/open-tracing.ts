import { setTimeout as sleep } from 'node:timers/promises'
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { TracingSettings } from '../../config/tracing.ts'
import { race } from '../../core/race.ts'
import type { Span, SpanAttributes, SpanStart, TraceHeaders, Tracing } from '../../core/tracing.ts'
import { SpanQueue } from './span-queue.ts'

/** Time for the spans that wait when the service stops. It may take 10 s in all. */
const farewellMs = 2_000

export interface TracingNeeds {
  readonly settings: TracingSettings
  readonly version: string
  /** Called when the collector does not take spans; once a minute at most. */
  readonly onTrouble: (message: string) => void
}

/**
 * Opens the traces of one thread, with OpenTelemetry's own SDK. Nothing of it is global: who makes a span has it in hand.
 * Load this module only where there is somewhere to send spans to.
 */
export function openTracing({ settings, version, onTrouble }: TracingNeeds): Tracing {
  // The library reads where to, with which headers, and how, from the environment.
  const queue = new SpanQueue({ exporter: new OTLPTraceExporter(), settings, onTrouble })
  const own = resourceFromAttributes({ 'service.name': 'streamvault', 'service.version': version })
  const named = detectResources({ detectors: [envDetector] })
  const provider = new TracerProvider({
    resource: defaultResource().merge(own).merge(named),
    sampler: samplerOf(settings),
    spanProcessors: [queue],
  })
  const tracer = provider.getTracer('streamvault', version)
  return {
    start({ name, kind, attributes, parent }: SpanStart): Span {
      const context = parent ? propagator.extract(ROOT_CONTEXT, parent, headerGetter) : ROOT_CONTEXT
      const span = tracer.startSpan(
        name,
        { kind: kinds[kind], attributes: withoutGaps(attributes) },
        context,
      )
      return {
        get headers() {
          const headers: { traceparent: string; tracestate?: string } = { traceparent: '' }
          propagator.inject(trace.setSpan(context, span), headers, headerSetter)
          return headers
        },
        end({ attributes: further = {}, failure }) {
          span.setAttributes(withoutGaps({ ...further, 'error.type': failure }))
          if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    figures: () => queue.figures,
    async stop() {
      const stopped = provider.shutdown().catch(() => undefined)
      await race([stopped, sleep(farewellMs, undefined, { ref: false })])
    },
  }
}

const propagator = new W3CTraceContextPropagator()

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const

const headerGetter: TextMapGetter<TraceHeaders> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => headers[name as keyof TraceHeaders],
}

const headerSetter = {
  set(headers: Record<string, string>, name: string, value: string): void {
    headers[name] = value
  },
}

function withoutGaps(attributes: SpanAttributes): Record<string, string | number> {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as Record<string, string | number>
}

/** The samplers that OTEL_TRACES_SAMPLER can name. */
function samplerOf({ sampler, ratio }: TracingSettings): Sampler {
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  const byParent = sampler.startsWith('parentbased_')
  const root = roots[sampler.replace('parentbased_', '')]?.() ?? new AlwaysOffSampler()
  return byParent ? new ParentBasedSampler({ root }) : root
}
