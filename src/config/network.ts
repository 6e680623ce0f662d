import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { messageOf } from '../core/errors.ts'
import { type AllowedDestination, allowedDestination } from '../egress/allowed-destinations.ts'
import { readCertificate, type TlsFiles } from './tls-files.ts'

/** How the service meets the network. */
export interface NetworkConfig {
  /** Undefined: plain HTTP and MQTT only. */
  readonly tls: TlsFiles | undefined
  /** Whether clients of MQTT over TLS need a certificate of their own. */
  readonly requiresClientCertificate: boolean
  /** 0: no MQTT over TLS. */
  readonly mqttsPort: number
  /** Origins whose pages may call us, exactly as browsers send them. */
  readonly corsOrigins: readonly string[]
  /** Addresses and networks (CIDR) of proxies whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly string[]
  /** Private destinations that connections which users ask for may reach. */
  readonly egressAllowed: readonly AllowedDestination[]
  /** Absolute paths of folders: SQLite files in them may be read from by streams of any user. */
  readonly sqliteFolders: readonly string[]
  /** How many MQTT connections there may be at a time. */
  readonly mqttConnections: MqttConnectionsConfig
}

export interface MqttConnectionsConfig {
  readonly ofAll: number
  /** How many one address may have; of IPv6, one /64. */
  readonly ofAddress: number
  readonly ofUser: number
}

/** What the settings are read with. */
interface Reader {
  /** The value of a setting; undefined when there is none. */
  readonly value: (name: string) => string | undefined
  readonly port: (name: string, fallback: number) => number
  readonly problems: string[]
}

export function readNetworkConfig({ value, port, problems }: Reader): NetworkConfig {
  const tls = readTls(value, problems)
  const count = (name: string, fallback: number) => {
    const given = value(name) ?? String(fallback)
    if (/^[1-9]\d{0,6}$/.test(given)) return Number(given)
    problems.push(`${name} must be a number from 1 to 9999999, not '${given}'`)
    return fallback
  }
  const mqttsPort = port('STREAMVAULT_MQTTS_PORT', 8883)
  const requiresClientCertificate = readClientCertificate(value, problems)
  if (requiresClientCertificate && tls?.clientCaPath === undefined) {
    const message = 'needs STREAMVAULT_TLS_CLIENT_CA: no client would be asked for a certificate'
    problems.push(`STREAMVAULT_TLS_CLIENT_CERT=required ${message}`)
  }
  return {
    tls,
    requiresClientCertificate,
    mqttsPort: tls === undefined ? 0 : mqttsPort,
    mqttConnections: {
      ofAll: count('STREAMVAULT_MQTT_CONNECTIONS', 10_000),
      // A fleet behind one address is usual; it leaves some places to others.
      ofAddress: count('STREAMVAULT_MQTT_CONNECTIONS_PER_ADDRESS', 8_000),
      ofUser: count('STREAMVAULT_MQTT_CONNECTIONS_PER_USER', 10_000),
    },
    corsOrigins: listOf(value('STREAMVAULT_CORS_ORIGINS'), (entry) => {
      if (URL.canParse(entry) && new URL(entry).origin === entry) return
      const message = "must be origins such as 'https://console.example', separated by commas"
      problems.push(`STREAMVAULT_CORS_ORIGINS ${message}, not '${entry}'`)
    }),
    trustedProxies: listOf(value('STREAMVAULT_TRUST_PROXY'), (entry) => {
      if (isNetwork(entry)) return
      const message = 'must be addresses or networks such as 10.0.0.0/8, separated by commas'
      problems.push(`STREAMVAULT_TRUST_PROXY ${message}, not '${entry}'`)
    }),
    egressAllowed: readAllowed(value('STREAMVAULT_EGRESS_ALLOW'), problems),
    sqliteFolders: listOf(value('STREAMVAULT_SQLITE_FOLDERS'), (entry) => {
      if (isAbsolute(entry)) return
      const message = 'must be absolute paths of folders, separated by commas'
      problems.push(`STREAMVAULT_SQLITE_FOLDERS ${message}, not '${entry}'`)
    }),
  }
}

function readAllowed(text: string | undefined, problems: string[]): readonly AllowedDestination[] {
  const allowed: AllowedDestination[] = []
  listOf(text, (entry) => {
    try {
      allowed.push(allowedDestination(entry))
    } catch (error) {
      const message =
        'must be destinations such as mosquitto:1883, 10.0.0.0/8 or 10.0.0.0/8:8000-8100, separated by commas'
      problems.push(`STREAMVAULT_EGRESS_ALLOW ${message}: '${entry}' ${messageOf(error)}`)
    }
  })
  return allowed
}

function readTls(value: Reader['value'], problems: string[]): TlsFiles | undefined {
  const certPath = value('STREAMVAULT_TLS_CERT')
  const keyPath = value('STREAMVAULT_TLS_KEY')
  const clientCaPath = value('STREAMVAULT_TLS_CLIENT_CA')
  if (certPath === undefined && keyPath === undefined) {
    if (clientCaPath !== undefined) {
      problems.push('STREAMVAULT_TLS_CLIENT_CA needs STREAMVAULT_TLS_CERT and _TLS_KEY')
    }
    return undefined
  }
  if (certPath === undefined || keyPath === undefined) {
    problems.push('STREAMVAULT_TLS_CERT and STREAMVAULT_TLS_KEY must be given together')
    return undefined
  }
  try {
    readCertificate({ certPath, keyPath })
  } catch (error) {
    const message = 'must be a certificate and its key in PEM files'
    problems.push(`STREAMVAULT_TLS_CERT and _TLS_KEY ${message}: ${messageOf(error)}`)
    return { certPath, keyPath }
  }
  if (clientCaPath === undefined) return { certPath, keyPath }
  const files = { certPath, keyPath, clientCaPath }
  try {
    readCertificate(files)
  } catch (error) {
    const message = 'must be a PEM file with certificates of authorities'
    problems.push(`STREAMVAULT_TLS_CLIENT_CA ${message}: ${messageOf(error)}`)
  }
  return files
}

function readClientCertificate(value: Reader['value'], problems: string[]): boolean {
  const given = value('STREAMVAULT_TLS_CLIENT_CERT') ?? 'optional'
  if (given !== 'optional' && given !== 'required') {
    problems.push(`STREAMVAULT_TLS_CLIENT_CERT must be optional or required, not '${given}'`)
  }
  return given === 'required'
}

function listOf(text: string | undefined, check: (entry: string) => void): readonly string[] {
  const entries = (text ?? '').split(',').map((entry) => entry.trim())
  const given = entries.filter((entry) => entry !== '')
  for (const entry of given) check(entry)
  return given
}

function isNetwork(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}
