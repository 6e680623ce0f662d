import type {
  DecodedMessage,
  DecodedStream,
  Decoder,
  UndecodableMessage,
} from '../src/contracts/reading.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { batchOf } from './decode-batch.ts'
import { problem, UnreadableItem } from './decode-binary.ts'
import { instantItem } from './decode-scalars.ts'
import { fieldOf } from './field-names.ts'
import { type NamedMetric, sparkplugStep, unknownNode } from './sparkplug.ts'
import {
  decodeSparkplugPayload,
  payloadsOfMetrics,
  type SparkplugPayload,
  valueOf,
} from './sparkplug-payload.ts'
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

export function aliasProblem(aliases: readonly bigint[]): string {
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
 * A reading that is refused is kept as JSON: without the births that were in force when it came, nobody could
 * read the message again. A metric that cannot be read is refused alone, and kept as it came.
 */
export function readingsOfMetrics(
  sent: SentMetrics,
  stream: DecodedStream,
): DecodedMessage | UndecodableMessage {
  const { readings, refused } = momentsOf(sent, stream)
  const [first] = refused.values()
  if (readings.length === 0) {
    return { ok: false, problem: first ?? 'no metric has a value of a field' }
  }
  const places = [...refused.keys()]
  const elements = (payload: Uint8Array) => {
    const parts = places.length === 0 ? [] : payloadsOfMetrics(payload)
    const kept = places.map((place) => parts[place] ?? payload)
    return [...readings.map((reading) => Buffer.from(JSON.stringify(reading))), ...kept]
  }
  const all = [...readings, ...places.map(() => undefined)]
  if (places.length === 0) return batchOf({ readings: all, format: 'json', elements })
  // A metric that is refused stands behind the readings, in a payload of its own.
  const at = places.map((_, index) => readings.length + index)
  const unreadable = new Map(at.map((index, of) => [index, refused.get(places[of] ?? 0) ?? '']))
  const elementFormats = new Map(at.map((index) => [index, 'sparkplug' as const]))
  return batchOf({ readings: all, format: 'json', elements, unreadable, elementFormats })
}

/** Whether a message has anything to store: commands, deaths and control metrics have not. */
export function hasValues(
  { metrics, payload, device }: SentMetrics,
  stream: DecodedStream,
): boolean {
  if (payload.unreadable !== undefined) return true
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

interface Moments {
  readonly readings: readonly object[]
  /** Problems of metrics that have no value, by their place in the payload. */
  readonly refused: ReadonlyMap<number, string>
}

function momentsOf({ metrics, payload, device }: SentMetrics, stream: DecodedStream): Moments {
  const open = new Map<number | undefined, Record<string, unknown>>()
  const readings: Record<string, unknown>[] = []
  const refused = new Map(payload.unreadable ?? [])
  for (const named of metrics) {
    const field = fieldOfMetric(named, device, stream)
    try {
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
    } catch (error) {
      if (!(error instanceof UnreadableItem)) throw error
      const place = payload.metrics?.indexOf(named.metric) ?? -1
      refused.set(payload.places?.[place] ?? place, error.message)
    }
  }
  return { readings, refused }
}

function timed(ms: number | undefined, { schema }: DecodedStream): Record<string, unknown> {
  if (ms === undefined) return {}
  instantItem(ms * 1_000)
  const time = timeMemberOf(schema) ?? schema.timestampField
  return { [time]: claimOf(ms * 1_000, schema.timestampFormat) }
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
