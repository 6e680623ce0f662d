import type { Operations } from '../../../clients/typescript/call.ts'
import { readJson } from '../formats/json-tree.ts'

export type StreamAnswer = Operations['readStream']['answer']

type Json = Readonly<Record<string, unknown>>

/** The part of a stream that a version has. */
export interface Definition {
  readonly name: string
  readonly tags: Json
  readonly source: Json
  readonly schema: Json
  readonly processing: Json
}

export function definitionOf(
  stream: Omit<Definition, 'source' | 'schema' | 'processing' | 'tags'> & {
    readonly tags: object
    readonly source: object
    readonly schema: object
    readonly processing: object
  },
): Definition {
  const { name, tags, source, schema, processing } = stream
  return { name, tags, source, schema, processing } as Definition
}

/** As people read and write it. */
export function textOf(definition: Definition): string {
  return JSON.stringify(definition, null, 2)
}

export type ReadDefinition =
  | { readonly ok: true; readonly definition: Definition }
  | { readonly ok: false; readonly problem: string }

const parts = ['tags', 'source', 'schema', 'processing'] as const
const known: readonly string[] = ['name', ...parts]

/** A definition that somebody has written, as far as its form goes: what it says is for the service to judge. */
export function readDefinition(text: string): ReadDefinition {
  const read = readJson(text)
  if (!read.ok) return { ok: false, problem: read.problem.message }
  const value = JSON.parse(text) as unknown
  if (!isJson(value)) return { ok: false, problem: 'it must be an object' }
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined)
    return { ok: false, problem: `"${unknown}" is not a part of a definition` }
  if (typeof value['name'] !== 'string') return { ok: false, problem: 'name must be a text' }
  for (const part of parts) {
    if (value[part] !== undefined && !isJson(value[part])) {
      return { ok: false, problem: `${part} must be an object` }
    }
  }
  const { name, tags = {}, source = {}, schema = {}, processing = {} } = value
  return { ok: true, definition: { name, tags, source, schema, processing } as Definition }
}

/**
 * What makes one definition of the other, as the service takes it: members that are not named stay, and null
 * takes one away. Undefined where both say the same.
 */
export function changeBetween(before: Definition, after: Definition): Json | undefined {
  const change: Record<string, unknown> = {}
  if (before.name !== after.name) change['name'] = after.name
  for (const part of parts) {
    const members = membersBetween(before[part], after[part])
    if (Object.keys(members).length > 0) change[part] = members
  }
  const { source } = change
  if (isJson(source) && isJson(source['secrets']) && isJson(before.source['secrets'])) {
    // Secrets are kept one by one, so each that is gone is named.
    const secrets = membersBetween(before.source['secrets'], source['secrets'])
    change['source'] = { ...source, secrets }
  }
  return Object.keys(change).length === 0 ? undefined : change
}

/** Members that two changes of one definition set to different things: `schema.temperature`. */
export function clashesOf(one: Json | undefined, other: Json | undefined): readonly string[] {
  const left = placesOf(one ?? {})
  const right = placesOf(other ?? {})
  return [...left]
    .filter(([place, text]) => (right.get(place) ?? text) !== text)
    .map(([place]) => place)
}

/** A definition after such a change. */
export function withChange(before: Definition, change: Json | undefined): Definition {
  if (change === undefined) return before
  const after: Record<string, unknown> = { ...before }
  if (change['name'] !== undefined) after['name'] = change['name']
  for (const part of parts) after[part] = merged(before[part], change[part])
  const source = change['source']
  if (isJson(source) && isJson(source['secrets']) && isJson(before.source['secrets'])) {
    const secrets = merged(before.source['secrets'], source['secrets'])
    after['source'] = { ...(after['source'] as Json), secrets }
  }
  return after as unknown as Definition
}

function merged(before: unknown, change: unknown): Json {
  const members = { ...(before as Json | undefined), ...(change as Json | undefined) }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

function membersBetween(before: Json, after: Json): Record<string, unknown> {
  const members: [string, unknown][] = []
  for (const [name, value] of Object.entries(after)) {
    if (!Object.hasOwn(before, name) || !isSame(before[name], value)) members.push([name, value])
  }
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) members.push([name, null])
  }
  return Object.fromEntries(members)
}

function placesOf(change: Json): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  for (const [part, value] of Object.entries(change)) {
    if (!isJson(value)) places.set(part, JSON.stringify(value))
    else
      for (const [name, member] of Object.entries(value))
        places.set(`${part}.${name}`, sorted(member))
  }
  return places
}

function isSame(left: unknown, right: unknown): boolean {
  return sorted(left) === sorted(right)
}

/** JSON with members in the order of their names. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    isJson(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
