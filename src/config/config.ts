import type { LogFormat, LogLevel, LogSettings } from '../core/log-settings.ts'
import { type AnchorsConfig, readAnchorsConfig } from './anchors.ts'
import { type DeliveryConfig, readDeliveryConfig } from './deliveries.ts'
import { type FilesConfig, readFilesConfig } from './files.ts'
import { type LedgersConfig, readLedgersConfig } from './ledgers.ts'
import { type MailConfig, readMailConfig } from './mail.ts'
import { type NetworkConfig, readNetworkConfig } from './network.ts'
import { readSealsConfig, type SealsConfig } from './seals.ts'
import { parseTimeSeriesUrl, type TimeSeriesConfig, timeSeriesForms } from './time-series-url.ts'
import { readTracingConfig, type TracingConfig } from './tracing.ts'

/** The service's settings, read once at the start. */
export interface Config
  extends AnchorsConfig,
    NetworkConfig,
    DeliveryConfig,
    FilesConfig,
    LedgersConfig,
    MailConfig,
    SealsConfig,
    TracingConfig {
  readonly dataDir: string
  readonly host: string
  readonly httpPort: number
  /** 0: no MQTT. */
  readonly mqttPort: number
  /** Whether the HTTP port takes MQTT over WebSockets, at /mqtt. */
  readonly mqttWebSocket: boolean
  readonly adminKey: { readonly key: string; readonly secret: string } | undefined
  readonly masterKey: string | undefined
  readonly publicUrl: string
  readonly timeSeries: TimeSeriesConfig
  readonly journalBytesMax: number
  /** Bytes of the journal that are kept because a server of time series could lose their readings. */
  readonly heldBytesMax: number
  /** Free space of the disk with the data below which no readings are taken. */
  readonly diskBytesMin: number
  /** Bytes that the exports of one user may have, and that one import may. */
  readonly exportBytesMax: number
  readonly importBytesMax: number
  readonly log: LogSettings
  /** Whether an answer that is not as the OpenAPI document says becomes a 500. */
  readonly checkAnswers: boolean
}

/** Everything that is wrong with the environment, one problem a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

type Environment = Readonly<Record<string, string | undefined>>

const logLevels: readonly LogLevel[] = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
]

const logFormats: readonly LogFormat[] = ['auto', 'json', 'text']

/** Shortest secret that may be given for the bootstrap key. */
const secretLengthMin = 32

/** The settings as far as they can be read, and a line for everything that is wrong with them. */
export interface ReadSettings {
  /** Has the default wherever there is a problem. */
  readonly config: Config
  readonly problems: readonly string[]
  /** Names of all settings that there are. */
  readonly known: ReadonlySet<string>
}

/**
 * Reads the environment once, and reports everything that is wrong with it at once.
 *
 * @throws ConfigError
 */
export function readConfig(environment: Environment): Config {
  const { config, problems } = readSettings(environment)
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return config
}

export function readSettings(environment: Environment): ReadSettings {
  const problems: string[] = []
  const known = new Set<string>()
  const read = reader(environment, problems, known)
  const host = read.text('STREAMVAULT_HOST', '127.0.0.1')
  const httpPort = read.port('STREAMVAULT_HTTP_PORT', 8080)
  const network = readNetworkConfig({ ...read, problems })
  const mqttPort = read.port('STREAMVAULT_MQTT_PORT', 1883)
  // MQTT is off where both of its ports are switched off.
  const mqttDefault = mqttPort === 0 && network.mqttsPort === 0 ? 'off' : 'on'
  const ledgers = readLedgersConfig({ ...read, problems })
  const scheme = network.tls === undefined ? 'http' : 'https'
  const config: Config = {
    ...network,
    ...readAnchorsConfig({ ...read, problems }),
    ...readDeliveryConfig({ ...read, problems }),
    ...readFilesConfig({ ...read, problems }),
    ...ledgers,
    ...readMailConfig({ ...read, problems }),
    ...readSealsConfig({ ...read, problems }, ledgers),
    ...readTracingConfig({ ...read, problems }),
    dataDir: read.text('STREAMVAULT_DATA_DIR', './data'),
    host,
    httpPort,
    mqttPort,
    mqttWebSocket: read.oneOf('STREAMVAULT_MQTT_WEBSOCKET', mqttDefault, ['off', 'on']) === 'on',
    adminKey: read.adminKey(),
    masterKey: read.masterKey(),
    publicUrl: read.url('STREAMVAULT_PUBLIC_URL', `${scheme}://${urlHost(host)}:${httpPort}`),
    timeSeries: readTimeSeries(read.text('STREAMVAULT_TIMESERIES_URL', 'duckdb'), problems),
    journalBytesMax: read.bytes('STREAMVAULT_JOURNAL_MAX', '10GiB'),
    heldBytesMax: read.bytes('STREAMVAULT_QUESTDB_HELD_MAX', '1GiB'),
    diskBytesMin: read.bytes('STREAMVAULT_DISK_MIN', '512MiB'),
    exportBytesMax: read.bytes('STREAMVAULT_EXPORTS_MAX', '10GiB'),
    importBytesMax: read.bytes('STREAMVAULT_IMPORT_MAX', '1GiB'),
    log: {
      level: read.oneOf('STREAMVAULT_LOG_LEVEL', 'info', logLevels),
      format: read.oneOf('STREAMVAULT_LOG_FORMAT', 'auto', logFormats),
    },
    checkAnswers: read.oneOf('STREAMVAULT_CHECK_ANSWERS', 'off', ['off', 'on']) === 'on',
  }
  problems.push(...sharedPorts(config))
  // A setting of a command, which reads it itself.
  read.text('STREAMVAULT_LEDGER_KEYS', '')
  // Settings of adapters that do not exist yet: better said at the start than silently ignored.
  read.oneOf('STREAMVAULT_STATE_URL', 'sqlite', ['sqlite'])
  read.oneOf('STREAMVAULT_JOURNAL_URL', 'sqlite', ['sqlite'])
  return { config: Object.freeze(config), problems, known }
}

/** Ports that are to be taken twice; 0 is any one, or none. */
function sharedPorts({ httpPort, mqttPort, mqttsPort }: Config): readonly string[] {
  const ports = [
    ['STREAMVAULT_HTTP_PORT', httpPort],
    ['STREAMVAULT_MQTT_PORT', mqttPort],
    ['STREAMVAULT_MQTTS_PORT', mqttsPort],
  ] as const
  return ports.flatMap(([name, port], at) => {
    const [other] = ports.slice(0, at).find(([, taken]) => taken === port && port !== 0) ?? []
    return other === undefined
      ? []
      : [`${name} must be another port than ${other}: both are ${port}`]
  })
}

function readTimeSeries(given: string, problems: string[]): TimeSeriesConfig {
  const parsed = parseTimeSeriesUrl(given)
  if (parsed) return parsed
  const shown = withoutUserInfo(given)
  problems.push(`STREAMVAULT_TIMESERIES_URL must be ${timeSeriesForms}, not '${shown}'`)
  return { kind: 'duckdb' }
}

function reader(environment: Environment, problems: string[], known: Set<string>) {
  /** An empty value is as good as none: that is how a `.env` file leaves something out. */
  const value = (name: string) => {
    known.add(name)
    return environment[name] || undefined
  }
  const text = (name: string, fallback: string) => value(name) ?? fallback

  return {
    value,
    text,

    port(name: string, fallback: number): number {
      const given = text(name, String(fallback))
      const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN
      if (port <= 65_535) return port
      problems.push(`${name} must be a port from 0 to 65535, not '${given}'`)
      return fallback
    },

    oneOf<Value extends string>(name: string, fallback: Value, values: readonly Value[]): Value {
      const given = text(name, fallback)
      const found = values.find((one) => one === given)
      if (found === undefined) {
        problems.push(`${name} must be ${values.join(' or ')}, not '${withoutUserInfo(given)}'`)
      }
      return found ?? fallback
    },

    bytes(name: string, fallback: string): number {
      const given = text(name, fallback)
      const parsed = parseBytes(given)
      if (parsed === undefined) {
        problems.push(`${name} must be a size such as 500MiB or 10GiB, not '${given}'`)
      }
      return parsed ?? 0
    },

    url(name: string, fallback: string): string {
      const given = text(name, fallback)
      if (/^https?:\/\//.test(given) && URL.canParse(given)) return given.replace(/\/+$/, '')
      problems.push(`${name} must be an http or https URL, not '${withoutUserInfo(given)}'`)
      return fallback
    },

    /** Messages about secrets never show them. */
    adminKey(): Config['adminKey'] {
      const key = value('STREAMVAULT_ADMIN_KEY')
      const secret = value('STREAMVAULT_ADMIN_SECRET')
      if (key === undefined && secret === undefined) return undefined
      if (key === undefined || secret === undefined) {
        problems.push('STREAMVAULT_ADMIN_KEY and STREAMVAULT_ADMIN_SECRET must be given together')
        return undefined
      }
      if (secret.length < secretLengthMin) {
        problems.push(`STREAMVAULT_ADMIN_SECRET must have at least ${secretLengthMin} characters`)
      }
      return { key, secret }
    },

    masterKey(): string | undefined {
      const given = value('STREAMVAULT_MASTER_KEY')
      if (given !== undefined && Buffer.from(given, 'base64').length !== 32) {
        problems.push('STREAMVAULT_MASTER_KEY must be 32 bytes in base64')
      }
      return given
    },
  }
}

/** An IPv6 address stands in brackets in a URL (RFC 3986, section 3.2.2). */
export function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** What is wrong is shown, but not a password in it. */
function withoutUserInfo(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//[secret]@')
}

const byteUnits: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
}

function parseBytes(text: string): number | undefined {
  const match = /^(\d{1,15})(|KiB|MiB|GiB|TiB)$/.exec(text)
  const bytes = Number(match?.[1]) * (byteUnits[match?.[2] ?? ''] ?? 1)
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}
