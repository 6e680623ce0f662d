import { setTimeout as sleep } from 'node:timers/promises'
import { connectAsync, type MqttClient } from 'mqtt'
import { ApiClient } from './api-client.ts'
import { FaultInjection } from './fault-injection.ts'
import { metricOf } from './metrics.ts'
import {
  adminKey,
  adminSecret,
  type ServiceProcess,
  startServiceProcess,
} from './service-process.ts'
import { TemporaryFolder } from './temporary-folder.ts'

interface Readiness {
  readonly status: number
  /** What fails, by part. */
  readonly failing: Readonly<Record<string, string>>
}

const waitMs = 60_000

/** The service, as a process of its own, on a disk that can be made to fail. */
export class FaultyService implements AsyncDisposable {
  readonly faults: FaultInjection
  readonly #folder: TemporaryFolder
  readonly #environment: Readonly<Record<string, string>>
  readonly #clients: MqttClient[] = []
  #process: ServiceProcess
  #api: ApiClient

  /** The settings stay the same at each start. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<FaultyService> {
    const folder = new TemporaryFolder()
    const faults = new FaultInjection()
    const environment = { ...settings, ...faults.environment }
    const process = await startServiceProcess(folder.path, environment)
    return new FaultyService({ folder, faults, environment }, process)
  }

  private constructor(
    {
      folder,
      faults,
      environment,
    }: {
      readonly folder: TemporaryFolder
      readonly faults: FaultInjection
      readonly environment: Readonly<Record<string, string>>
    },
    process: ServiceProcess,
  ) {
    this.#folder = folder
    this.faults = faults
    this.#environment = environment
    this.#process = process
    this.#api = new ApiClient(process.http)
  }

  get api(): ApiClient {
    return this.#api
  }

  get mqttPort(): number {
    return this.#process.mqttPort
  }

  get dataDir(): string {
    return this.#folder.path
  }

  /** Everything that it has printed since its start. */
  log(): string {
    return this.#process.output()
  }

  /** Ends it as `kill -9` does, whatever it is doing. */
  async kill(): Promise<void> {
    await this.#process.end('SIGKILL')
  }

  /** Starts it again after a kill, on a disk without any fault. */
  async restart(): Promise<void> {
    this.faults.end()
    await this.restartAsItIs()
  }

  /** Starts it again after a kill, on the disk that there is. */
  async restartAsItIs(): Promise<void> {
    this.#process = await startServiceProcess(this.dataDir, this.#environment)
    this.#api = new ApiClient(this.#process.http)
  }

  /** A client of its MQTT broker that does not come back when the connection ends. */
  async mqtt(): Promise<MqttClient> {
    const client = await connectAsync(`mqtt://127.0.0.1:${this.#process.mqttPort}`, {
      username: adminKey,
      password: adminSecret,
      reconnectPeriod: 0,
    })
    client.on('error', () => undefined)
    this.#clients.push(client)
    return client
  }

  async readiness(): Promise<Readiness> {
    const { status, body } = await this.#api.request<Pick<Readiness, 'failing'>>(
      'GET',
      '/health/ready',
    )
    return { status, failing: body.failing }
  }

  /** One figure of GET /metrics, without its prefix `streamvault_`. */
  async metric(name: string): Promise<number> {
    return await metricOf(this.#process, name)
  }

  /** Resolves when a condition holds. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const deadlineMs = performance.now() + waitMs
    while (!(await holds())) {
      if (performance.now() > deadlineMs) throw new Error(`still not so: ${what}`)
      await sleep(20)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.end(true)
    await this.kill()
    this.faults[Symbol.dispose]()
    this.#folder[Symbol.dispose]()
  }
}
