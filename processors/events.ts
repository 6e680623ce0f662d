import type { Judge, RefusedReading } from '../src/contracts/reading.ts'
import type { EventTypes, FieldMap, StreamSchema } from '../src/contracts/stream-schema.ts'
import { membersOf } from './mapped-reading.ts'

/** Names of types that a refusal lists: it is kept with each reading that is refused. */
const namesShown = 10

/** Characters of a type that nobody knows. */
const shownLength = 100

/**
 * Judges events of several types, each by the schema of its own. The field that names the type is one of its fields,
 * and cannot be missing. Pure.
 */
export function judgeOfEvents(
  schema: StreamSchema,
  { field, types }: EventTypes,
  judgeOfOne: (schema: StreamSchema) => Judge,
): Judge {
  const { events: _events, ...common } = schema
  const judges = new Map(
    Object.entries(types).map(([name, fields]) => [
      name,
      judgeOfOne({ ...common, fields: ownFields(field, name, fields) }),
    ]),
  )
  // Readings that are no objects, or have a time that cannot be, are refused for that, whatever
  // their type is.
  const judgeOfAny = judgeOfOne({ ...common, validation: 'lenient', fields: {} })
  return (reading, receipt) => {
    const name = nameOf(membersOf(reading), field)
    const judge = typeof name === 'string' ? judges.get(name) : undefined
    if (judge !== undefined) return judge(reading, receipt)
    const verdict = judgeOfAny(reading, receipt)
    if (!verdict.accepted) return verdict
    return { ...unknownType(field, name, [...judges.keys()]), timestampUs: verdict.timestampUs }
  }
}

function ownFields(field: string, name: string, fields: FieldMap): FieldMap {
  return { ...fields, [field]: { type: 'string', required: true, enum: [name] } }
}

function nameOf(reading: unknown, field: string): unknown {
  if (typeof reading !== 'object' || reading === null || !Object.hasOwn(reading, field)) {
    return undefined
  }
  return (reading as Readonly<Record<string, unknown>>)[field]
}

function unknownType(field: string, name: unknown, known: readonly string[]): RefusedReading {
  const shown = known.slice(0, namesShown).join(', ') + (known.length > namesShown ? ', ...' : '')
  const text = typeof name === 'string' ? `'${name.slice(0, shownLength)}' ` : ''
  const problem =
    name === undefined ? 'is required' : `${text}is not a type of event of this stream`
  const detail = { path: field, message: `${problem}: there are ${shown}` }
  const message = `${detail.path} ${detail.message}`
  return {
    accepted: false,
    reason: 'schema_mismatch',
    message,
    details: [detail],
    timestampUs: undefined,
  }
}
