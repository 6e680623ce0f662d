import type { ErrorDetail } from '../core/errors.ts'
import type { TimestampFormat } from '../pipeline/stream-schema.ts'
import { check, type Json, oneOf, Problems, text } from './definition-problems.ts'
import { isObject } from './field-map.ts'
import { formatKeys } from './payload-format.ts'
import {
  apiSource,
  databaseProtocols,
  databaseSource,
  deviceProtocols,
  deviceSource,
  eventProtocols,
  eventSource,
  type SourceRules,
} from './source-rules.ts'
import { ownTopicOf, ownTopicProblem } from './stream-topics.ts'
import type { StreamType } from './stream-type.ts'

const timestampFormats: readonly TimestampFormat[] = ['rfc3339', 'epoch_s', 'epoch_ms', 'epoch_us']

/** What every source may say: where a reading has its time (D19). */
const timeRules = { timestampField: text, timestampFormat: oneOf(...timestampFormats) }

/** Reads where readings come from; what is wrong with it is added to the problems. */
export function parseSource(
  value: unknown,
  type: StreamType | undefined,
  found: ErrorDetail[],
): Json {
  if (value !== undefined && !isObject(value)) {
    found.push({ path: 'source', message: 'must be an object' })
    return {}
  }
  const source = value ?? {}
  // Without a type there is nothing to hold the source to.
  if (type === undefined) return source
  const { rules, required, checkAll } = rulesOf(type, source['protocol'])
  const withTime = type === 'service' ? rules : { ...rules, ...timeRules }
  const problems = new Problems('source', found)
  check(source, { rules: withTime, required }, problems)
  checkAll?.(source, problems)
  const topicProblem = ownTopicProblem(source)
  if (topicProblem !== undefined) problems.add('topic', topicProblem)
  return source
}

/** The types that name a domain take whatever their protocol takes (D25). */
function rulesOf(type: StreamType, protocol: unknown): SourceRules {
  switch (type) {
    case 'iot_sensor':
      return deviceSource(deviceProtocols)
    case 'api_pull':
      return apiSource
    case 'database':
      return databaseSource(databaseProtocols)
    case 'event_stream':
      return eventSource(eventProtocols, protocol)
    case 'service':
      return { rules: {}, required: [] }
    case 'manufacturing':
    case 'building_systems':
    case 'occupancy':
      if (databaseProtocols.some((known) => known === protocol)) return databaseSource(allProtocols)
      if (eventProtocols.some((known) => known === protocol)) {
        return eventSource(allProtocols, protocol)
      }
      return deviceSource(allProtocols)
    default:
      return type satisfies never
  }
}

const allProtocols = [...deviceProtocols, ...databaseProtocols, ...eventProtocols]

const unconnected: readonly StreamType[] = ['api_pull', 'database', 'event_stream']

const pushedKeys = ['deviceId', 'protocol', ...formatKeys, ...Object.keys(timeRules)]

/** What would be stored and then silently not be done. */
export function unsupportedSource(type: StreamType, source: Json): readonly ErrorDetail[] {
  if (unconnected.includes(type)) {
    return [{ path: 'type', message: `this version has no connector for ${type}` }]
  }
  const details: ErrorDetail[] = []
  const { protocol } = source
  const taken = ownTopicOf(source) === undefined ? pushedKeys : [...pushedKeys, 'topic']
  if (protocol !== undefined && protocol !== 'mqtt' && protocol !== 'http') {
    details.push({ path: 'source.protocol', message: 'this version takes mqtt and http' })
  }
  if (source['endpoint'] !== undefined) return details
  for (const key of Object.keys(source)) {
    if (taken.includes(key)) continue
    details.push({ path: `source.${key}`, message: 'this version only takes pushed readings' })
  }
  return details
}
