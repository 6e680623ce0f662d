import { isObject } from '../../contracts/definitions/field-map.ts'
import { type Fields, newField, oneOf as oneOfField } from '../../contracts/definitions/fields.ts'
import {
  check,
  type Json,
  oneOf,
  type Problems,
  type Rule,
} from '../../contracts/definitions/problems.ts'
import type { ItemsForm, ItemsLevel, TimeUnit } from '../../contracts/mapping.ts'
import { parsePath } from '../../contracts/path.ts'
import { isOwnKey } from './source-kinds.ts'

/** Levels between a message and its readings. */
const levelsMax = 4

/** Places of a row that have names. */
const columnsMax = 256

const nameLengthMax = 200

const forms = [
  'list',
  'map',
  'columns',
  'rows',
  'samples',
  'pivot',
] as const satisfies readonly ItemsForm[]

const units = ['s', 'ms', 'us', 'ns'] as const satisfies readonly TimeUnit[]

const path: Rule = (value, key, problems) => {
  const parsed = typeof value === 'string' ? parsePath(value) : { problem: 'must be a path' }
  if ('problem' in parsed) problems.add(key, parsed.problem)
  else if (parsed.root !== 'item') problems.add(key, 'must begin at what encloses the readings')
}

/** A path to what stands beside readings, or around them. */
const pathAround: Rule = (value, key, problems) => {
  const parsed = typeof value === 'string' ? parsePath(value) : { problem: 'must be a path' }
  if ('problem' in parsed) problems.add(key, parsed.problem)
  else if (!['item', 'parent', 'message'].includes(parsed.root)) {
    problems.add(key, 'must lead into the message')
  }
}

const name: Rule = (value, key, problems) => {
  if (value === '__proto__') problems.add(key, 'is not a name of a field')
  if (typeof value === 'string' && value !== '' && value.length <= nameLengthMax) return
  problems.add(key, `must be a name of 1 to ${nameLengthMax} characters`)
}

const columns: Rule = (value, key, problems) => {
  if (typeof value === 'string') {
    pathAround(value, key, problems)
    return
  }
  const listed: readonly unknown[] = Array.isArray(value) ? value : []
  if (listed.length === 0 || listed.length > columnsMax) {
    problems.add(key, `must be an array of 1 to ${columnsMax} names, or the path of one`)
    return
  }
  for (const [index, one] of listed.entries()) {
    if (one !== null) name(one, `${index}`, problems.within(key))
  }
}

const interval: Rule = (value, key, problems) => {
  if (typeof value === 'string') pathAround(value, key, problems)
  else if (typeof value !== 'number' || !Number.isFinite(value)) {
    problems.add(key, 'must be a number of units, or the path of one')
  }
}

const rules = {
  path,
  as: oneOf(...forms),
  key: name,
  value: name,
  columns,
  start: pathAround,
  interval,
  unit: oneOf(...units),
  name: path,
  time: path,
}

/** The forms that each key is for; the others are for all. */
const usersOf: Readonly<Record<string, readonly ItemsForm[]>> = {
  key: ['map'],
  value: ['list', 'map', 'samples', 'pivot'],
  columns: ['rows', 'samples'],
  start: ['samples'],
  interval: ['samples'],
  unit: ['samples'],
  name: ['pivot'],
  time: ['pivot'],
}

const requiredOf: Partial<Record<ItemsForm, readonly string[]>> = {
  rows: ['columns'],
  samples: ['start', 'interval'],
}

const level = (value: Json, problems: Problems): void => {
  const as = (value['as'] as ItemsForm | undefined) ?? 'list'
  check(value, { rules, required: ['path', ...(requiredOf[as] ?? [])] }, problems)
  for (const [key, users] of Object.entries(usersOf)) {
    if (value[key] === undefined || !forms.includes(as) || users.includes(as)) continue
    problems.add(key, `has no effect with ${as}: it is for ${users.join(', ')}`)
  }
  if (as === 'pivot' && value['value'] !== undefined) path(value['value'], 'value', problems)
}

const items: Rule = (value, key, problems) => {
  if (typeof value === 'string') {
    path(value, key, problems)
    return
  }
  const levels: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (levels.length === 0 || levels.length > levelsMax) {
    problems.add(key, `must have 1 to ${levelsMax} levels`)
    return
  }
  for (const [index, one] of levels.entries()) {
    const inner = Array.isArray(value)
      ? problems.within(key).within(`${index}`)
      : problems.within(key)
    if (isObject(one)) level(one, inner)
    else if (typeof one === 'string') path(one, '', inner)
    else inner.add('', 'must be a path, or an object with one')
  }
  for (const [index, one] of levels.slice(0, -1).entries()) {
    const as = isObject(one) ? (one['as'] ?? 'list') : 'list'
    if (as === 'list' || as === 'map') continue
    problems.within(key).within(`${index}`).add('as', 'must be list or map: another level follows')
  }
}

const levelSchema = {
  type: 'object',
  required: ['path'],
  additionalProperties: false,
  properties: {
    path: { type: 'string' },
    as: { type: 'string', enum: forms, default: 'list' },
    key: { type: 'string', maxLength: nameLengthMax },
    value: { type: 'string' },
    columns: {
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: ['string', 'null'] } }],
    },
    start: { type: 'string' },
    interval: { type: ['number', 'string'] },
    unit: { type: 'string', enum: units, default: 's' },
    name: { type: 'string' },
    time: { type: 'string' },
  },
}

const extraField = oneOfField('keep', 'drop')

/** The keys of a source that say where in a message its readings are, and what becomes of the rest. */
export const itemsFields = {
  items: {
    ...newField<string | ItemsLevel | readonly (string | ItemsLevel)[]>(items, {
      anyOf: [
        { type: 'string' },
        levelSchema,
        {
          type: 'array',
          minItems: 1,
          maxItems: levelsMax,
          items: { anyOf: [{ type: 'string' }, levelSchema] },
        },
      ],
    }),
    doc: '[where the readings are](payload-formats.md#where-the-readings-are) in a message that is not a reading itself',
  },
  extra: {
    ...extraField,
    default: 'keep',
    doc: '`keep` what is not a field of a reading under `extra`, or `drop` it: [what no field reads](payload-formats.md#what-is-not-read)',
  },
} satisfies Fields

/** Formats whose messages are no trees: their readings are found already. */
const flatFormats: readonly unknown[] = [
  'plain',
  'csv',
  'form',
  'senml-json',
  'senml-cbor',
  'sparkplug',
]

/** Refuses levels in a message that has none. */
export function checkItems({ items: given, format }: Json, problems: Problems): void {
  if (given === undefined || !flatFormats.includes(format)) return
  problems.add('items', `has no effect with ${String(format)}, whose readings are found already`)
}

/** The levels of a source that was checked; undefined: a message is a reading, or a list of some. */
export function itemsOf(source: Json): readonly ItemsLevel[] | undefined {
  const { items: given } = source
  // Items of OPC UA are nodes that are followed.
  if (given === undefined || isOwnKey('items', source)) return undefined
  const levels: readonly unknown[] = Array.isArray(given) ? given : [given]
  return levels.flatMap((one): readonly ItemsLevel[] => {
    if (typeof one === 'string') return [{ path: one, as: 'list' }]
    // What is no level has been refused.
    return isObject(one) ? [{ ...(one as Partial<ItemsLevel> & Json), ...levelDefaults(one) }] : []
  })
}

function levelDefaults({ path: given = '', as = 'list' }: Json): Pick<ItemsLevel, 'path' | 'as'> {
  return { path: String(given), as: as as ItemsForm }
}
