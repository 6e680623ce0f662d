import { timezone } from '../../../connectors/fields/time-zones.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import {
  checkFields,
  duration,
  type Fields,
  newField,
  oneOf,
} from '../../contracts/definitions/fields.ts'
import { type Json, Problems } from '../../contracts/definitions/problems.ts'
import type { SourceKind } from '../../contracts/definitions/source-kind.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { checkEventTypes, eventTypeFields } from './event-types.ts'
import { checkItems, itemsFields } from './items.ts'
import { checkNamedSecrets, secretsField } from './named-secrets.ts'
import { formatFields } from './payload-format.ts'
import { scheduleProblem } from './schedule.ts'
import { kindOf, protocolsOf, typesOfProtocol } from './source-kinds.ts'
import { ownTopicProblem } from './stream-topics.ts'
import type { StreamType } from './stream-type.ts'
import { checkTimes, timeFieldsOf } from './time-rules.ts'
import { valueFields } from './value-rules.ts'

const scheduleFields = {
  schedule: {
    ...newField<string>(
      (value, key, problems) => {
        const problem =
          typeof value === 'string' ? scheduleProblem(value) : 'must be a cron expression'
        if (problem !== undefined) problems.add(key, problem)
      },
      { type: 'string' },
    ),
    isRequired: true,
    doc: '[when it is asked](schedules.md): a cron expression, with seconds if it has six fields. Once a second is the most: `* * * * * *`',
  },
  timezone: {
    ...timezone,
    default: 'UTC',
    doc: 'of the schedule, and of times that name no zone',
  },
  jitter: {
    ...duration,
    doc: 'keeps many streams from asking in the same second: each waits a part of it, always the same',
  },
} satisfies Fields

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
  const kind = kindOf(type, source)
  const fields = type === 'service' ? {} : fieldsOf(kind, protocolsOf(type))
  const problems = new Problems('source', found)
  checkFields(source, fields, problems)
  if (fields['eventTypes'] !== undefined) checkEventTypes(source, problems)
  checkItems(source, problems)
  if (kind !== undefined) checkOfKind(source, { kind, fields }, problems)
  if (type !== 'service') checkTimes(source, kind, problems)
  const topicProblem = ownTopicProblem(source)
  if (topicProblem !== undefined) problems.add('topic', topicProblem)
  return source
}

function checkOfKind(
  source: Json,
  { kind, fields }: { readonly kind: SourceKind; readonly fields: Fields },
  problems: Problems,
): void {
  const { checkAll, secretPlaces: places, marks = [] } = kind
  for (const [key, why] of refusedKeys(kind)) {
    if (source[key] !== undefined) problems.add(key, why)
  }
  checkAll?.(source, problems)
  if (places !== undefined) checkNamedSecrets(source, { places, marks, fields }, problems)
}

/** Keys that others of its family have, and that a kind refuses, each with the reason. */
export function refusedKeys({ refuses = {} }: SourceKind): ReadonlyMap<string, string> {
  const { formats, eventTypes } = refuses
  return new Map([...withReason(formatFields, formats), ...withReason(eventTypeFields, eventTypes)])
}

function withReason(fields: Fields, why: string | undefined) {
  return why === undefined ? [] : Object.keys(fields).map((key) => [key, why] as const)
}

/** All keys that a source of this kind may say something with; some may not stand beside each other. */
export function sourceKeys(type: StreamType, source: Json): readonly string[] {
  if (type === 'service') return []
  const fields = fieldsOf(kindOf(type, source), protocolsOf(type))
  return Object.keys(fields).filter((key) => key !== 'secrets')
}

/** What would be stored and then silently not be done. */
export function unsupportedSource(type: StreamType, source: Json): readonly ErrorDetail[] {
  const found: ErrorDetail[] = []
  kindOf(type, source)?.unsupported?.(source, new Problems('source', found))
  return found
}

/**
 * The keys of a kind of source, with those that it shares with others.
 *
 * @param protocols what `protocol` can be; none: there is no such key
 */
export function fieldsOf(kind: SourceKind | undefined, protocols: readonly string[]): Fields {
  const family = kind?.family
  const own = kind && ownAndSharedFields(kind)
  const payloads = kind?.payloads ?? (family === undefined ? 'events' : usualPayloads[family])
  return {
    ...(protocols.length > 0 && {
      protocol: {
        ...protocolIn(protocols),
        isRequired: family !== 'device' || kind?.isUsual !== true,
        doc: 'what is spoken',
      },
    }),
    ...(payloads !== 'none' && formatFields),
    ...(payloads !== 'none' && itemsFields),
    ...(payloads === 'events' && eventTypeFields),
    ...own,
    ...timeFieldsOf(kind),
    ...valueFields,
    // What a kind says of a key of times goes before what is said of it elsewhere.
    ...own,
  }
}

/** One of the protocols of a type; another one has its own types. */
function protocolIn(protocols: readonly string[]): ReturnType<typeof oneOf> {
  const base = oneOf(...protocols)
  return {
    ...base,
    rule: (value, key, problems) => {
      const types = typeof value === 'string' ? typesOfProtocol(value.toLowerCase()) : []
      if (types.length === 0 || protocols.includes(String(value).toLowerCase())) {
        base.rule(value, key, problems)
        return
      }
      const message = `must be one of ${protocols.join(', ')}`
      problems.add(
        key,
        message,
        `Set type to ${types.join(' or ')} for the protocol ${String(value)}.`,
      )
    },
  }
}

/** The keys of a kind that its page is about: its own, and those of a schedule and of secrets. */
export function ownAndSharedFields({ fields, isScheduled, secretPlaces }: SourceKind): Fields {
  return {
    ...fields,
    ...(isScheduled === true && { ...scheduleFields, ...fields }),
    ...(secretPlaces !== undefined && { secrets: secretsField }),
  }
}

const usualPayloads = {
  device: 'formats',
  api: 'formats',
  database: 'none',
  events: 'events',
  machine: 'events',
} as const
