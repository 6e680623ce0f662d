import { isObject } from '../../src/contracts/definitions/field-map.ts'
import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { DialedTls, SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import { timedFormats } from '../../src/contracts/stream-schema.ts'
import type { MqttVersion } from './arrivals.ts'
import { deviceSource } from './source.ts'
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
  /** Whether what is known of a message beside its bytes is wanted. */
  readonly isMapped: boolean
  /** Whether messages that were retained are left out. */
  readonly skipsRetained: boolean
}

/** Whether a source is a broker of MQTT: where nothing else is said, that is what a WebSocket leads to. */
export function takesSource({ protocol = 'mqtt', endpoint }: SourceDefinition['source']): boolean {
  return protocol === 'mqtt' && typeof endpoint === 'string' && /^(mqtts?|wss?):/.test(endpoint)
}

export function mqttClientOptions({
  streamId,
  source: given,
  isMapped = false,
}: SourceDefinition): MqttClientOptions {
  const source = sourceOf(deviceSource, given)
  const { endpoint = '', credentials = {}, tls = {}, sharedGroup, topic = '' } = source
  return {
    endpoint: parseMqttEndpoint(endpoint),
    tls: { ...tls, cert: credentials.certificate, key: credentials.privateKey },
    // Shared subscriptions: MQTT 5, section 4.8.2; many brokers of MQTT 3.1.1 know them, too.
    filter: sharedGroup === undefined ? topic : `$share/${sharedGroup}/${topic}`,
    qos: source.qos,
    // The name never changes for a stream: the broker knows by it what it has kept for us.
    clientId: source.clientId ?? `streamvault-${streamId}`,
    username: credentials.username,
    password: credentials.password,
    version: source.version,
    isMapped,
    skipsRetained: (source.retained ?? (hasOwnTime(given) ? 'keep' : 'skip')) === 'skip',
  }
}

/** Whether readings say themselves when they were: what was retained for long is not taken for new then. */
function hasOwnTime({ timestampField, format, items }: SourceDefinition['source']): boolean {
  if (timestampField !== undefined || timedFormats.includes(format)) return true
  return [items].flat().some((level) => isObject(level) && ('start' in level || 'time' in level))
}
