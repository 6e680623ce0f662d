import {
  fieldNameProblem,
  fieldsMax,
  isObject,
  parseFieldMap,
} from '../../contracts/definitions/field-map.ts'
import { valueKeys } from '../../contracts/definitions/field-values.ts'
import { type Fields, newField } from '../../contracts/definitions/fields.ts'
import { type Json, Problems, type Rule } from '../../contracts/definitions/problems.ts'
import type { EventTypes, FieldDefinition, FieldMap } from '../../contracts/stream-schema.ts'
import { memberNamed } from '../../contracts/time-member.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import { cutText } from '../../core/cut-text.ts'
import type { ErrorDetail } from '../../core/errors.ts'

/** Event types of one source: each has a schema of up to 256 fields, and all of them together, too. */
const eventTypesMax = 50

const nameLengthMax = 200

/** Where an event says what it is, if nothing else is said: as CloudEvents and Standard Webhooks have it. */
const usualField = 'type'

const eventTypes: Rule = (value, key, problems) => {
  if (!isObject(value) || Object.keys(value).length === 0) {
    problems.add(key, 'must be an object of at least one type of event')
    return
  }
  const entries = Object.entries(value)
  if (entries.length > eventTypesMax) problems.add(key, `has more than ${eventTypesMax} entries`)
  const inner = problems.within(key)
  for (const [name, fields] of entries.slice(0, eventTypesMax)) {
    if (name === '' || name.length > nameLengthMax) {
      inner.add(cutText(name, 100), `must be named by 1 to ${nameLengthMax} characters`)
    }
    parseFieldMap(fields, inner.pathOf(name), inner.found)
  }
}

const eventTypeField: Rule = (value, key, problems) => {
  const problem =
    typeof value === 'string' ? fieldNameProblem(value, new Set()) : 'must be the name of a field'
  if (problem !== undefined) problems.add(key, problem)
}

/** The keys of a source whose readings are events of several types. */
export const eventTypeFields = {
  eventTypes: {
    ...newField<Json>(eventTypes, {
      type: 'object',
      minProperties: 1,
      maxProperties: eventTypesMax,
      additionalProperties: { type: 'object' },
    }),
    doc: '[a schema for each type of event](event-streams.md#events-of-several-types), by its name',
  },
  eventTypeField: {
    ...newField<string>(eventTypeField, { type: 'string', maxLength: 63 }),
    default: usualField,
    doc: 'the field of a payload that names the type of the event',
  },
} satisfies Fields

/** Says what is wrong with the keys about types of events beside each other. */
export function checkEventTypes(source: Json, problems: Problems): void {
  const { eventTypes: types, eventTypeField: field, timestampField } = source
  if (field !== undefined && types === undefined) {
    problems.add('eventTypeField', 'needs eventTypes')
  }
  const time = typeof timestampField === 'string' ? memberNamed(timestampField) : undefined
  if (types !== undefined && time === (field ?? usualField)) {
    problems.add('timestampField', 'must be another field than the one that names the type')
  }
}

/** The types of the events of a source that was checked, where it has some. */
export function eventTypesOf(source: Json): EventTypes | undefined {
  const { eventTypes: types, eventTypeField: field = usualField } = source
  if (types === undefined) return undefined
  const found: ErrorDetail[] = []
  const maps = Object.entries(types as Json).map(([name, fields]) => [
    name,
    parseFieldMap(fields, name, found),
  ])
  return { field: field as string, types: Object.fromEntries(maps) }
}

/**
 * The schema of all events together: the field that names the type, and whatever one of them may have. A field that
 * several have is one field of the stream, with one type and one unit; what is wrong with it is added to the problems.
 */
export function schemaOfEvents({ field, types }: EventTypes, found: ErrorDetail[]): FieldMap {
  const problems = new Problems('source', found)
  const all: Record<string, FieldDefinition> = { [field]: { type: 'string' } }
  const spellings = new Map([[field.toLowerCase(), field]])
  for (const [event, fields] of Object.entries(types)) {
    const inner = problems.within('eventTypes').within(event)
    for (const [name, { required: _required, ...definition }] of Object.entries(fields)) {
      const first = spellings.get(name.toLowerCase()) ?? name
      if (first !== name) inner.add(name, `must be spelled ${first}, as elsewhere`)
      spellings.set(first.toLowerCase(), first)
      const known = Object.hasOwn(all, first) ? all[first] : undefined
      const problem = known && differenceOf(known, definition)
      if (problem !== undefined) inner.add(name, problem)
      all[first] = known === undefined ? withoutLimits(definition) : known
    }
  }
  if (Object.keys(all).length > fieldsMax) {
    problems.add('eventTypes', `has more than ${fieldsMax} fields in all`)
  }
  return all
}

/** What one event may not have, another may. */
function withoutLimits({ min: _min, max: _max, enum: _enum, ...rest }: FieldDefinition) {
  return rest
}

/** Where a value is, and what it means, is the same in all events. */
const sharedKeys = ['from', ...valueKeys] as const

function differenceOf(known: FieldDefinition, other: FieldDefinition): string | undefined {
  if (known.type !== other.type) return `must be of the type ${known.type}, as elsewhere`
  if (known.unit !== other.unit) {
    return `must have ${known.unit === undefined ? 'no unit' : `the unit ${known.unit}`}, as elsewhere`
  }
  const key = sharedKeys.find((one) => canonicalJson(known[one]) !== canonicalJson(other[one]))
  if (key === undefined) return undefined
  const said = known[key]
  return said === undefined
    ? `must not have ${key}, as elsewhere`
    : `must have the ${key} ${cutText(canonicalJson(said), 100)}, as elsewhere`
}
