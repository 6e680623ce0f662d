import { parseArgs } from 'node:util'
import { encodeRequest, HttpConnection } from './http-connection.ts'
import { numberFlag, runCommand } from './load-command.ts'
import { driveLoad } from './load-driver.ts'
import {
  type LoadResult,
  type LoadTiming,
  Measurement,
  type PayloadOptions,
} from './load-measurement.ts'
import { seriesFor } from './reading-series.ts'

const TICK_MS = 20

export type HttpLoadOptions = LoadTiming & {
  host: string
  port: number
  /** Sent as `Authorization: Bearer`. */
  token: string
  /** Connection i posts to streamIds[i % length]. */
  streamIds: readonly string[]
  /** 50 when left out. */
  connections?: number | undefined
  /** Readings per request, 1 when left out: a single object; more are sent as an array. */
  batch?: number | undefined
  /** Requests kept outstanding per connection; 1 when left out. */
  pipelining?: number | undefined
  payload?: PayloadOptions | undefined
}

/**
 * The counters of messages count readings, so that they compare with MQTT's; a reading is
 * acknowledged by a 2xx status. The latency is that of such a request.
 */
export type HttpLoadResult = LoadResult & {
  /** Requests answered with a 2xx status inside the measured window, per second of it. */
  requestsPerSecond: number
  /** Repeats `perSecond`. */
  readingsPerSecond: number
  /** How often each status answered a measured request. */
  statusCounts: Record<string, number>
}

/**
 * Posts readings over keep-alive connections in a closed loop. Rejects when a connection cannot
 * be made; one lost later is an error in the result. Settles within warm-up + seconds + 5 s.
 */
async function runHttpLoad(options: HttpLoadOptions): Promise<HttpLoadResult> {
  const { host, port, streamIds, connections: count = 50, batch = 1, pipelining = 1 } = options
  if (streamIds.length === 0) throw new Error('at least one stream id is needed')
  if (batch < 1 || pipelining < 1) throw new Error('batch and pipelining must be 1 or more')
  const measurement = new Measurement()
  const statusCounts: Record<string, number> = {}
  const onStatus = (status: number) => {
    statusCounts[status] = (statusCounts[status] ?? 0) + 1
  }
  const connections = seriesFor(count, streamIds.length).map((readings, index) => {
    const request = encodeRequest(options, streamIds[index % streamIds.length] ?? '', batch)
    const address = { host, port }
    return new HttpConnection({ address, request, readings, pipelining, onStatus }, measurement)
  })
  const run = { timing: options, payload: options.payload, tickMs: TICK_MS }
  const result = measurement.result(await driveLoad(connections, measurement, run))
  return {
    ...result,
    requestsPerSecond: result.perSecond / batch,
    readingsPerSecond: result.perSecond,
    statusCounts,
  }
}

const USAGE = `node bench/http-load.ts --port 3000 --token T --stream ID [--stream ID2 ...]
  [--host 127.0.0.1] [--connections 50] [--batch 1] [--pipelining 1]
  [--seconds 5] [--warmup 1] [--start-us MICROSECONDS] [--json]`

function optionsFromArguments(): { options: HttpLoadOptions; json: boolean } {
  const { values } = parseArgs({
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '3000' },
      token: { type: 'string', default: '' },
      stream: { type: 'string', multiple: true, default: [] },
      connections: { type: 'string' },
      batch: { type: 'string' },
      pipelining: { type: 'string' },
      seconds: { type: 'string' },
      warmup: { type: 'string' },
      'start-us': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const startUs = numberFlag('start-us', values['start-us'])
  const options = {
    host: values.host,
    port: numberFlag('port', values.port) ?? 3000,
    token: values.token,
    streamIds: values.stream,
    connections: numberFlag('connections', values.connections),
    batch: numberFlag('batch', values.batch),
    pipelining: numberFlag('pipelining', values.pipelining),
    seconds: numberFlag('seconds', values.seconds) ?? 5,
    warmupSeconds: numberFlag('warmup', values.warmup) ?? 1,
    payload: startUs === undefined ? undefined : { startUs },
  }
  return { options, json: values.json }
}

if (import.meta.main) {
  await runCommand(USAGE, async () => {
    const { options, json } = optionsFromArguments()
    return { result: await runHttpLoad(options), json }
  })
}
