import { rmSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'
import { ApiClient } from './api-client.ts'
import { metricOf } from './metrics.ts'
import { packetTypes } from './mqtt-bytes.ts'
import { connectPacket, type MqttPacket, RawMqttConnection } from './mqtt-packets.ts'
import type { Person } from './people.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from './service-process.ts'

/** A service that can be killed and started again over the same folder. */
export interface KilledBroker {
  readonly api: ApiClient
  readonly mqttPort: number
  /** A figure of the broker: its name without `streamvault_mqtt_`. */
  metric(name: string): Promise<number>
  /** Ends it, with SIGKILL unless told otherwise, and starts it again. */
  restart(signal?: NodeJS.Signals, meanwhile?: (dataDir: string) => void): Promise<void>
}

/** One for all tests of a file. */
export function killedBroker(): KilledBroker {
  let process: ServiceProcess | undefined
  let dataDir = ''

  beforeAll(async () => {
    dataDir = newDataDir()
    process = await startServiceProcess(dataDir)
  })

  afterAll(async () => {
    await process?.end('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  })

  const running = () => {
    if (!process) throw new Error('the service does not run')
    return process
  }
  return {
    get api() {
      return new ApiClient(running().http)
    },
    get mqttPort() {
      return running().mqttPort
    },
    async metric(name) {
      return await metricOf(running(), `mqtt_${name}`)
    },
    async restart(signal = 'SIGKILL', meanwhile) {
      await running().end(signal)
      meanwhile?.(dataDir)
      process = await startServiceProcess(dataDir)
    },
  }
}

/** A client whose every packet is the test's own, with a session that is kept. */
export interface RawSession {
  readonly connection: RawMqttConnection
  readonly isSessionPresent: boolean
}

export async function rawSession(
  broker: KilledBroker,
  { key }: Person,
  fields: { readonly clientId: string; readonly will?: { topic: string; payload: string } },
): Promise<RawSession> {
  const connection = await RawMqttConnection.open(broker.mqttPort)
  const { apiKey: username, apiSecret: password } = key
  connection.send(connectPacket({ isClean: false, username, password, ...fields }))
  const [connack] = await connection.next()
  if (connack?.type !== packetTypes.connack || connack.body[1] !== 0) {
    throw new Error(`no connection: ${JSON.stringify(connack)}`)
  }
  return { connection, isSessionPresent: connack.body[0] === 1 }
}

/** A PUBLISH with QoS 1 or 2 as it came over the wire. */
export interface SentPublish {
  readonly topic: string
  readonly payload: string
  readonly packetId: number
  readonly qos: number
  readonly isDup: boolean
  readonly isRetained: boolean
}

export function publishOf({ type, flags, body }: MqttPacket): SentPublish {
  if (type !== packetTypes.publish) throw new Error(`a packet of type ${type}`)
  const topicEnd = 2 + body.readUInt16BE(0)
  return {
    topic: body.toString('utf8', 2, topicEnd),
    packetId: body.readUInt16BE(topicEnd),
    payload: body.toString('utf8', topicEnd + 2),
    qos: (flags >> 1) & 3,
    isDup: (flags & 8) !== 0,
    isRetained: (flags & 1) !== 0,
  }
}
