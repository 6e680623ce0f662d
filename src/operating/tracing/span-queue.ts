import { TraceFlags } from '@opentelemetry/api'
import { ExportResultCode } from '@opentelemetry/core'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import type { TracingSettings } from '../../config/tracing.ts'
import { monotonicMs } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { TracingFigures } from '../../core/tracing.ts'

/** Spans that are sent in one request. */
const batchMax = 512

/** Between two warnings about a collector. */
const troubleEveryMs = 60_000

export interface SpanQueueNeeds {
  readonly exporter: SpanExporter
  readonly settings: Pick<TracingSettings, 'collector' | 'waitingMax' | 'delayMs'>
  readonly onTrouble: (message: string) => void
}

/** The SDK's own queue of spans, with what it does not say: how many wait, and what became of the others. */
export class SpanQueue implements SpanProcessor {
  readonly #needs: SpanQueueNeeds
  readonly #batches: BatchSpanProcessor
  #waiting = 0
  #sent = 0
  #dropped = 0
  #failed = 0
  /** In milliseconds of this thread: nothing is said before. */
  #nextTroubleMs = 0

  constructor(needs: SpanQueueNeeds) {
    this.#needs = needs
    const { waitingMax, delayMs } = needs.settings
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: this.#export,
        forceFlush: async () => await needs.exporter.forceFlush?.(),
        shutdown: async () => await needs.exporter.shutdown(),
      },
      maxQueueSize: waitingMax,
      maxExportBatchSize: Math.min(batchMax, waitingMax),
      scheduledDelayMillis: delayMs,
    })
  }

  get figures(): TracingFigures {
    return {
      waiting: this.#waiting,
      sent: this.#sent,
      dropped: this.#dropped,
      failed: this.#failed,
    }
  }

  onStart: SpanProcessor['onStart'] = () => undefined

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return
    if (this.#waiting >= this.#needs.settings.waitingMax) this.#dropped++
    else {
      this.#waiting++
      this.#batches.onEnd(span)
    }
  }

  async forceFlush(): Promise<void> {
    await this.#batches.forceFlush()
  }

  async shutdown(): Promise<void> {
    await this.#batches.shutdown()
  }

  readonly #export: SpanExporter['export'] = (spans, done) => {
    this.#waiting -= spans.length
    this.#needs.exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#sent += spans.length
      else {
        this.#failed += spans.length
        this.#warn(result.error)
      }
      // The SDK would write the failure to the console: it is said here.
      done({ code: ExportResultCode.SUCCESS })
    })
  }

  #warn(error: unknown): void {
    const nowMs = monotonicMs()
    if (nowMs < this.#nextTroubleMs) return
    this.#nextTroubleMs = nowMs + troubleEveryMs
    const reason = error === undefined ? '' : `: ${messageOf(error)}`
    this.#needs.onTrouble(`no traces reach ${this.#needs.settings.collector}${reason}`)
  }
}
