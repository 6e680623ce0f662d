import type { MessageContext } from '../../src/contracts/mapping.ts'
import { type Item, isObject, setMember, valueAt } from './item.ts'
import { type Level, LevelProblem, notA } from './level.ts'
import { freeElements } from './reserved.ts'

/** Characters of the names of columns that the readings of one list have, all together. */
const namesLengthMax = 32 * 1024 * 1024

/** Arrays side by side, each with one value for each item. What stands beside them and is no array belongs to no item. */
export function columnItems(node: unknown, parent: Item, level: Level): readonly Item[] {
  if (!isObject(node)) throw notA('an object of lists', level)
  const { names } = level.reserved
  const columns = Object.entries(node).filter(
    (entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && !names.has(entry[0]),
  )
  const [first] = columns
  if (first === undefined) {
    if (Object.keys(node).length === 0) return []
    throw notA('an object of lists', level)
  }
  const other = columns.find(([, values]) => values.length !== first[1].length)
  if (other !== undefined) {
    const lengths = `${lengthOf(first)} and ${lengthOf(other)}`
    throw new LevelProblem(`${level.place}.path`, `has lists of two lengths: ${lengths}`)
  }
  const length = columns.reduce((sum, [name]) => sum + name.length, 0) * first[1].length
  if (length > namesLengthMax) {
    const what = `${columns.length} lists of ${first[1].length} values, with too long names`
    throw new LevelProblem(`${level.place}.path`, `has ${what}: each reading has them`)
  }
  return first[1].map((_, selection) => {
    const value: Record<string, unknown> = {}
    for (const [name, values] of columns) setMember(value, name, values[selection])
    return { value, raw: value, parent, selection, depth: parent.depth + 1 }
  })
}

function lengthOf([name, values]: readonly [string, readonly unknown[]]): string {
  return `${name.slice(0, 100)} has ${values.length} values`
}

/** Arrays as records: the names of their places are said, or stand in the message. */
export function rowItems(
  node: unknown,
  parent: Item,
  level: Level,
  context: MessageContext,
): readonly Item[] {
  if (!Array.isArray(node)) throw notA('a list of rows', level)
  const names = namesOf(parent, level, context)
  return freeElements(node, level.reserved).map((raw, selection) => {
    return { value: rowOf(raw, names), raw, parent, selection, depth: parent.depth + 1 }
  })
}

/** The row as an object; what is no row stays what it is, and is refused as a reading. */
export function rowOf(raw: unknown, names: readonly (string | null)[]): unknown {
  if (!Array.isArray(raw)) return raw
  const value: Record<string, unknown> = {}
  const { length } = raw
  for (let place = 0; place < length && place < names.length; place++) {
    const name = names[place]
    if (typeof name === 'string') setMember(value, name, raw[place])
  }
  return value
}

/** Names that stand in a message may be objects that have one, as columns of SQL over HTTP are. */
export function namesOf(
  parent: Item,
  { columns = [], place }: Level,
  context: MessageContext,
): readonly (string | null)[] {
  if (!('root' in columns)) return columns
  const found = valueAt(parent, columns, context)
  if (!Array.isArray(found)) {
    throw new LevelProblem(`${place}.columns`, `leads to no list of names: ${columns.text}`)
  }
  return found.map((one: unknown) => {
    const name = isObject(one) ? one['name'] : one
    return typeof name === 'string' ? name : null
  })
}
