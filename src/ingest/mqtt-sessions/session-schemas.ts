import {
  boolean,
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  listOf,
  noContent,
  nullable,
  query,
  record,
  text,
} from '../../requests/http/schema.ts'

const properties = {
  clientId: { ...text, description: 'As the client has named itself.', examples: ['boiler-7'] },
  deviceId: { ...nullable(text), description: 'Of a device: clients of devices are told apart.' },
  kept: { ...boolean, description: 'Whether it outlives its connection (no clean session).' },
  connected: boolean,
  since: { ...dateTime, description: 'When the client connected, or was last connected.' },
  createdAt: dateTime,
  expiresAt: {
    ...nullable(dateTime),
    description: 'When it ends unless the client comes back before; null while it is connected.',
  },
  apiKeyId: { ...nullable(text), description: 'What it is connected with.' },
  address: nullable(text),
  subscriptions: { ...count, description: 'How many filters.' },
  queuedMessages: { ...count, description: 'Not acknowledged yet, of QoS 1 and 2.' },
  queuedBytes: { ...count, description: 'Of their topics and payloads.' },
}

const session = component('MqttSession', record(properties))

const sessionWithFilters = component(
  'MqttSessionWithFilters',
  record({
    ...properties,
    filters: {
      ...listOf(record({ filter: text, qos: { enum: [0, 1, 2] } })),
      description: 'As many as fit into 256 KiB of text.',
    },
  }),
)

const params = record({ clientId: { ...text, examples: ['boiler-7'] } })
const ofDevice = query({
  deviceId: { ...text, description: 'The device, for a client that is one.' },
} as const)

export const listMqttSessions = {
  operationId: 'listMqttSessions',
  summary: "List one's own MQTT sessions, connected or kept, in the order of their beginning.",
  tags: ['Devices'],
  querystring: query(cursorQuery),
  response: { 200: cursorListOf(session) },
} as const

export const readMqttSession = {
  operationId: 'readMqttSession',
  summary: 'Read an MQTT session with its filters.',
  tags: ['Devices'],
  params,
  querystring: ofDevice,
  response: { 200: sessionWithFilters },
} as const

export const endMqttSession = {
  operationId: 'endMqttSession',
  summary: 'End an MQTT session and its connection; what waits in it is gone.',
  description:
    'Its client can connect again, as its credentials stay. A will is published, as when a network breaks.',
  tags: ['Devices'],
  params,
  querystring: ofDevice,
  response: { 204: noContent },
} as const
