import { Components } from '../../requests/http/openapi/components.ts'
import { exampleOf } from '../../requests/http/openapi/example.ts'
import type { JsonSchema } from '../../requests/http/schema.ts'
import { webSocketProtocol } from '../../requests/http/upgrades.ts'
import { type Channel, mqttChannels, type Operation, webSocketChannels } from './channels.ts'
import type { Message } from './messages.ts'

export interface AsyncApiNeeds {
  readonly version: string
  /** Base of the addresses that we hand out: its host is that of the broker, too. */
  readonly publicUrl: string
  /** The ways to the broker that there are. */
  readonly broker: {
    readonly port: number | undefined
    readonly securePort: number | undefined
    /** Whether the HTTP port takes MQTT over WebSockets. */
    readonly hasWebSocket: boolean
  }
}

/** The AsyncAPI 3.0 document of what does not go over HTTP: MQTT, and the WebSocket of tails. */
export function asyncApiDocument(needs: AsyncApiNeeds): JsonSchema {
  const components = new Components()
  const brokers = brokersOf(needs)
  const isOn = Object.keys(brokers).length > 0
  const groups = [
    ...(isOn ? [{ channels: mqttChannels, servers: Object.keys(brokers) }] : []),
    { channels: webSocketChannels, servers: ['webSocket'] },
  ]
  const channels: Record<string, JsonSchema> = {}
  const operations: Record<string, JsonSchema> = {}
  const messages: Record<string, JsonSchema> = {}
  for (const { channels: described, servers } of groups) {
    for (const [id, channel] of Object.entries(described)) {
      channels[id] = channelBody(channel, servers, components)
      for (const [name, message] of Object.entries(channel.messages)) {
        messages[name] ??= messageBody(name, message, components)
      }
      for (const [name, operation] of Object.entries(channel.operations)) {
        operations[name] = operationBody(operation, id, channel)
      }
    }
  }
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Streamvault',
      version: needs.version,
      description: introduction,
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    },
    defaultContentType: 'application/json',
    servers: { ...brokers, webSocket: webSocketOf(needs.publicUrl) },
    channels,
    operations,
    components: {
      messages,
      schemas: components.schemas,
      securitySchemes: isOn ? { ...ofWebSocket, ...ofBroker } : ofWebSocket,
    },
  }
}

const introduction = [
  'What devices and programs send to the service, and receive from it, over MQTT 3.1.1 and WebSockets. The service',
  'is the application that this document describes: where it receives, clients publish, and where it sends,',
  'they subscribe. `/openapi.json` describes the rest.',
].join(' ')

function brokersOf({ publicUrl, broker }: AsyncApiNeeds): Readonly<Record<string, JsonSchema>> {
  const { port, securePort, hasWebSocket } = broker
  const { hostname, host } = new URL(publicUrl)
  const common = { protocolVersion: '3.1.1', security: references('securitySchemes', ofBroker) }
  return {
    ...(port !== undefined && {
      mqtt: { host: `${hostname}:${port}`, protocol: 'mqtt', ...common },
    }),
    ...(securePort !== undefined && {
      mqtts: { host: `${hostname}:${securePort}`, protocol: 'secure-mqtt', ...common },
    }),
    ...(hasWebSocket && {
      mqttOverWebSocket: {
        host,
        pathname: `${pathOf(publicUrl)}/mqtt`,
        protocol: schemeOf(publicUrl),
        description: 'MQTT 3.1.1 in a WebSocket, with the subprotocol `mqtt`.',
        security: references('securitySchemes', ofBroker),
      },
    }),
  }
}

function webSocketOf(publicUrl: string): JsonSchema {
  return {
    host: new URL(publicUrl).host,
    ...(pathOf(publicUrl) !== '' && { pathname: pathOf(publicUrl) }),
    protocol: schemeOf(publicUrl),
    security: references('securitySchemes', ofWebSocket),
  }
}

/** A proxy may have the service below a path of its own. */
function pathOf(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, '')
}

function schemeOf(publicUrl: string): 'ws' | 'wss' {
  return publicUrl.startsWith('https:') ? 'wss' : 'ws'
}

const ofBroker = {
  userPassword: {
    type: 'userPassword',
    description: [
      'A key and its secret, of a user or of a device; or the user name `bearer` and an access token, with which the',
      'session ends.',
    ].join(' '),
  },
  certificate: {
    type: 'X509',
    description: [
      'Over TLS, where the service asks for client certificates: a device whose `certificateName` is the common name.',
      'Without user name and password.',
    ].join(' '),
  },
} as const

const ofWebSocket = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: `An access token. Browsers offer it as a subprotocol, next to the one that is spoken: \`${webSocketProtocol}\`, \`bearer.TOKEN\`.`,
  },
  apiKey: {
    type: 'httpApiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'Together with the header `x-api-secret`.',
  },
} as const

function channelBody(
  { address, title, description, parameters, messages, bindings }: Channel,
  servers: readonly string[],
  components: Components,
): JsonSchema {
  const names = Object.keys(messages)
  return {
    ...(address !== undefined && { address }),
    title,
    description,
    servers: servers.map((name) => ({ $ref: `#/servers/${name}` })),
    ...(parameters !== undefined && { parameters }),
    messages: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
    ...(bindings !== undefined && { bindings: components.hoisted(bindings) }),
  }
}

function operationBody(operation: Operation, channel: string, { messages }: Channel): JsonSchema {
  return {
    ...operation,
    channel: { $ref: `#/channels/${channel}` },
    messages: Object.keys(messages).map((name) => ({
      $ref: `#/channels/${channel}/messages/${name}`,
    })),
  }
}

function messageBody(name: string, message: Message, components: Components): JsonSchema {
  const { payload, ...rest } = message
  if (payload === undefined) return { name, ...rest }
  return {
    name,
    ...rest,
    payload: components.hoisted(payload),
    examples: [{ payload: exampleOf(payload as JsonSchema) }],
  }
}

function references(kind: string, named: object): readonly JsonSchema[] {
  return Object.keys(named).map((name) => ({ $ref: `#/components/${kind}/${name}` }))
}
