/** Settings of traces, which OpenTelemetry names. */
export interface TracingConfig {
  /** Undefined: no traces. */
  readonly tracing: TracingSettings | undefined
}

export interface TracingSettings {
  /** The host that spans are sent to, for the log. The library reads the rest of the address, and its headers. */
  readonly collector: string
  readonly sampler: SamplerName
  /** Share of the traces that are kept, for samplers by ratio. */
  readonly ratio: number
  /** Spans that wait at most. */
  readonly waitingMax: number
  /** Longest time that a span waits for others to be sent with. */
  readonly delayMs: number
}

type SamplerName = (typeof samplerNames)[number]

const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

interface Reading {
  readonly text: (name: string, fallback: string) => string
  readonly problems: string[]
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
export function readTracingConfig({ text, problems }: Reading): TracingConfig {
  const found: string[] = []
  const read = { text, problems: found }
  const all = text('OTEL_EXPORTER_OTLP_ENDPOINT', '')
  const own = text('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', '')
  const exporter = text('OTEL_TRACES_EXPORTER', 'otlp')
  const isOff = /^true$/i.test(text('OTEL_SDK_DISABLED', '')) || exporter === 'none'
  const tracing = {
    collector: collectorOf({ all, own }, found),
    ...readSampler(read),
    waitingMax: countOf(read, 'OTEL_BSP_MAX_QUEUE_SIZE', 2_048),
    delayMs: countOf(read, 'OTEL_BSP_SCHEDULE_DELAY', 5_000),
  }
  checkProtocol(read)
  if (exporter !== 'otlp')
    found.push(`OTEL_TRACES_EXPORTER must be otlp or none, not '${exporter}'`)
  // They are for other programs as well: what nobody here uses is no problem of ours.
  if (isOff || (all === '' && own === '')) return { tracing: undefined }
  problems.push(...found)
  return { tracing }
}

/** The host of the endpoint that counts. An address may hold a password: it is not shown. */
function collectorOf(
  { all, own }: { readonly all: string; readonly own: string },
  problems: string[],
): string {
  for (const [name, given] of [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', all],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own],
  ] as const) {
    if (given === '' || hostOf(given) !== undefined) continue
    problems.push(`${name} must be an http or https URL, such as http://127.0.0.1:4318`)
  }
  return hostOf(own) ?? hostOf(all) ?? ''
}

function checkProtocol({ text, problems }: Reading): void {
  const names = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']
  const [first] = names.map((name) => [name, text(name, '')]).filter(([, given]) => given !== '')
  if (first === undefined || first[1] === 'http/protobuf') return
  const advice = 'the port of a collector for it is usually 4318'
  problems.push(`${first[0]} must be http/protobuf, not '${first[1]}': ${advice}`)
}

function readSampler({ text, problems }: Reading) {
  const given = text('OTEL_TRACES_SAMPLER', 'parentbased_always_on')
  const sampler = samplerNames.find((name) => name === given)
  if (sampler === undefined) {
    problems.push(`OTEL_TRACES_SAMPLER must be ${samplerNames.join(' or ')}, not '${given}'`)
  }
  const ratio = Number(text('OTEL_TRACES_SAMPLER_ARG', '1'))
  if (!(ratio >= 0 && ratio <= 1)) {
    problems.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, such as 0.1')
  }
  return { sampler: sampler ?? 'always_off', ratio }
}

function countOf({ text, problems }: Reading, name: string, fallback: number): number {
  const given = text(name, String(fallback))
  if (/^[1-9]\d{0,5}$/.test(given)) return Number(given)
  problems.push(`${name} must be a number from 1 to 999999, not '${given}'`)
  return fallback
}

function hostOf(address: string): string | undefined {
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) return undefined
  return new URL(address).host
}
