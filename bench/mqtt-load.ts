import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { LatencyHistogram, type LatencySummary } from './latency-histogram.ts'
import { numberFlag, runCommand } from './load-command.ts'
import { driveLoad } from './load-driver.ts'
import {
  type LoadResult,
  type LoadTiming,
  Measurement,
  type PayloadOptions,
} from './load-measurement.ts'
import { MqttConnection, type Pace } from './mqtt-connection.ts'
import { encodeConnect, encodePublish } from './mqtt-packets.ts'
import { type Lateness, READING_TEMPLATE, seriesFor } from './reading-series.ts'
import { createTurnNap } from './turn-nap.ts'

const TICK_MS = 1
/**
 * With this many outstanding, the waiting in the server is milliseconds, and a nap of 0.1 ms per
 * turn is worth its inaccuracy: it halves this process's share of a small machine's processors.
 */
const NAP_FROM_OUTSTANDING = 200
const NAP_MS = 0.1

export type MqttLoadOptions = LoadTiming & {
  host: string
  port: number
  /** The certificate (PEM) of a server with TLS. */
  ca?: string | undefined
  username?: string | undefined
  password?: string | undefined
  /** 20 when left out. */
  connections?: number | undefined
  /** Publishes kept outstanding per connection in a closed loop; 20 when left out. */
  inFlight?: number | undefined
  /**
   * Connection i publishes to topics[i % length]; of more topics than connections each takes its
   * share in turns, and then all have to be of one length. A topic may be named several times.
   */
  topics: readonly string[]
  /** All connections together. When given, publishes are due on a schedule: an open loop. */
  ratePerSecond?: number | undefined
  payload?: PayloadOptions | undefined
  late?: Lateness | undefined
}

export type MqttLoadResult = LoadResult & {
  /**
   * Open loop only: how late after its due time the generator wrote each publish. This part of
   * the latency is the generator's own (its timer ticks once a millisecond), unless the server
   * holds back so many acknowledgements that no packet id was free.
   */
  sendLagUs: LatencySummary | undefined
}

/**
 * Publishes readings with QoS 1. An open loop measures every latency from the time the publish
 * was due, so that a stall of the server, or of this process, is not hidden. Rejects when the
 * server refuses a connection; a connection lost later is an error in the result. Settles within
 * warm-up + seconds + 5 s.
 */
async function runMqttLoad(options: MqttLoadOptions): Promise<MqttLoadResult> {
  const { host, port, ca, topics, ratePerSecond, connections: count = 20, inFlight = 20 } = options
  if (topics.length === 0) throw new Error('at least one topic is needed')
  if (ratePerSecond !== undefined && !(ratePerSecond > 0)) throw new Error('the rate must be > 0')
  const measurement = new Measurement()
  const naps = ratePerSecond === undefined && count * inFlight >= NAP_FROM_OUTSTANDING
  const onRead = naps ? createTurnNap(NAP_MS) : () => {}
  const sendLag = new LatencyHistogram()
  // Two runs at once must not share a client id: the server would drop the older connection.
  const runId = randomBytes(4).toString('hex')
  const isOpenLoop = ratePerSecond !== undefined
  const connections = seriesFor(count, new Set(topics).size, options.late).map(
    (readings, index) => {
      const publishes = topicsOf(index, count, topics).map((topic) =>
        encodePublish(topic, READING_TEMPLATE),
      )
      const connectPacket = encodeConnect(`load-${runId}-${index}`, options)
      const pace: Pace = isOpenLoop
        ? openPace(ratePerSecond, index, count)
        : { kind: 'closed', inFlight: Math.min(inFlight, 65_535) }
      const onSendLag = isOpenLoop ? (lagMs: number) => sendLag.record(lagMs * 1000) : () => {}
      const address = { host, port, ca }
      const wiring = { address, connectPacket, publishes, readings, pace, onRead, onSendLag }
      return new MqttConnection(wiring, measurement)
    },
  )
  const endedMs = await driveLoad(connections, measurement, {
    timing: options,
    payload: options.payload,
    tickMs: TICK_MS,
  })
  return {
    ...measurement.result(endedMs),
    sendLagUs: isOpenLoop ? sendLag.summary() : undefined,
  }
}

function topicsOf(connection: number, connections: number, topics: readonly string[]): string[] {
  if (topics.length <= connections) return [topics[connection % topics.length] ?? '']
  return topics.filter((_, index) => index % connections === connection)
}

/** The connections take turns, so that the publishes are spread evenly over each interval. */
function openPace(ratePerSecond: number, index: number, connections: number): Pace {
  const turnMs = 1000 / ratePerSecond
  return { kind: 'open', offsetMs: index * turnMs, intervalMs: connections * turnMs }
}

const USAGE = `node bench/mqtt-load.ts --port 1883 (--topic T [--topic T2 ...] | --topics FILE) [--host 127.0.0.1]
  [--ca FILE_FOR_TLS]  [--username U] [--password P] [--connections 20] [--in-flight 20]
  [--seconds 5] [--warmup 1] [--rate PER_SECOND] [--start-us MICROSECONDS]
  [--late-percent 5 --late-days 30] [--json]`

function optionsFromArguments(): { options: MqttLoadOptions; json: boolean } {
  const { values } = parseArgs({
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '1883' },
      ca: { type: 'string' },
      username: { type: 'string' },
      password: { type: 'string' },
      topic: { type: 'string', multiple: true, default: [] },
      topics: { type: 'string' },
      connections: { type: 'string' },
      'in-flight': { type: 'string' },
      seconds: { type: 'string' },
      warmup: { type: 'string' },
      rate: { type: 'string' },
      'start-us': { type: 'string' },
      'late-percent': { type: 'string' },
      'late-days': { type: 'string', default: '30' },
      json: { type: 'boolean', default: false },
    },
  })
  const startUs = numberFlag('start-us', values['start-us'])
  const latePercent = numberFlag('late-percent', values['late-percent'])
  const lateDays = numberFlag('late-days', values['late-days']) ?? 30
  const options = {
    host: values.host,
    port: numberFlag('port', values.port) ?? 1883,
    ca: values.ca === undefined ? undefined : readFileSync(values.ca, 'utf8'),
    username: values.username,
    password: values.password,
    topics:
      values.topics === undefined
        ? values.topic
        : readFileSync(values.topics, 'utf8').split('\n').filter(Boolean),
    connections: numberFlag('connections', values.connections),
    inFlight: numberFlag('in-flight', values['in-flight']),
    seconds: numberFlag('seconds', values.seconds) ?? 5,
    warmupSeconds: numberFlag('warmup', values.warmup) ?? 1,
    ratePerSecond: numberFlag('rate', values.rate),
    payload: startUs === undefined ? undefined : { startUs },
    late: latePercent
      ? { every: Math.round(100 / latePercent), upToUs: lateDays * 86_400_000_000 }
      : undefined,
  }
  return { options, json: values.json }
}

if (import.meta.main) {
  await runCommand(USAGE, async () => {
    const { options, json } = optionsFromArguments()
    return { result: await runMqttLoad(options), json }
  })
}
