import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { installedProgram } from '../scripts/servers/installed-program.ts'
import { runServer } from '../scripts/servers/run-server.ts'
import { TestServer } from '../test/support/test-server.ts'

/**
 * Publishes that a consumer may hold before QuestDB has them, and that mosquitto has under way to it: two
 * batches, so that one comes in while the other is written, and fewer than the identifiers that a packet can have.
 */
export const underWayMax = 20_000

export function telegrafProgram(): string | undefined {
  return installedProgram('telegraf')
}

/** Where it reads and where it writes, on this machine. */
export interface TelegrafRoute {
  readonly mqttPort: number
  readonly topics: readonly string[]
  readonly questDbPort: number
  /** Each has a connection and a parser of its own, and its share of the topics. */
  readonly consumers: number
}

/** A Telegraf that moves readings from a broker to QuestDB, and acknowledges those that QuestDB has taken. */
export class Telegraf extends TestServer {
  readonly #route: TelegrafRoute

  /** Resolves when it is connected, in sessions that the broker knew before: nothing is missed. */
  static async start(route: TelegrafRoute): Promise<Telegraf> {
    const telegraf = new Telegraf(route)
    for (const share of sharesOf(route)) await openSession(route.mqttPort, share)
    await telegraf.start()
    return telegraf
  }

  private constructor(route: TelegrafRoute) {
    super()
    this.#route = route
  }

  protected override async launch(folder: string): Promise<ChildProcess> {
    const config = join(folder, 'telegraf.conf')
    writeFileSync(config, configOf(this.#route))
    return await runServer({
      name: 'Telegraf',
      command: [telegrafProgram() ?? 'telegraf', '--config', config],
      // It collects garbage less often than with Go's usual 100, for 50 MB more of memory.
      environment: { GOGC: '400' },
      folder,
      outlives: false,
      isReady: async () =>
        readFileSync(join(folder, 'log'), 'utf8').split('Connected [').length >
        this.#route.consumers,
    })
  }
}

/** What one consumer takes. */
interface Share {
  readonly clientId: string
  readonly topics: readonly string[]
}

function sharesOf({ topics, consumers }: TelegrafRoute): readonly Share[] {
  return Array.from({ length: consumers }, (_, consumer) => ({
    clientId: `telegraf-${consumer}`,
    topics: topics.filter((_topic, at) => at % consumers === consumer),
  }))
}

/** Subscribes in its name: a session that is there is taken over as it is. */
async function openSession(port: number, { clientId, topics }: Share): Promise<void> {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, {
    clientId,
    clean: false,
    protocolVersion: 4,
  })
  await client.subscribeAsync([...topics], { qos: 1 })
  await client.endAsync()
}

/**
 * The fastest of what was tried on two cores, but for the number of consumers. Batches of 1,000, which is the default, are slower, and
 * so are writes side by side, after which acknowledgements are out of order. The socket of QuestDB is no faster than HTTP, and has
 * no answers. The parser `json` is about as fast, and makes every number one with a point.
 */
function configOf(route: TelegrafRoute): string {
  return `
[agent]
  flush_interval = "200ms"
  metric_batch_size = 10000
  metric_buffer_limit = 200000
  precision = "1us"
  omit_hostname = true
${sharesOf(route)
  .map((share) => consumerLines(route.mqttPort, share))
  .join('')}
[[outputs.influxdb_v2]]
  urls = ["http://127.0.0.1:${route.questDbPort}"]
  content_encoding = "identity"
  timeout = "30s"
`
}

function consumerLines(port: number, { clientId, topics }: Share): string {
  return `
[[inputs.mqtt_consumer]]
  servers = ["tcp://127.0.0.1:${port}"]
  topics = ${JSON.stringify(topics)}
  qos = 1
  client_id = "${clientId}"
  persistent_session = true
  max_undelivered_messages = ${underWayMax}
  name_override = "readings"
  topic_tag = "stream"
  data_format = "json_v2"
  [[inputs.mqtt_consumer.json_v2]]
    timestamp_path = "timestamp"
    timestamp_format = "2006-01-02T15:04:05.999999Z07:00"
${fields.map(fieldLines).join('\n')}
`
}

const fields = [
  ['temperature', 'float'],
  ['humidity', 'float'],
  ['pressure', 'float'],
  ['status', 'string'],
  ['sequence', 'int'],
] as const

function fieldLines([name, type]: (typeof fields)[number]): string {
  return `    [[inputs.mqtt_consumer.json_v2.field]]
      path = "${name}"
      type = "${type}"`
}
