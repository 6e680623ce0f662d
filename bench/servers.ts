import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../scripts/servers/free-port.ts'
import { readOwner } from '../src/config/folder-owner.ts'
import { ApiClient } from '../test/support/api-client.ts'
import {
  adminKey,
  adminSecret,
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../test/support/service-process.ts'

/** A server that is measured: where to send, and how to end it. */
export interface MqttTarget {
  readonly port: number
  /** Path of the certificate, when the port speaks TLS. */
  readonly ca?: string
  readonly topics: readonly string[]
  readonly username?: string
  readonly password?: string
}

export interface StreamvaultTarget extends MqttTarget {
  readonly http: string
  readonly pid: number
  readonly streamIds: readonly string[]
  readonly api: ApiClient
  metrics(): Promise<ReadonlyMap<string, number>>
  stop(): Promise<void>
}

export interface StoppableTarget extends MqttTarget {
  stop(): Promise<void>
}

/** The fields of the readings that the load generators send. */
export const readingSchema = {
  temperature: { type: 'number', range: [-50, 150] },
  humidity: { type: 'number' },
  pressure: { type: 'number' },
  status: { type: 'string' },
  sequence: { type: 'integer' },
}

/** Starts the service as `npm start` does, in an empty folder, with this many streams. */
export async function startStreamvault(
  streams: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<StreamvaultTarget> {
  const dataDir = newDataDir()
  const service = await startServiceProcess(dataDir, {
    // As in production: the tests look at every answer a second time.
    STREAMVAULT_CHECK_ANSWERS: 'off',
    ...environment,
  })
  const api = new ApiClient(service.http)
  const streamIds: string[] = []
  for (let index = 0; index < streams; index++) {
    streamIds.push(await api.createStream(readingSchema))
  }
  return {
    port: service.mqttPort,
    topics: streamIds.map((id) => `streams/${id}/data`),
    username: adminKey,
    password: adminSecret,
    http: service.http,
    pid: readOwner(dataDir)?.pid ?? 0,
    streamIds,
    api,
    metrics: () => readMetrics(service.http),
    async stop() {
      await service.end('SIGTERM')
      rmSync(dataDir, { recursive: true })
    },
  }
}

/** All figures of a service by name, without its prefix. */
export async function readMetrics(http: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${http}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith('streamvault_'))
  return new Map(
    lines.map((line) => {
      const [name = '', value = ''] = line.split(' ')
      return [name.replace('streamvault_', ''), Number(value)]
    }),
  )
}

/**
 * Starts mosquitto without persistence: it acknowledges from memory.
 *
 * @param settings more lines of its configuration
 */
export async function startMosquitto(
  topics: readonly string[],
  settings: readonly string[] = [],
): Promise<StoppableTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'streamvault-bench-'))
  const port = await freePort()
  const config = join(folder, 'mosquitto.conf')
  const lines = [
    ...settings,
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence false',
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  const child = spawn('mosquitto', ['-c', config], { stdio: 'ignore' })
  await once(child, 'spawn')
  await reachable(port)
  return {
    port,
    topics,
    async stop() {
      await end(child)
      rmSync(folder, { recursive: true })
    },
  }
}

async function reachable(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isOpen) return
    await sleep(20)
  }
  throw new Error(`nothing listens on port ${port}`)
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Runs a load generator as a process of its own and returns what it measured. */
export async function runGenerator<Result>(
  program: 'mqtt-load' | 'http-load' | 'line-load',
  flags: readonly string[],
): Promise<Result> {
  const child = spawn(process.execPath, [`bench/${program}.ts`, '--json', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${program} ended with ${code}`)
  return JSON.parse(printed) as Result
}

/** Command-line flags of a generator. */
export function flagsOf(values: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)])
}

/** A service and streams of it, for the load generators. */
export function mqttTargetOf(service: ServiceProcess, streamIds: readonly string[]): MqttTarget {
  const topics = streamIds.map((id) => `streams/${id}/data`)
  return { port: service.mqttPort, topics, username: adminKey, password: adminSecret }
}

export function mqttFlags({ port, ca, username, password, topics }: MqttTarget): string[] {
  const flags = flagsOf({
    host: '127.0.0.1',
    port,
    ...(ca !== undefined && { ca }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  })
  return [...flags, ...topics.flatMap((topic) => ['--topic', topic])]
}

/** Name of the processor, cores and memory, as the kernel tells. */
export function machine(): string {
  const cpu = /model name\s*:\s*(.*)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]
  return cpu ?? 'unknown processor'
}
