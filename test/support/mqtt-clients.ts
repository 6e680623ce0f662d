import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import { afterEach } from 'vitest'
import type { MadeKey } from './people.ts'

export interface ReceivedMessage {
  readonly topic: string
  readonly payload: string
  readonly qos: number
  readonly retain: boolean
}

/** An MQTT client that keeps what it gets. */
export interface ListeningClient {
  readonly mqtt: MqttClient
  /** Taken down in the order of arrival, from the first packet after CONNACK on. */
  readonly messages: readonly ReceivedMessage[]
  /** What the broker answered to a subscription: one return code for each filter. */
  subscribe(filters: string | string[], qos?: 0 | 1 | 2): Promise<readonly number[]>
}

export type MqttCredentials = Pick<MadeKey, 'apiKey' | 'apiSecret'>

/** Connects MQTT clients, which are ended after each test. */
export function mqttClients(portOf: () => number) {
  const clients: MqttClient[] = []

  afterEach(() => {
    for (const client of clients.splice(0)) client.end(true)
  })

  return async (
    { apiKey, apiSecret }: MqttCredentials,
    options: IClientOptions = {},
  ): Promise<ListeningClient> => {
    const mqtt = connect({
      host: '127.0.0.1',
      port: portOf(),
      username: apiKey,
      password: apiSecret,
      reconnectPeriod: 0,
      ...options,
    })
    clients.push(mqtt)
    const messages: ReceivedMessage[] = []
    mqtt.on('message', (topic, payload, { qos, retain }) => {
      messages.push({ topic, payload: payload.toString(), qos, retain })
    })
    await new Promise<void>((resolve, reject) => {
      mqtt.once('connect', () => resolve())
      mqtt.once('error', reject)
    })
    return { mqtt, messages, subscribe: (filters, qos = 1) => granted(mqtt, filters, qos) }
  }
}

/** Resolves when the connection is closed; to be called before that can happen. */
export async function closed(client: MqttClient): Promise<void> {
  await new Promise<void>((resolve) => {
    client.once('close', resolve)
  })
}

async function granted(
  client: MqttClient,
  filters: string | string[],
  qos: 0 | 1 | 2,
): Promise<readonly number[]> {
  return await new Promise((resolve, reject) => {
    client.subscribe(filters, { qos }, (error, _, packet) => {
      const codes = packet?.granted?.map(Number)
      if (codes) resolve(codes)
      else reject(error ?? new Error('no SUBACK'))
    })
  })
}
