import { type Item, isObject, setMember } from './item.ts'
import { type Level, notA } from './level.ts'
import { freeElements } from './reserved.ts'

/** An object in place of a list is a list of one: some senders have it so. */
export function listItems(node: unknown, parent: Item, level: Level): readonly Item[] {
  const depth = parent.depth + 1
  if (isObject(node)) return [{ value: node, raw: node, parent, selection: undefined, depth }]
  if (!Array.isArray(node)) throw notA('a list', level)
  const { value: name = 'value' } = level.given
  return freeElements(node, level.reserved).map((raw, selection) => {
    return { value: objectOf(raw, name), raw, parent, selection, depth }
  })
}

/** The members of an object; each has its key as a member of its own. */
export function mapItems(node: unknown, parent: Item, level: Level): readonly Item[] {
  if (!isObject(node)) throw notA('an object', level)
  const { key = 'key', value: name = 'value' } = level.given
  const { names } = level.reserved
  const entries = Object.entries(node).filter(([own]) => !names.has(own))
  return entries.map(([selection, raw]) => {
    const value: Record<string, unknown> = {}
    if (!isObject(raw)) setMember(value, name, raw)
    else for (const member of Object.keys(raw)) setMember(value, member, raw[member])
    setMember(value, key, selection)
    return { value, raw, parent, selection, depth: parent.depth + 1 }
  })
}

/** What holds no others is the only member of an object. */
export function objectOf(raw: unknown, name: string): unknown {
  const isLeaf = typeof raw !== 'object' || raw === null
  if (!isLeaf || raw === undefined) return raw
  const value: Record<string, unknown> = {}
  setMember(value, name, raw)
  return value
}
