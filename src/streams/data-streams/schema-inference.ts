import {
  depthMax,
  fieldsMax,
  isObject,
  nameProblem,
} from '../../contracts/definitions/field-map.ts'
import type { FieldDefinition, FieldMap } from '../../contracts/stream-schema.ts'
import { cutText } from '../../core/cut-text.ts'
import { DomainError } from '../../core/errors.ts'
import { parseRfc3339 } from '../../core/time.ts'

/** A list of values is proposed for texts of so few kinds, which came so often. */
const enumValuesMax = 10
const enumSeenMin = 20
const enumLengthMax = 100

/** An array of more elements is refused whatever is declared of it. */
const arrayItemsMax = 10_000

const notesMax = 100

/** Places of fields in all samples, which are kept while these are looked at. */
const placesMax = 10_000

type Kind = 'integer' | 'number' | 'boolean' | 'string' | 'object' | 'array' | 'null' | 'long array'

export interface Note {
  readonly path: string
  readonly message: string
}

export interface InferredSchema {
  readonly schema: FieldMap
  /** What was left out of it, and why. */
  readonly notes: readonly Note[]
}

/** All that was seen at one place of the samples. */
class Seen {
  readonly #room: { places: number }
  times = 0
  readonly kinds = new Set<Kind>()
  min = Number.POSITIVE_INFINITY
  max = Number.NEGATIVE_INFINITY
  isTime = true
  readonly texts = new Set<string>()
  objects = 0
  readonly members = new Map<string, Seen>()
  items: Seen | undefined

  constructor(room: { places: number }) {
    this.#room = room
    if (--room.places >= 0) return
    const message = `the samples have more than ${placesMax.toLocaleString('en')} different fields`
    throw new DomainError('invalid_request', message)
  }

  add(value: unknown): void {
    this.times++
    const kind = kindOf(value)
    this.kinds.add(kind)
    if (typeof value === 'number') {
      this.min = Math.min(this.min, value)
      this.max = Math.max(this.max, value)
    } else if (typeof value === 'string') this.#addText(value)
    else if (kind === 'array')
      for (const item of value as unknown[]) (this.items ??= new Seen(this.#room)).add(item)
    else if (isObject(value)) this.#addObject(value)
  }

  #addText(text: string): void {
    this.isTime &&= typeof parseRfc3339(text) === 'number'
    // One that is too long is still seen to be.
    if (this.texts.size <= enumValuesMax) this.texts.add(text.slice(0, enumLengthMax + 1))
  }

  #addObject(value: Readonly<Record<string, unknown>>): void {
    this.objects++
    for (const [name, member] of Object.entries(value)) {
      let seen = this.members.get(name)
      if (!seen) {
        seen = new Seen(this.#room)
        this.members.set(name, seen)
      }
      seen.add(member)
    }
  }
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length > arrayItemsMax ? 'long array' : 'array'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'string' ? 'string' : 'object'
}

/**
 * A schema that takes every one of the samples, in a lenient stream. What no type fits is left out of
 * it, and is kept under `extra` then. Pure.
 *
 * @throws DomainError `invalid_request` when they have more different fields than are looked at
 */
export function inferSchema(samples: readonly object[]): InferredSchema {
  const all = new Seen({ places: placesMax })
  for (const sample of samples) all.add(sample)
  const building = { notes: [] as Note[], fields: 0 }
  return { schema: fieldsOf(all, '', { building, depth: 1 }), notes: building.notes }
}

interface Place {
  readonly building: { readonly notes: Note[]; fields: number }
  readonly depth: number
}

function fieldsOf(seen: Seen, path: string, place: Place): FieldMap {
  const fields: Record<string, FieldDefinition> = {}
  const taken = new Set<string>()
  for (const [name, member] of seen.members) {
    const memberPath = path === '' ? cutText(name, 100) : `${path}.${cutText(name, 100)}`
    // The time of a reading is no field, and needs no note.
    if (place.depth === 1 && name === 'timestamp') continue
    const problem = nameProblem(name, taken, place.depth)
    if (problem !== undefined) {
      note(place, memberPath, `left out: the name ${problem}`)
      continue
    }
    const field = fieldOf(member, memberPath, place)
    if (!field) continue
    if (++place.building.fields > fieldsMax) {
      note(place, memberPath, `left out: there are more than ${fieldsMax} fields`)
      continue
    }
    taken.add(name.toLowerCase())
    const isRequired = member.times === seen.objects
    fields[name] = isRequired ? { ...field, required: true } : field
  }
  return fields
}

function fieldOf(seen: Seen, path: string, place: Place): FieldDefinition | undefined {
  const kinds = new Set(seen.kinds)
  if (kinds.has('number')) kinds.delete('integer')
  const [kind, ...others] = kinds
  if (others.length > 0) {
    note(place, path, `left out: it is ${[...kinds].toSorted().join(' and ')} in turn`)
    return undefined
  }
  switch (kind) {
    case 'integer':
    case 'number':
      return { type: kind, min: seen.min, max: seen.max }
    case 'boolean':
      return { type: kind }
    case 'string':
      return seen.isTime ? { type: 'datetime' } : { type: 'string', ...enumOf(seen) }
    case 'object':
      return { type: 'object', ...membersOf(seen, path, place) }
    case 'array':
      return { type: 'array', ...itemsOf(seen, path, place) }
    case 'null':
    case 'long array':
    case undefined:
      note(place, path, `left out: no type takes ${kind === 'null' ? 'null' : 'so long an array'}`)
      return undefined
    default:
      return kind satisfies never
  }
}

function enumOf({ times, texts }: Seen): { enum?: readonly string[] } {
  const isFew = texts.size <= enumValuesMax && times >= enumSeenMin && times >= texts.size * 4
  if (!isFew || [...texts].some((text) => text.length > enumLengthMax)) return {}
  return { enum: [...texts].toSorted() }
}

function membersOf(seen: Seen, path: string, place: Place): { fields?: FieldMap } {
  if (place.depth >= depthMax) return {}
  const fields = fieldsOf(seen, path, { ...place, depth: place.depth + 1 })
  return Object.keys(fields).length === 0 ? {} : { fields }
}

function itemsOf({ items }: Seen, path: string, place: Place): { items?: FieldDefinition } {
  if (items === undefined || place.depth >= depthMax) return {}
  const field = fieldOf(items, `${path}.items`, { ...place, depth: place.depth + 1 })
  return field === undefined ? {} : { items: field }
}

function note({ building }: Place, path: string, message: string): void {
  if (building.notes.length < notesMax) building.notes.push({ path, message })
}
