import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../../scripts/servers/free-port.ts'
import { ApiClient } from '../support/api-client.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import {
  type LaunchedProcess,
  launchServiceProcess,
  newDataDir,
  type ServiceProcess,
} from '../support/service-process.ts'
import { StreamLedger } from './crash-ledger.ts'
import { HttpSender, LoadState, MqttDevice } from './crash-load.ts'

const devices = 3
/** A kill comes after at most so many acknowledged readings of one life. */
const acknowledgedPerLifeMax = 1_200
/** Readings that go on being sent while the kill is on its way. */
const budgetBeyondKill = 1_000
/** Share of kills that hit the service while it is still starting. */
const startKillShare = 0.1
const startKillMsMax = 900
/** Share of lives at whose beginning everything is checked at rest; else the load goes on at once. */
const checkShare = 0.75
/** Everything is read back once in so many kills, and at the end; else only what is new. */
const killsPerWholeCheck = 25

export interface CrashRunOptions {
  readonly kills: number
  readonly seed: number
  /** Is told one line for each kill. */
  readonly report: (line: string) => void
}

export interface CrashRunResult {
  readonly kills: number
  readonly acknowledged: number
  /** Sum of all streams' counters at the end. */
  readonly counters: Readonly<Record<string, number>>
  /** Every broken promise, in words; empty when all were kept. */
  readonly violations: readonly string[]
  readonly dataDir: string
}

/**
 * Kills a service under load again and again, and checks that everything that it has acknowledged
 * is there exactly once.
 */
export async function crashRun(options: CrashRunOptions): Promise<CrashRunResult> {
  const run = new CrashRun(options, { http: await freePort(), mqtt: await freePort() })
  try {
    await run.begin()
    await run.killAgainAndAgain()
    return await run.finish()
  } catch (error) {
    return await run.abandon(error)
  }
}

class CrashRun {
  readonly #options: CrashRunOptions
  readonly #random: SeededRandom
  readonly #state = new LoadState()
  readonly #dataDir = newDataDir()
  readonly #ports: { readonly http: number; readonly mqtt: number }
  readonly #api: ApiClient
  #launched: LaunchedProcess | undefined
  #service: ServiceProcess | undefined
  #ledgers: StreamLedger[] = []
  #devices: MqttDevice[] = []
  #senders: Promise<unknown> = Promise.resolve()
  #kills = 0
  #counters: Record<string, number> = {}

  constructor(options: CrashRunOptions, ports: { http: number; mqtt: number }) {
    this.#options = options
    this.#random = new SeededRandom(options.seed)
    this.#ports = ports
    this.#api = new ApiClient(`http://127.0.0.1:${ports.http}`)
  }

  async begin(): Promise<void> {
    await this.#start()
    await this.#startLoad()
  }

  async killAgainAndAgain(): Promise<void> {
    const { kills } = this.#options
    const random = this.#random
    while (this.#kills < kills) {
      const acknowledged = random.integer(0, acknowledgedPerLifeMax)
      const delayMs = random.integer(0, 30)
      await this.#loadUntil(acknowledged)
      await sleep(delayMs)
      await this.#kill()
      let line = `kill ${this.#kills} of ${kills}: ${acknowledged} acknowledged + ${delayMs} ms`
      while (this.#kills < kills && random.chance(startKillShare)) {
        this.#options.report(line)
        const startKillMs = random.integer(0, startKillMsMax)
        await this.#killWhileStarting(startKillMs)
        line = `kill ${this.#kills} of ${kills}: ${startKillMs} ms into the start`
      }
      const startedMs = await this.#start()
      const checked = random.chance(checkShare) ? await this.#check() : 'not checked'
      this.#options.report(`${line}; up again in ${startedMs} ms; ${checked}`)
    }
  }

  async finish(): Promise<CrashRunResult> {
    await this.#check({ isWhole: true })
    for (const { streamId } of this.#ledgers) {
      const { counters } = await this.#api.status(streamId)
      for (const [name, count] of Object.entries(counters)) {
        this.#counters[name] = (this.#counters[name] ?? 0) + count
      }
    }
    await this.#stopLoad()
    const code = await this.#service?.end('SIGTERM')
    if (code !== 0) this.#state.violated(`it ended with code ${code} after a SIGTERM`)
    return this.#result()
  }

  async abandon(error: unknown): Promise<CrashRunResult> {
    if (!(error instanceof CrashViolations)) this.#state.violated(String(error))
    if (this.#state.violations.length > 0) {
      this.#state.violated(`the service has printed: ${this.#launched?.output().slice(-4_000)}`)
    }
    await this.#stopLoad()
    this.#launched?.signal('SIGKILL')
    await this.#launched?.exited
    return this.#result()
  }

  #result(): CrashRunResult {
    const { violations, acknowledged } = this.#state
    const dataDir = this.#dataDir
    if (violations.length === 0) rmSync(dataDir, { recursive: true })
    return { kills: this.#kills, acknowledged, counters: this.#counters, violations, dataDir }
  }

  /** Starts the service on the same folder and ports; returns how long that took. */
  async #start(): Promise<number> {
    const fromMs = performance.now()
    this.#launched = await this.#launch()
    this.#service = await this.#launched.listening()
    this.#state.change({ isServiceUp: true })
    return Math.round(performance.now() - fromMs)
  }

  #launch(): Promise<LaunchedProcess> {
    return launchServiceProcess(this.#dataDir, {
      STREAMVAULT_HTTP_PORT: String(this.#ports.http),
      STREAMVAULT_MQTT_PORT: String(this.#ports.mqtt),
    })
  }

  async #startLoad(): Promise<void> {
    const schema = { value: { type: 'number', required: true }, place: { type: 'string' } }
    const api = this.#api
    const [lenient, strict, untimed] = await Promise.all([
      api.createStream(schema),
      api.createStream(schema, { processing: { validation: 'strict' } }),
      api.createStream(schema),
    ])
    const timed = [new StreamLedger(lenient, 'lenient'), new StreamLedger(strict, 'strict')]
    const keyed = new StreamLedger(untimed, 'untimed')
    this.#ledgers = [...timed, keyed]
    const needs = (index: number, ledgers: readonly StreamLedger[]) => ({
      state: this.#state,
      random: new SeededRandom(this.#options.seed + index),
      ledgers,
    })
    for (let index = 1; index <= devices; index++) {
      this.#devices.push(new MqttDevice(this.#ports.mqtt, `device-${index}`, needs(index, timed)))
    }
    const senders = [
      new HttpSender(api, needs(devices + 1, timed)),
      new HttpSender(api, needs(devices + 2, [keyed])),
    ]
    this.#senders = Promise.all(senders.map((sender) => sender.run())).catch((error: unknown) =>
      this.#state.violated(String(error)),
    )
  }

  /** Lets readings be sent until so many were acknowledged; more go on being sent. */
  async #loadUntil(acknowledged: number): Promise<void> {
    const goal = this.#state.acknowledged + acknowledged
    this.#state.change({ budget: acknowledged + budgetBeyondKill })
    for (const device of this.#devices) device.pump()
    await this.#state.soon(
      `${acknowledged} acknowledged readings`,
      () => this.#state.acknowledged >= goal || this.#state.violations.length > 0,
    )
    this.#refuseViolations()
  }

  async #kill(): Promise<void> {
    this.#state.change({ isServiceUp: false })
    await this.#service?.end('SIGKILL')
    this.#state.change({ budget: 0 })
    this.#kills++
  }

  async #killWhileStarting(delayMs: number): Promise<void> {
    this.#launched = await this.#launch()
    await sleep(delayMs)
    this.#launched.signal('SIGKILL')
    await this.#launched.exited
    this.#kills++
  }

  /** Waits until all that was sent is acknowledged, and compares what is there with it. */
  async #check(options?: { readonly isWhole: boolean }): Promise<string> {
    const isWhole = options?.isWhole ?? this.#kills % killsPerWholeCheck === 0
    const state = this.#state
    await state.soon('everything to be acknowledged', () => state.outstanding === 0)
    for (const ledger of this.#ledgers) {
      for (const violation of await ledger.violations(this.#api, { isWhole })) {
        state.violated(violation)
      }
    }
    this.#refuseViolations()
    const size = this.#ledgers.reduce((sum, ledger) => sum + ledger.size, 0)
    return `${size} readings in order${isWhole ? ', all read back' : ''}`
  }

  #refuseViolations(): void {
    if (this.#state.violations.length > 0) throw new CrashViolations()
  }

  async #stopLoad(): Promise<void> {
    this.#state.change({ isStopped: true, isServiceUp: true })
    for (const device of this.#devices) device.end()
    await this.#senders
  }
}

/** Ends the run: the violations are in the load's state. */
class CrashViolations extends Error {}

function report(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { kills: { type: 'string', default: '200' }, seed: { type: 'string' } },
  })
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  report(`seed ${seed}`)
  const fromMs = performance.now()
  const result = await crashRun({ kills: Number(values.kills), seed, report })
  const { kills, acknowledged, counters, violations, dataDir } = result
  const seconds = Math.round((performance.now() - fromMs) / 1000)
  report(`${kills} kills in ${seconds} s, ${acknowledged} readings acknowledged`)
  report(`counters: ${JSON.stringify(counters)}`)
  if (violations.length === 0) {
    report('every acknowledged reading is there exactly once')
    return
  }
  report(`${violations.length} violations (seed ${seed}; data folder kept: ${dataDir}):`)
  for (const violation of violations) report(`- ${violation}`)
  process.exitCode = 1
}

if (import.meta.main) await main()
