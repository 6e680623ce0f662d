import type { FetchConnector } from '../src/pipeline/fetch-connector.ts'
import { httpPush } from './http-push.ts'
import { httpValidate } from './http-validate.ts'
import { mqttWebSocketRoute } from './mqtt-broker/guard/web-socket-route.ts'
import { startMqttBroker } from './mqtt-broker/mqtt-broker.ts'
import { mqttClient } from './mqtt-client/mqtt-client.ts'

/** Every connector of the service. To add one: write its file, then add its name to this list. */
export const connectors = {
  httpPush,
  httpValidate,
  mqttBroker: startMqttBroker,
  mqttWebSocket: mqttWebSocketRoute,
} as const

/** Those that fetch: streams with a source that one of them takes get their readings through it. */
export const fetchConnectors: readonly FetchConnector[] = [mqttClient]
