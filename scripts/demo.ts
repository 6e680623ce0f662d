/**
 * `npm run demo`: the service with a fleet of simulated devices, to look at. Keeps its data in a
 * temporary folder that is removed at the end, unless STREAMVAULT_DATA_DIR names one. Arguments are
 * those of `streamvault simulate`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { onStopSignals } from '../src/cli/stop-signals.ts'

const program = join(import.meta.dirname, '..', 'bin', 'streamvault.js')

/** Time for devices, and for the service, to end by themselves: what the service may need, and a little more. */
const patienceMs = { devices: 5_000, service: 10_000 } as const

const givenFolder = process.env['STREAMVAULT_DATA_DIR']
const folder = resolve(givenFolder ?? mkdtempSync(join(tmpdir(), 'streamvault-demo-')))

interface Listening {
  readonly msg: string
  readonly http: string
  readonly mqtt: string
}

function start(words: readonly string[], stdio: ('pipe' | 'inherit' | 'ignore')[]): ChildProcess {
  // A group of its own: Ctrl-C reaches us alone, and we end the others one after the other.
  return spawn(process.execPath, [program, ...words], {
    env: { ...process.env, STREAMVAULT_DATA_DIR: folder },
    stdio,
    detached: true,
  })
}

/** The first line of an output that is JSON and fits. */
async function lineOf<Line>(output: Readable, fits: (line: Line) => boolean): Promise<Line> {
  for await (const text of createInterface({ input: output })) {
    if (!text.startsWith('{')) throw new Error(text)
    const line = JSON.parse(text) as Line
    if (fits(line)) return line
  }
  throw new Error('it has ended')
}

async function end(child: ChildProcess, ms: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const isLate = await Promise.race([ended.then(() => false), sleep(ms, true, { ref: false })])
  // Nothing of it stays behind: its ports and its folder are to be free.
  if (isLate) child.kill('SIGKILL')
  await ended
}

function introduction({ http, mqtt }: Listening, streamIds: readonly string[]): string {
  const [streamId = ''] = streamIds
  const key = adminKey()
  const curl = `curl -s -H 'x-api-key: ${key.apiKey}' -H 'x-api-secret: ${key.apiSecret}'`
  return [
    '',
    `The service runs at ${http}, its data is in ${folder}.`,
    `${streamIds.length} devices publish over MQTT. Look at them:`,
    '',
    '  # readings as they arrive',
    `  ${curl} -N '${http}/streams/${streamId}/tail?last=3'`,
    '  # the same over MQTT, as a device or a program would get them',
    `  ${subscription(mqtt, key)} -v -t 'streams/${streamId}/data'`,
    '  # the same, by the command line',
    `  STREAMVAULT_DATA_DIR=${folder} npx streamvault tail ${streamId}`,
    '  # what is stored, and what became of everything',
    `  ${curl} '${http}/streams/${streamId}/data?limit=5'`,
    `  ${curl} '${http}/streams/${streamId}/status'`,
    '  # what was refused, and why',
    `  ${curl} '${http}/streams/${streamId}/quarantine?limit=3'`,
    '',
    `  ${http}/docs      the interface`,
    `  ${http}/metrics   figures`,
    '',
    'Ctrl-C ends the demo.',
    '',
  ].join('\n')
}

function subscription(mqtt: string, { apiKey, apiSecret }: ApiKeyPair): string {
  const { hostname, port } = new URL(mqtt)
  return `mosquitto_sub -h ${hostname} -p ${port} -u '${apiKey}' -P '${apiSecret}'`
}

interface ApiKeyPair {
  readonly apiKey: string
  readonly apiSecret: string
}

/** What the service was given, or has made for itself. */
function adminKey(): ApiKeyPair {
  const { STREAMVAULT_ADMIN_KEY: apiKey, STREAMVAULT_ADMIN_SECRET: apiSecret } = process.env
  if (apiKey && apiSecret) return { apiKey, apiSecret }
  return JSON.parse(readFileSync(join(folder, 'admin.json'), 'utf8')) as ApiKeyPair
}

async function run(): Promise<void> {
  const wish = new AbortController()
  const stopping = once(wish.signal, 'abort')
  const stop = () => wish.abort()
  // Somebody who says it again waits for the same.
  onStopSignals({ stop, atOnce: stop })
  const children: Children = { service: start(['serve', '--json'], ['ignore', 'pipe', 'inherit']) }
  try {
    await Promise.race([stopping, show(children, wish.signal)])
  } catch (error) {
    // Ctrl-C at a terminal is for the service as well: its end may be seen in the same turn as the signal, and first.
    await nextTurn()
    if (!wish.signal.aborted) throw error
  } finally {
    if (children.devices) await end(children.devices, patienceMs.devices)
    await end(children.service, patienceMs.service)
    if (givenFolder === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

interface Children {
  readonly service: ChildProcess
  devices?: ChildProcess
}

/** Starts the devices, and says what there is to see. Resolves when something has ended. */
async function show(children: Children, stopped: AbortSignal): Promise<void> {
  const output = children.service.stdout as Readable
  const listening = await lineOf<Listening>(output, ({ msg }) => msg === 'listening')
  output.resume()
  // Nobody would end devices that are started now.
  if (stopped.aborted) return
  const words = ['simulate', '--json', ...process.argv.slice(2)]
  children.devices = start(words, ['ignore', 'ignore', 'pipe'])
  const errors = children.devices.stderr as Readable
  const { streamIds } = await lineOf<{ streamIds: readonly string[] }>(errors, (line) => {
    if ('error' in line) throw new Error(JSON.stringify(line))
    return 'streamIds' in line
  })
  process.stdout.write(introduction(listening, streamIds))
  await Promise.race([once(children.devices, 'exit'), once(children.service, 'exit')])
}

try {
  await run()
} catch (error) {
  process.stderr.write(`the demo cannot go on: ${String(error)}\n`)
  process.exitCode = 1
}
