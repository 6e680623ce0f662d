import type { DecodedMessage, Decoder, UndecodableMessage } from '../src/pipeline/reading.ts'
import type { DecodedStream } from './decode.ts'
import { batchOf } from './decode-batch.ts'
import { problem, UnreadableItem } from './decode-binary.ts'
import { instantItem } from './decode-scalars.ts'
import { fieldOf } from './field-names.ts'
import { type NamedMetric, sparkplugStep, unknownNode } from './sparkplug.ts'
import { decodeSparkplugPayload, type SparkplugPayload, valueOf } from './sparkplug-payload.ts'
import { claimOf } from './timestamp.ts'

/** Metrics that are no measurements, unless the definition gives them a field. */
const controlPattern = /^(bdSeq$|Node Control\/|Device Control\/)/

/**
 * A decoder of Sparkplug B payloads of which nothing else is known, as when one is judged again:
 * metrics that have no name cannot be read.
 */
export function sparkplugDecoder(stream: DecodedStream): Decoder {
  return (bytes) => {
    const payload = decodeSparkplugPayload(bytes)
    if (typeof payload === 'string') return { ok: false, problem: payload }
    const topic = { group: '', type: 'NDATA', node: '', device: undefined } as const
    const { metrics, unknownAliases } = sparkplugStep(unknownNode, { topic, payload }, false)
    if (unknownAliases.length > 0) return { ok: false, problem: aliasProblem(unknownAliases) }
    return readingsOfMetrics({ metrics, payload, device: undefined }, stream)
  }
}

export function aliasProblem(aliases: readonly number[]): string {
  const named = aliases.slice(0, 10).join(', ')
  const rest = aliases.length > 10 ? ', …' : ''
  return `no birth has said which metrics have the aliases ${named}${rest}`
}

export interface SentMetrics {
  readonly metrics: readonly NamedMetric[]
  readonly payload: SparkplugPayload
  readonly device: string | undefined
}

/**
 * Metrics of one time are one reading. What has no value that a field could hold is left out; a message
 * may have nothing else, and is no batch then.
 *
 * What is refused is kept as JSON: without the births that were in force when it came, nobody could
 * read the message again.
 */
export function readingsOfMetrics(
  sent: SentMetrics,
  stream: DecodedStream,
): DecodedMessage | UndecodableMessage {
  try {
    const readings = momentsOf(sent, stream)
    if (readings.length === 0) return { ok: false, problem: 'no metric has a value of a field' }
    const elements = () => readings.map((reading) => Buffer.from(JSON.stringify(reading)))
    return batchOf({ readings, format: 'json', elements })
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error
    return { ok: false, problem: error.message }
  }
}

/** Whether a message has anything to store: commands, deaths and control metrics have not. */
export function hasValues({ metrics, device }: SentMetrics, stream: DecodedStream): boolean {
  return metrics.some((named) => {
    const { is_null: isNull, int_value, long_value, float_value } = named.metric
    const { double_value, boolean_value, string_value } = named.metric
    const value =
      int_value ?? long_value ?? float_value ?? double_value ?? boolean_value ?? string_value
    return (
      isNull !== true && value !== undefined && fieldOfMetric(named, device, stream) !== undefined
    )
  })
}

/** @throws UnreadableItem for a value or a time that cannot be read */
function momentsOf(
  { metrics, payload, device }: SentMetrics,
  stream: DecodedStream,
): readonly object[] {
  const open = new Map<number | undefined, Record<string, unknown>>()
  const readings: Record<string, unknown>[] = []
  for (const named of metrics) {
    const field = fieldOfMetric(named, device, stream)
    const value = valueOf(named.metric, named.datatype)
    if (field === undefined || value === undefined) continue
    // It would be taken for a prototype, and no definition can have such a field.
    if (field === '__proto__') throw problem('a field cannot have the name __proto__')
    const ms = named.metric.timestamp ?? payload.timestamp
    let reading = open.get(ms)
    // Two values of one metric are two readings, also where they claim one time.
    if (reading === undefined || Object.hasOwn(reading, field)) {
      reading = timed(ms, stream)
      open.set(ms, reading)
      readings.push(reading)
    }
    reading[field] = value
  }
  return readings
}

function timed(ms: number | undefined, { schema }: DecodedStream): Record<string, unknown> {
  if (ms === undefined) return {}
  instantItem(ms * 1_000)
  return { [schema.timestampField]: claimOf(ms * 1_000, schema.timestampFormat) }
}

/** The field of a metric: of this device, of all devices, or by its name. */
function fieldOfMetric(
  { name }: NamedMetric,
  device: string | undefined,
  stream: DecodedStream,
): string | undefined {
  const names = stream.formatOptions?.names ?? {}
  const ofDevice = `${device}/${name}`
  if (device !== undefined && Object.hasOwn(names, ofDevice)) return names[ofDevice]
  if (controlPattern.test(name) && !Object.hasOwn(names, name)) return undefined
  return fieldOf(stream, name)
}
