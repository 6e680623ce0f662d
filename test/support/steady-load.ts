import { connect, type MqttClient } from 'mqtt'
import { ApiClient } from './api-client.ts'
import { adminKey, adminSecret, type ServiceProcess } from './service-process.ts'

const httpSenders = 3
const mqttInFlight = 30

/**
 * Sends readings over HTTP and MQTT, each with another temperature, until the service goes away,
 * and remembers which of them were acknowledged.
 */
export class SteadyLoad {
  readonly #api: ApiClient
  readonly #path: string
  readonly #client: MqttClient
  readonly #senders: Promise<unknown>
  readonly #acknowledged = new Set<number>()
  #next = 0
  #isOver = false
  #grown = Promise.withResolvers<void>()

  constructor({ http, mqttPort }: Pick<ServiceProcess, 'http' | 'mqttPort'>, streamId: string) {
    this.#api = new ApiClient(http)
    this.#path = `/streams/${streamId}/data`
    this.#client = connect({
      host: '127.0.0.1',
      port: mqttPort,
      username: adminKey,
      password: adminSecret,
      reconnectPeriod: 0,
    })
    this.#client.on('error', () => undefined)
    this.#client.on('connect', () => {
      for (let index = 0; index < mqttInFlight; index++) this.#publish()
    })
    this.#senders = Promise.all(Array.from({ length: httpSenders }, () => this.#post()))
  }

  /** Resolves when so many readings were acknowledged. */
  async acknowledgedAtLeast(count: number): Promise<void> {
    while (this.#acknowledged.size < count) await this.#grown.promise
  }

  /** Ends the load; the temperatures of all acknowledged readings. */
  async end(): Promise<ReadonlySet<number>> {
    this.#isOver = true
    this.#client.end(true)
    await this.#senders
    return this.#acknowledged
  }

  async #post(): Promise<void> {
    while (!this.#isOver) {
      const temperature = this.#next++
      const answer = await this.#api
        .withToken('POST', this.#path, { temperature })
        .catch(() => undefined)
      if (answer?.status !== 202) return
      this.#acknowledge(temperature)
    }
  }

  #publish(): void {
    if (this.#isOver) return
    const temperature = this.#next++
    const payload = JSON.stringify({ temperature })
    this.#client.publish(this.#path.slice(1), payload, { qos: 1 }, (error) => {
      if (error) return
      this.#acknowledge(temperature)
      this.#publish()
    })
  }

  #acknowledge(temperature: number): void {
    this.#acknowledged.add(temperature)
    this.#grown.resolve()
    this.#grown = Promise.withResolvers()
  }
}
