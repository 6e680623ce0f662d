import type { FetchConnector } from '../src/contracts/fetch-connector.ts'
import type { PollConnector } from '../src/contracts/poll-connector.ts'
import { amqp } from './amqp/amqp.ts'
import { apiPull } from './api-pull/api-pull.ts'
import { bacnetPoll } from './bacnet/bacnet-poll.ts'
import { coap } from './coap/coap.ts'
import { databasePoll } from './database/database-poll.ts'
import { fleetPush } from './fleet-push/fleet-push.ts'
import { httpPush } from './http/http-push.ts'
import { httpValidate } from './http/http-validate.ts'
import { influxPing } from './influx/influx-ping.ts'
import { influxWrite } from './influx/influx-write.ts'
import { kafka } from './kafka/kafka.ts'
import { modbusPoll } from './modbus/modbus-poll.ts'
import { mqttWebSocketRoute } from './mqtt-broker/guard/web-socket-route.ts'
import { startMqttBroker } from './mqtt-broker/mqtt-broker.ts'
import { mqttClient } from './mqtt-client/mqtt-client.ts'
import { nats } from './nats/nats.ts'
import { opcua } from './opcua/opcua.ts'
import { otlpMetrics } from './otlp/otlp-metrics.ts'
import { postgresLog } from './postgres-log/postgres-log.ts'
import { remoteWrite } from './prometheus/remote-write-door.ts'
import { redisStream } from './redis-stream/redis-stream.ts'
import { sse } from './web-events/sse.ts'
import { webSocket } from './web-events/web-socket.ts'
import { webhookRoute } from './webhook/webhook-route.ts'

/** Every connector of the service. To add one: write its file, then add its name to this list. */
export const connectors = {
  fleetPush,
  httpPush,
  httpValidate,
  influxPing,
  influxWrite,
  mqttBroker: startMqttBroker,
  mqttWebSocket: mqttWebSocketRoute,
  otlpMetrics,
  remoteWrite,
  webhook: webhookRoute,
} as const

/**
 * Connectors that fetch: streams with a source that one of them takes get their readings through
 * it.
 */
export const fetchConnectors: readonly FetchConnector[] = [
  amqp,
  coap,
  kafka,
  mqttClient,
  nats,
  opcua,
  postgresLog,
  redisStream,
  sse,
  webSocket,
]

/** What the operator has to say about sources. */
export interface PollSettings {
  /** Absolute paths of folders: SQLite files in them may be read from. */
  readonly sqliteFolders: readonly string[]
}

/** Connectors that ask from time to time. */
export function pollConnectors(settings: PollSettings): readonly PollConnector[] {
  return [apiPull, databasePoll(settings), modbusPoll(), bacnetPoll()]
}
