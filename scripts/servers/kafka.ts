import { type ChildProcess, execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DevelopmentServer, hasProgram, runningAt } from './development-server.ts'
import { freePort } from './free-port.ts'
import { fetchKafkaJars, kafkaFolder } from './kafka-jars.ts'
import { runServer } from './run-server.ts'

/** The id of all clusters of tests: they never meet. */
const clusterId = 'c3RyZWFtdmF1bHQtdGVzdA'

/** Small, and the same code sooner. */
const javaOptions = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']

export interface KafkaOptions {
  readonly folder: string
  /** Where clients connect without TLS and without credentials. */
  readonly port: number
  /** Where the server speaks with itself. */
  readonly controllerPort: number
  /** Further listeners as `NAME://127.0.0.1:port`, by their security protocol. */
  readonly listeners?: Readonly<Record<string, string>>
  /** Where clients of a listener are sent to, as `host:port`, where that is not its address. */
  readonly advertised?: Readonly<Record<string, string>>
  /** Lines of server.properties. */
  readonly settings?: readonly string[]
  /** Users of SCRAM, with their passwords. */
  readonly users?: Readonly<Record<string, string>>
  /** Whether it goes on when this process ends. */
  readonly outlives?: boolean
}

function propertiesOf(options: KafkaOptions): readonly string[] {
  const { folder, port, controllerPort, listeners = {}, advertised = {}, settings = [] } = options
  const clients = [`PLAINTEXT://127.0.0.1:${port}`, ...Object.values(listeners)]
  const known = clients.map((url) => {
    const [name = ''] = url.split(':')
    return advertised[name] === undefined ? url : `${name}://${advertised[name]}`
  })
  const names = Object.entries(listeners).map(([protocol, url]) => [url.split(':')[0], protocol])
  const protocols = [['CONTROLLER', 'PLAINTEXT'], ['PLAINTEXT', 'PLAINTEXT'], ...names]
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
    `listeners=${[...clients, `CONTROLLER://127.0.0.1:${controllerPort}`].join(',')}`,
    `advertised.listeners=${known.join(',')}`,
    `listener.security.protocol.map=${protocols.map((pair) => pair.join(':')).join(',')}`,
    'controller.listener.names=CONTROLLER',
    'inter.broker.listener.name=PLAINTEXT',
    `log.dirs=${join(folder, 'data')}`,
    'auto.create.topics.enable=false',
    'num.partitions=1',
    'offsets.topic.num.partitions=1',
    'offsets.topic.replication.factor=1',
    'transaction.state.log.num.partitions=1',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'share.coordinator.state.topic.replication.factor=1',
    'share.coordinator.state.topic.min.isr=1',
    'group.initial.rebalance.delay.ms=0',
    'num.network.threads=2',
    'num.io.threads=2',
    'log.cleaner.dedupe.buffer.size=2097152',
    'log.cleaner.backoff.ms=200',
    'log.retention.check.interval.ms=500',
    ...settings,
  ]
}

/**
 * Starts Kafka at 127.0.0.1, with what it had stored in the folder, and resolves when it answers.
 *
 * @throws Error when it ends before, or takes too long
 */
export async function startKafka(options: KafkaOptions): Promise<ChildProcess> {
  const { folder, port, users = {}, outlives = false } = options
  mkdirSync(folder, { recursive: true })
  const properties = join(folder, 'server.properties')
  writeFileSync(properties, `${propertiesOf(options).join('\n')}\n`)
  if (!existsSync(join(folder, 'data'))) await format(properties, users)
  return await runServer({
    name: 'Kafka',
    command: ['java', ...javaOptions, ...program('kafka.Kafka'), properties],
    folder,
    outlives,
    isReady: async () => await answers(port),
  })
}

async function format(properties: string, users: Readonly<Record<string, string>>): Promise<void> {
  const scrams = Object.entries(users).flatMap(([name, password]) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  )
  const args = ['format', '--cluster-id', clusterId, '--config', properties, ...scrams]
  const tool = program('kafka.tools.StorageTool')
  await promisify(execFile)('java', [...javaOptions, ...tool, ...args])
}

function program(name: string): readonly string[] {
  return ['-cp', join(kafkaFolder, '*'), name]
}

/** Kafka opens its listeners when it is ready for clients. */
async function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: '127.0.0.1', port }, () => resolve(true))
  socket.once('error', () => resolve(false))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

export const kafka: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_KAFKA_URL',
  missing: () =>
    hasProgram('java') && hasProgram('mvn') ? undefined : 'Kafka needs java (17 or later) and mvn',
  start: async (folder, port) => {
    await fetchKafkaJars()
    const controllerPort = await freePort()
    const child = await startKafka({ folder, port, controllerPort, outlives: true })
    return runningAt(`kafka://127.0.0.1:${port}`, child)
  },
  fetch: async () => {
    if (hasProgram('java')) await fetchKafkaJars()
  },
}
