/**
 * `npm run demo`: the service with a fleet of simulated devices, and an alert that arrives at a receiver. Keeps its data
 * in a temporary folder that is removed at the end, unless STREAMVAULT_DATA_DIR names one. Arguments are those of
 * `streamvault simulate`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { UsageError } from '../src/cli/command.ts'
import { optionLines } from '../src/cli/help.ts'
import { parseInput } from '../src/cli/parse-input.ts'
import { simulate } from '../src/cli/simulate.ts'
import { onStopSignals } from '../src/cli/stop-signals.ts'
import { monotonicMs } from '../src/core/clock.ts'
import { messageOf } from '../src/core/errors.ts'
import { AlertReceiver } from './demo/alert-receiver.ts'
import { freePort } from './servers/free-port.ts'

const program = join(import.meta.dirname, '..', 'bin', 'streamvault.js')

/** Time for devices, and for the service, to end by themselves: what the service may need, and a little more. */
const patienceMs = { devices: 5_000, service: 10_000 } as const

/** A first reading is stored within this time of the start of the devices. */
const readingMsMax = 60_000
const pollMs = 500

if (existsSync('.env')) process.loadEnvFile('.env')

/** Where others listen already, the demo takes another port. */
const portsDefault = { STREAMVAULT_HTTP_PORT: 8080, STREAMVAULT_MQTT_PORT: 1883 } as const

interface Listening {
  readonly msg: string
  readonly http: string
  readonly mqtt: string
}

type Stdio = ('pipe' | 'inherit' | 'ignore')[]

/** Where the demo keeps its data, and the settings of all that it starts. */
interface Place {
  readonly folder: string
  readonly isTemporary: boolean
  readonly settings: Readonly<Record<string, string | undefined>>
}

async function prepare(destination: string): Promise<Place> {
  const { STREAMVAULT_DATA_DIR: given, STREAMVAULT_EGRESS_ALLOW: allowed } = process.env
  const folder = resolve(given ?? mkdtempSync(join(tmpdir(), 'streamvault-demo-')))
  const ports = await Promise.all(
    Object.entries(portsDefault).map(async ([name, port]) => [
      name,
      process.env[name] ?? String((await isFree(port)) ? port : await freePort()),
    ]),
  )
  return {
    folder,
    isTemporary: given === undefined,
    settings: {
      ...process.env,
      ...(Object.fromEntries(ports) as Record<string, string>),
      STREAMVAULT_DATA_DIR: folder,
      // The receiver is on this machine.
      STREAMVAULT_EGRESS_ALLOW: [allowed, destination].filter(Boolean).join(','),
    },
  }
}

/** Whether a server could listen there now. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const host = process.env['STREAMVAULT_HOST'] ?? '127.0.0.1'
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  )
  server.listen(port, host)
  const succeeds = await listening
  if (succeeds) {
    server.close()
    await once(server, 'close')
  }
  return succeeds
}

function start({ settings }: Place, words: readonly string[], stdio: Stdio): ChildProcess {
  // A group of its own: Ctrl-C reaches us alone, and we end the others one after the other.
  return spawn(process.execPath, [program, ...words], { env: settings, stdio, detached: true })
}

/** What a command prints. @throws Error with what it complains of */
async function outputOf<Output>(place: Place, words: readonly string[]): Promise<Output> {
  const child = start(place, [...words, '--json'], ['ignore', 'pipe', 'pipe'])
  const [printed, complaint] = [textOf(child.stdout), textOf(child.stderr)]
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${words.slice(0, 2).join(' ')}: ${await complaint}`)
  return JSON.parse(await printed) as Output
}

async function textOf(output: Readable | null): Promise<string> {
  let text = ''
  for await (const chunk of output ?? []) text += String(chunk)
  return text
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

interface Fleet {
  readonly vaultId: string
  readonly streamIds: readonly string[]
}

function introduction({ folder }: Place, { http, mqtt }: Listening, fleet: Fleet): string {
  const { streamIds } = fleet
  const [streamId = ''] = streamIds
  const key = adminKey(folder)
  const curl = `curl -s -H 'x-api-key: ${key.apiKey}' -H 'x-api-secret: ${key.apiSecret}'`
  return [
    '',
    `The service runs at ${http}, its data is in ${folder}.`,
    `The console is at ${http}/ - sign in with the key ${key.apiKey}`,
    `and the secret ${key.apiSecret}`,
    '',
    `${streamIds.length} devices publish over MQTT. Look at them:`,
    '',
    '  # readings as they arrive',
    `  ${curl} -N '${http}/streams/${streamId}/tail?last=3'`,
    '  # the same over MQTT, as a device or a program receives them',
    `  ${subscription(mqtt, key)} -v -t 'streams/${streamId}/data'`,
    '  # the same, by the command line',
    `  STREAMVAULT_DATA_DIR=${folder} npx streamvault tail ${streamId}`,
    '  # what is stored, and where each reading is counted',
    `  ${curl} '${http}/streams/${streamId}/data?limit=5'`,
    `  ${curl} '${http}/streams/${streamId}/status'`,
    '  # what was refused, and why',
    `  ${curl} '${http}/streams/${streamId}/quarantine?limit=3'`,
    '',
    `  ${http}/docs      the API`,
    `  ${http}/metrics   the metrics`,
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
function adminKey(folder: string): ApiKeyPair {
  const { STREAMVAULT_ADMIN_KEY: apiKey, STREAMVAULT_ADMIN_SECRET: apiSecret } = process.env
  if (apiKey && apiSecret) return { apiKey, apiSecret }
  return JSON.parse(readFileSync(join(folder, 'admin.json'), 'utf8')) as ApiKeyPair
}

async function run(words: readonly string[]): Promise<void> {
  const wish = new AbortController()
  const stopping = once(wish.signal, 'abort')
  const stop = () => wish.abort()
  // A user who asks again waits for the same.
  onStopSignals({ stop, atOnce: stop })
  const beganMs = monotonicMs()
  await using receiver = await AlertReceiver.start(print)
  const place = await prepare(receiver.destination)
  const service = start(place, ['serve', '--json'], ['ignore', 'pipe', 'inherit'])
  const demo: Demo = { place, receiver, words, service }
  try {
    await Promise.race([stopping, show(demo, wish.signal)])
  } catch (error) {
    // Ctrl-C at a terminal is for the service as well: its end may be seen in the same turn as the signal, and first.
    await nextTurn()
    if (!wish.signal.aborted) throw error
  } finally {
    if (demo.devices) await end(demo.devices, patienceMs.devices)
    await end(service, patienceMs.service)
    if (place.isTemporary) rmSync(place.folder, { recursive: true, force: true })
  }
  print(await summary(demo, monotonicMs() - beganMs))
}

interface Demo {
  readonly place: Place
  readonly receiver: AlertReceiver
  readonly words: readonly string[]
  readonly service: ChildProcess
  devices?: ChildProcess
  /** What the devices print at their end. */
  sent?: Promise<string>
}

/** Starts the devices, and says what there is to see. Resolves when something has ended. */
async function show(demo: Demo, stopped: AbortSignal): Promise<void> {
  const { place, service, words } = demo
  const output = service.stdout as Readable
  const listening = await lineOf<Listening>(output, ({ msg }) => msg === 'listening')
  output.resume()
  // No one would end devices that are started now.
  if (stopped.aborted) return
  demo.devices = start(place, ['simulate', '--json', ...words], ['ignore', 'pipe', 'pipe'])
  demo.sent = textOf(demo.devices.stdout)
  const errors = demo.devices.stderr as Readable
  const fleet = await lineOf<Fleet>(errors, (line) => {
    if ('error' in line) throw new Error(JSON.stringify(line))
    return 'streamIds' in line
  })
  errors.resume()
  print(introduction(place, listening, fleet))
  const ended = Promise.race([once(demo.devices, 'exit'), once(service, 'exit')])
  await Promise.race([ended, letAlertsArrive(demo, fleet, stopped).then(() => ended)])
}

/** Makes a rule that the devices break at once, and a webhook that leads to the receiver. */
async function letAlertsArrive(
  { place, receiver }: Demo,
  { vaultId, streamIds }: Fleet,
  stopped: AbortSignal,
): Promise<void> {
  const newest = await firstTemperature(place, streamIds[0] ?? '', stopped)
  if (newest === undefined || stopped.aborted) return
  const url = `http://${receiver.destination}/`
  const events = ['--events', 'stream.alert_triggered', '--vaults', vaultId]
  const hook = await outputOf<{ secret: string }>(place, ['webhooks', 'create', url, ...events])
  receiver.secret = hook.secret
  if (stopped.aborted) return
  const limit = (newest - 1).toFixed(1)
  const rule = ['rules', 'create', '--name', 'warm device', '--vault', vaultId]
  print(
    `The rule "temperature above ${limit}" notifies a receiver of the demo, at ${url}, by a webhook:\n`,
  )
  await outputOf(place, [...rule, '--field', 'temperature', '--above', limit])
}

/** The newest temperature that is stored of a device; undefined when none comes in time. */
async function firstTemperature(
  place: Place,
  streamId: string,
  stopped: AbortSignal,
): Promise<number | undefined> {
  const words = ['readings', 'list', streamId, '--order', 'desc', '--limit', '1']
  for (const untilMs = monotonicMs() + readingMsMax; monotonicMs() < untilMs; ) {
    if (stopped.aborted) return undefined
    const [newest] = await outputOf<{ temperature?: number }[]>(place, words)
    if (newest?.temperature !== undefined) return newest.temperature
    await sleep(pollMs, undefined, { signal: stopped }).catch(() => undefined)
  }
  return undefined
}

/** What there was, in one line. */
async function summary({ receiver, sent }: Demo, ms: number): Promise<string> {
  const { arrived, refused } = receiver
  const printed = (await sent) ?? ''
  const counted =
    printed === '' ? undefined : (JSON.parse(printed) as { sent: number; acknowledged: number })
  const readings =
    counted === undefined
      ? 'no readings were sent'
      : `${counted.sent} readings were sent and ${counted.acknowledged} acknowledged`
  const forged = refused === 0 ? '' : `, and ${refused} without a valid signature were refused`
  return `The demo ran for ${Math.round(ms / 1_000)} s: ${readings}; ${arrived} alerts arrived${forged}.`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function help(): string {
  const options = simulate.options.filter(({ name }) => demoOptions.includes(name))
  return [
    'Usage: npm run demo -- [OPTIONS]',
    '',
    'Runs the service with simulated devices, and shows an alert that arrives at a receiver.',
    'Data is in a temporary folder, which is removed at the end, unless STREAMVAULT_DATA_DIR names one.',
    'Where a port is in use, and no setting names one, the demo takes another. Ctrl-C ends it, with a summary.',
    '',
    ...optionLines([...options, { name: 'help', summary: 'Print this help.' }]),
  ].join('\n')
}

const demoOptions = ['devices', 'rate', 'seconds', 'faults']

try {
  const words = process.argv.slice(2)
  if (words.includes('--help')) print(help())
  else {
    const options = simulate.options.filter(({ name }) => demoOptions.includes(name))
    parseInput({ ...simulate, options }, words)
    await run(words)
  }
} catch (error) {
  const isUsage = error instanceof UsageError
  process.stderr.write(`the demo cannot ${isUsage ? 'start' : 'go on'}: ${messageOf(error)}\n`)
  process.exitCode = isUsage ? 2 : 1
}
