import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { connectAsync } from 'mqtt'

type Texts = Readonly<Record<string, string | undefined>>

/** A metric of Telegraf. */
export interface Metric {
  readonly name: string
  readonly tags: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, number | string | boolean>>
  readonly timeMs: number
}

/** What Telegraf 1.37.2 made of a machine with two processors. */
export const recordedMetrics: readonly Metric[] = [
  {
    name: 'cpu',
    tags: { cpu: 'cpu-total', host: 'vm' },
    fields: {
      usage_guest: 0,
      usage_guest_nice: 0,
      usage_idle: 0.9925558312644447,
      usage_iowait: 0.4962779156326631,
      usage_irq: 0,
      usage_nice: 3.4739454094283775,
      usage_softirq: 0.9925558312653262,
      usage_steal: 0,
      usage_system: 26.550868486349284,
      usage_user: 67.4937965260443,
    },
    timeMs: 1_795_803_906_000,
  },
]

/** The bytes that it sent for them, with `json_timestamp_units = "1ms"`. */
export const recordedBytes =
  '{"metrics":[{"fields":{"usage_guest":0,"usage_guest_nice":0,"usage_idle":0.9925558312644447,"usage_iowait":0.4962779156326631,"usage_irq":0,"usage_nice":3.4739454094283775,"usage_softirq":0.9925558312653262,"usage_steal":0,"usage_system":26.550868486349284,"usage_user":67.4937965260443},"name":"cpu","tags":{"cpu":"cpu-total","host":"vm"},"timestamp":1795803906000}]}\n'

/** What its client of HTTP says of itself in each request. */
const clientHeaders = { 'user-agent': 'Telegraf/1.37.2 Go/1.26.8', 'accept-encoding': 'gzip' }

const prometheusAccept =
  'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3'

/** A plugin of a file of settings, by its name there, with its keys and those of its tables. */
interface Plugin {
  readonly name: string
  readonly settings: Readonly<Record<string, unknown>>
}

/**
 * The plugins that a file of settings has, with the values of an environment. It reads what the examples are written in, which is
 * not all of TOML.
 *
 * @throws Error when a variable has no value, or a line is none that it reads
 */
function pluginsOf(file: string, environment: Texts): readonly Plugin[] {
  const plugins: { name: string; settings: Record<string, unknown> }[] = []
  let table = ''
  for (const raw of readFileSync(file, 'utf8').split('\n')) {
    const line = raw.trim()
    const [, opened, inner] = /^\[\[?(\w+(?:\.\w+)?)((?:\.\w+)*)\]?\]$/.exec(line) ?? []
    const [, key, value = ''] = /^([\w-]+)\s*=\s*(.+)$/.exec(line) ?? []
    if (opened !== undefined) {
      if (inner === '') plugins.push({ name: opened, settings: {} })
      table = inner ?? ''
    } else if (key !== undefined) {
      const settings = plugins.at(-1)?.settings ?? {}
      settings[`${table}.${key}`.slice(1)] = valueOf(value, environment)
    } else if (line !== '' && !line.startsWith('#')) throw new Error(`${file}: ${line}`)
  }
  return plugins
}

function valueOf(text: string, environment: Texts): unknown {
  const json = text
    .replace(/^'(.*)'$/, '"$1"')
    .replaceAll(/([{,]\s*"[\w-]+") = /g, '$1: ')
    .replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
      const value = environment[name]
      if (value === undefined) throw new Error(`Telegraf has no ${name} in its environment`)
      return value
    })
  return JSON.parse(json)
}

function textOf(settings: Plugin['settings'], key: string, usual?: string): string {
  const value = settings[key] ?? usual
  if (typeof value !== 'string') throw new Error(`there is no text ${key}`)
  return value
}

/** Metrics as its serializer of JSON writes a batch of them: keys in the order of the alphabet, and a line feed behind. */
export function batchOf(metrics: readonly Metric[], settings: Plugin['settings']): string {
  const units: Readonly<Record<string, number>> = { '1s': 1_000, '1ms': 1 }
  const unitMs = units[textOf(settings, 'json_timestamp_units', '1s')] ?? Number.NaN
  const objects = metrics.map(({ fields, name, tags, timeMs }) => ({
    fields: sorted(fields),
    name,
    tags: sorted(tags),
    timestamp: Math.floor(timeMs / unitMs),
  }))
  return `${JSON.stringify({ metrics: objects })}\n`
}

function sorted<Value>(values: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}

/**
 * Sends metrics as Telegraf does with a file of settings: by its `outputs.mqtt` and `outputs.http`, whose bytes these are.
 *
 * @throws Error when a key says what this does not do, or the service does not take the metrics
 */
export async function sendAsTelegraf(
  file: string,
  environment: Texts,
  metrics: readonly Metric[] = recordedMetrics,
): Promise<void> {
  for (const { name, settings } of pluginsOf(file, environment)) {
    if (!name.startsWith('outputs.')) continue
    if (settings['data_format'] !== 'json') throw new Error(`${file}: not as JSON`)
    const passed = settings['namepass'] as readonly string[]
    const body = batchOf(
      metrics.filter((metric) => passed.includes(metric.name)),
      settings,
    )
    if (name === 'outputs.mqtt') await publish(settings, body)
    else if (name === 'outputs.http') await post(settings, body)
    else throw new Error(`${file}: ${name}`)
  }
}

/** `plugins/outputs/mqtt`: MQTT 3.1.1 of paho, a message for each topic when the layout is a batch. */
async function publish(settings: Plugin['settings'], body: string): Promise<void> {
  if (settings['layout'] !== 'batch') throw new Error('only the layout batch is sent here')
  const [server] = settings['servers'] as readonly string[]
  const client = await connectAsync(String(server), {
    username: textOf(settings, 'username'),
    password: textOf(settings, 'password'),
    protocolVersion: 4,
    keepalive: Number(settings['keep_alive']),
  })
  const qos = Number(settings['qos']) as 0 | 1 | 2
  await client.publishAsync(textOf(settings, 'topic'), body, { qos })
  await client.endAsync()
}

/** `plugins/outputs/http`: a POST with a chunked body, and Basic authentication. Some answers end it, and it does not try again. */
async function post(settings: Plugin['settings'], body: string): Promise<void> {
  if (settings['use_batch_format'] !== true) throw new Error('only batches are sent here')
  const isCompressed = settings['content_encoding'] === 'gzip'
  const credentials = `${textOf(settings, 'username')}:${textOf(settings, 'password')}`
  const response = await fetch(textOf(settings, 'url'), {
    method: 'POST',
    headers: {
      ...clientHeaders,
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      ...(isCompressed && { 'content-encoding': 'gzip' }),
      'content-type': textOf(settings, 'headers.Content-Type', 'text/plain; charset=utf-8'),
    },
    body: new Blob([isCompressed ? gzipSync(body) : body]).stream(),
    duplex: 'half',
  })
  const ended = (settings['non_retryable_statuscodes'] ?? []) as readonly number[]
  if (response.ok || ended.includes(response.status)) return
  throw new Error(`${response.status} ${await response.text()}`)
}

/** What its inputs ask for, and get: `inputs.prometheus` and `inputs.http`. */
export async function readAsTelegraf(
  file: string,
  environment: Texts,
): Promise<
  readonly {
    readonly name: string
    readonly settings: Plugin['settings']
    readonly answer: Response
  }[]
> {
  const inputs = pluginsOf(file, environment).filter(({ name }) => name.startsWith('inputs.'))
  return await Promise.all(
    inputs.map(async ({ name, settings }) => {
      const [url] = settings['urls'] as readonly string[]
      const own = (settings['headers'] ?? {}) as Readonly<Record<string, string>>
      const headers = {
        ...clientHeaders,
        ...(name === 'inputs.prometheus' && { accept: prometheusAccept }),
        ...own,
      }
      return { name, settings, answer: await fetch(String(url), { headers }) }
    }),
  )
}
