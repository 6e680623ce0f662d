import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../scripts/servers/free-port.ts'

/** The bootstrap key that test services are started with. */
export const adminKey = 'sv_test_admin'
export const adminSecret = 'a-secret-of-more-than-32-characters-for-tests'

/** What `npm start` does behind `exec env`, with the Node that runs this: `env` becomes it, and keeps the process id. */
function startWords(script: StartScript): readonly string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly scripts: Readonly<Record<StartScript, string>>
  }
  return scripts[script]
    .split(' ')
    .slice(2)
    .map((word) => (word === 'node' ? process.execPath : word))
}

/** How the service is started: its sources, or what was compiled of them. */
type StartScript = 'start' | 'start:release'

const startTimeoutMs = 90_000

/** A service that was started and may not be listening yet, or never will. */
export interface LaunchedProcess {
  /** Everything it has printed so far. */
  readonly output: () => string
  /** Its exit code, once it has ended: null when a signal ended it. */
  readonly exited: Promise<number | null>
  /** Resolves when it listens. @throws Error when it ends before */
  readonly listening: () => Promise<ServiceProcess>
  /** Sends it a signal, and waits for nothing. */
  readonly signal: (signal: NodeJS.Signals) => void
}

export interface ServiceProcess {
  readonly http: string
  /** 0 when MQTT is off. */
  readonly mqttPort: number
  readonly dataDir: string
  /** Everything it has printed so far. */
  readonly output: () => string
  /** Ends it with a signal and resolves with its exit code (null after a SIGKILL). */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** A new empty folder for a service's data. */
export function newDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'streamvault-test-'))
}

/** Starts the service as a user would, as a process of its own, and waits for `listening`. */
export async function startServiceProcess(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  return await (await launchServiceProcess(dataDir, environment)).listening()
}

/**
 * Starts the service and does not wait for it. An empty setting counts as none.
 *
 * @param project the folder of a copy of the service; without it, it is that of the tests
 */
export async function launchServiceProcess(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
  project = '.',
  script: StartScript = 'start',
): Promise<LaunchedProcess> {
  const child = spawn('env', startWords(script), {
    cwd: project,
    env: {
      ...process.env,
      STREAMVAULT_DATA_DIR: dataDir,
      STREAMVAULT_HTTP_PORT: '0',
      STREAMVAULT_MQTT_PORT: String(await freePort()),
      STREAMVAULT_CHECK_ANSWERS: 'on',
      // What is not about anchors finds resources as they were made, and no events but those that it asks for.
      STREAMVAULT_ANCHORING: 'off',
      STREAMVAULT_ADMIN_KEY: adminKey,
      STREAMVAULT_ADMIN_SECRET: adminSecret,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const exited = once(child, 'close').then(([code]) => code as number | null)
  return {
    output: () => printed,
    exited,
    signal: (signal) => void child.kill(signal),
    async listening() {
      const line = await listeningLine(child, () => printed)
      return {
        http: line.http,
        mqttPort: line.mqtt === 'off' ? 0 : Number(new URL(line.mqtt).port),
        dataDir,
        output: () => printed,
        async end(signal) {
          child.kill(signal)
          return await exited
        },
      }
    },
  }
}

interface ListeningLine {
  readonly http: string
  readonly mqtt: string
}

async function listeningLine(child: ChildProcess, printed: () => string): Promise<ListeningLine> {
  const deadline = AbortSignal.timeout(startTimeoutMs)
  for (;;) {
    const line = printed()
      .split('\n')
      .find((text) => text.includes('"msg":"listening"') && text.endsWith('}'))
    if (line !== undefined) return JSON.parse(line) as ListeningLine
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`the service ended at its start: ${printed()}`)
    }
    await Promise.race([
      once(child.stdout as NodeJS.ReadableStream & NodeJS.EventEmitter, 'data', {
        signal: deadline,
      }),
      once(child, 'exit', { signal: deadline }),
    ])
  }
}

/** Settings of a service whose links lead to it. */
export async function publicAddress(): Promise<Readonly<Record<string, string>>> {
  return { STREAMVAULT_HTTP_PORT: String(await freePort()) }
}
