import type { TimestampFormat } from '../../contracts/stream-schema.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { check, type Json, oneOf, Problems, text } from './definition-problems.ts'
import { isObject } from './field-map.ts'
import { checkNamedSecrets, namedSecrets } from './named-secrets.ts'
import { formatKeys } from './payload-format.ts'
import { apiSource } from './sources/api.ts'
import { isObserved } from './sources/coap.ts'
import { databaseSource } from './sources/database.ts'
import {
  eventProtocols,
  industrialProtocols,
  isListenedProtocol,
  isSpokenProtocol,
  listenedSource,
} from './sources/listened-source.ts'
import {
  databaseProtocols,
  deviceProtocols,
  deviceSource,
  type SourceRules,
} from './sources/source-rules.ts'
import { ownTopicOf, ownTopicProblem } from './stream-topics.ts'
import type { StreamType } from './stream-type.ts'

const timestampFormats: readonly TimestampFormat[] = ['rfc3339', 'epoch_s', 'epoch_ms', 'epoch_us']

/**
 * Keys that every source may have: where a reading has its time (decisions.md#times-of-readings).
 */
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
  const { rules, required, secretPlaces: places, checkAll } = rulesOf(type, source)
  const withTime = type === 'service' ? rules : { ...rules, ...timeRules }
  const known = places === undefined ? withTime : { ...withTime, secrets: namedSecrets }
  const problems = new Problems('source', found)
  check(source, { rules: known, required }, problems)
  checkAll?.(source, problems)
  if (places !== undefined) checkNamedSecrets(source, { places, rules }, problems)
  const topicProblem = ownTopicProblem(source)
  if (topicProblem !== undefined) problems.add('topic', topicProblem)
  return source
}

/** All keys that a source of this kind may say something with; some may not stand beside each other. */
export function sourceKeys(type: StreamType, source: Json): readonly string[] {
  const { rules } = rulesOf(type, source)
  return Object.keys(type === 'service' ? rules : { ...rules, ...timeRules })
}

/** The types that name a domain take whatever their protocol takes (decisions.md#definitions). */
function rulesOf(type: StreamType, source: Json): SourceRules {
  const { protocol, follow } = source
  switch (type) {
    case 'iot_sensor':
      if (isObserved(source)) return listenedSource(deviceProtocols, protocol)
      return deviceSource(deviceProtocols)
    case 'api_pull':
      return apiSource
    case 'database':
      return databaseSource(databaseProtocols, follow)
    case 'event_stream':
      return listenedSource(eventProtocols, protocol)
    case 'service':
      return { rules: {}, required: [] }
    case 'manufacturing':
    case 'building_systems':
    case 'occupancy':
      if (databaseProtocols.some((known) => known === protocol)) {
        return databaseSource(allProtocols, follow)
      }
      if (isListenedProtocol(protocol) || isObserved(source)) {
        return listenedSource(allProtocols, protocol)
      }
      return deviceSource(allProtocols)
    default:
      return type satisfies never
  }
}

const allProtocols = [
  ...deviceProtocols,
  ...databaseProtocols,
  ...eventProtocols,
  ...industrialProtocols,
]

const asked: readonly StreamType[] = ['api_pull', 'database']

const pushedKeys = ['deviceId', 'protocol', ...formatKeys, ...Object.keys(timeRules)]

/** Keys that would be stored and then silently not be done. */
export function unsupportedSource(type: StreamType, source: Json): readonly ErrorDetail[] {
  const { protocol } = source
  if (isListenedProtocol(protocol)) {
    if (isSpokenProtocol(protocol)) return []
    const message = `this version has no connector for ${String(protocol)}`
    return [{ path: 'source.protocol', message }]
  }
  if (isObserved(source)) return []
  if (asked.includes(type) || databaseProtocols.some((known) => known === protocol)) return []
  const details: ErrorDetail[] = []
  const taken = ownTopicOf(source) === undefined ? pushedKeys : [...pushedKeys, 'topic']
  if (protocol !== undefined && protocol !== 'mqtt' && protocol !== 'http') {
    details.push({
      path: 'source.protocol',
      message: 'this version takes mqtt, http and databases',
    })
  }
  if (source['endpoint'] !== undefined) return details
  for (const key of Object.keys(source)) {
    if (taken.includes(key)) continue
    details.push({ path: `source.${key}`, message: 'this version only takes pushed readings' })
  }
  return details
}
