import type { DialedTls, SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import type { MqttVersion } from './arrivals.ts'
import { type MqttEndpoint, parseMqttEndpoint } from './transport.ts'

export interface MqttClientOptions {
  readonly endpoint: MqttEndpoint
  readonly tls: DialedTls
  readonly filter: string
  readonly qos: 0 | 1 | 2
  readonly clientId: string
  readonly username: string | undefined
  readonly password: string | undefined
  readonly version: MqttVersion | 'auto'
}

/** The keys of a source that this connector knows, as the domain of data streams has checked them. */
interface MqttSourceKeys {
  readonly endpoint: string
  readonly topic: string
  readonly qos?: 0 | 1 | 2
  readonly clientId?: string
  readonly sharedGroup?: string
  readonly version?: MqttVersion | 'auto'
  readonly credentials?: {
    readonly username?: string
    readonly password?: string
    readonly certificate?: string
    readonly privateKey?: string
  }
  readonly tls?: { readonly ca?: string; readonly servername?: string }
}

/** Whether a source is a broker of MQTT: where nothing else is said, that is what a WebSocket leads to. */
export function takesSource({ protocol = 'mqtt', endpoint }: SourceDefinition['source']): boolean {
  return protocol === 'mqtt' && typeof endpoint === 'string' && /^(mqtts?|wss?):/.test(endpoint)
}

export function mqttClientOptions({ streamId, source }: SourceDefinition): MqttClientOptions {
  const keys = source as unknown as MqttSourceKeys
  const { credentials = {}, tls = {}, sharedGroup, topic } = keys
  return {
    endpoint: parseMqttEndpoint(keys.endpoint),
    tls: { ...tls, cert: credentials.certificate, key: credentials.privateKey },
    // Shared subscriptions: MQTT 5, section 4.8.2; many brokers of MQTT 3.1.1 know them, too.
    filter: sharedGroup === undefined ? topic : `$share/${sharedGroup}/${topic}`,
    qos: keys.qos ?? 1,
    // Always the same for one stream: the broker knows by it what it has kept for us.
    clientId: keys.clientId ?? `streamvault-${streamId}`,
    username: credentials.username,
    password: credentials.password,
    version: keys.version ?? 'auto',
  }
}
