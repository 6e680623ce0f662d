import { setTimeout as sleep } from 'node:timers/promises'
import { InfluxDB, setLogger } from '@influxdata/influxdb-client'
import { ExportResultCode } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import { adminKey, adminSecret } from './service-process.ts'

/** Clients that send numbered rows of several devices, and send again what was not acknowledged. */

/** A row counts by its number: `number % devices` is that of its device. */
export interface NumberedSender {
  readonly devices: number
  /** The numbers of rows that were answered with 2xx. */
  readonly acknowledged: ReadonlySet<number>
  /** Sends until the signal, and resolves when all that was sent is acknowledged. */
  run(signal: AbortSignal): Promise<void>
}

const lifeMs = 600_000
const firstTimeMs = Date.UTC(2026, 0, 1)

/** Lines that the client library of InfluxDB has not sent yet, or sends again. */
const linesUnderWayMax = 20_000

/** Line protocol, by the client library of InfluxDB 2 with its own repetitions. */
export class LineSender implements NumberedSender {
  readonly devices = 5
  readonly acknowledged = new Set<number>()
  readonly #url: string
  readonly #bucket: string

  constructor(url: string, bucket: string) {
    this.#url = url
    this.#bucket = bucket
  }

  async run(signal: AbortSignal): Promise<void> {
    setLogger({ error: () => undefined, warn: () => undefined })
    const token = `${adminKey}:${adminSecret}`
    const client = new InfluxDB({ url: this.#url, token, timeout: 20_000 })
    const writer = client.getWriteApi('any', this.#bucket, 'ms', {
      batchSize: 100,
      flushInterval: 50,
      maxRetries: 10_000,
      maxRetryTime: lifeMs,
      minRetryDelay: 50,
      maxRetryDelay: 500,
      retryJitter: 50,
      maxBufferLines: 2 * linesUnderWayMax,
      writeSuccess: (lines) => {
        for (const line of lines) this.acknowledged.add(Number(/ n=(\d+)i/.exec(line)?.[1]))
      },
    })
    let number = 0
    while (!signal.aborted) {
      for (let index = 0; index < 50; index++, number++) {
        const host = `line\\ ${number % this.devices}`
        writer.writeRecord(`rows,host=${host} n=${number}i ${firstTimeMs + number}`)
      }
      do await sleep(10)
      while (number - this.acknowledged.size > linesUnderWayMax)
    }
    while (this.acknowledged.size < number) {
      await writer.flush(true).catch(() => undefined)
      await sleep(50)
    }
    await writer.close()
  }
}

/** OTLP, by the exporter of the SDK with its own repetitions; what it gives up is exported again. */
export class MetricSender implements NumberedSender {
  readonly devices = 3
  readonly acknowledged = new Set<number>()
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async run(signal: AbortSignal): Promise<void> {
    const meters = Array.from({ length: this.devices }, (_, device) => this.#meter(device))
    for (let number = 0; !signal.aborted; number++) {
      const meter = meters[number % this.devices] as (typeof meters)[number]
      meter.gauge.record(number)
      while (!(await meter.exported())) await sleep(20)
      this.acknowledged.add(number)
      await sleep(5)
    }
  }

  #meter(device: number) {
    const authorization = `Basic ${Buffer.from(`${adminKey}:${adminSecret}`).toString('base64')}`
    const exporter: PushMetricExporter = new OTLPMetricExporter({
      url: this.#url,
      headers: { authorization },
      timeoutMillis: 5_000,
    })
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: lifeMs })
    const resource = resourceFromAttributes({ host: `metric ${device}` })
    const gauge = new MeterProvider({ resource, readers: [reader] })
      .getMeter('numbers')
      .createGauge('n')
    let collected: Awaited<ReturnType<typeof reader.collect>> | undefined
    return {
      gauge,
      /** Exports the same data, with the same times, until that is done. */
      async exported(): Promise<boolean> {
        collected ??= await reader.collect()
        const { resourceMetrics } = collected
        const code = await new Promise((resolve) =>
          exporter.export(resourceMetrics, (result) => resolve(result.code)),
        )
        if (code !== ExportResultCode.SUCCESS) return false
        collected = undefined
        return true
      },
    }
  }
}
