import { canonicalJson } from '../../src/core/canonical-json.ts'
import { type Item, isObject, messageItem, setMember, valueAt } from './item.ts'
import { type Level, LevelProblem, notA, type PlacedContext } from './level.ts'
import { freeElements } from './reserved.ts'

interface Entry {
  readonly selection: number | string
  readonly name: string
  readonly value: unknown
  readonly time: unknown
}

/**
 * Entries of a name and a value, of which those of one time are one reading. An entry whose name its reading has
 * already begins another one of that time. The entries may also be the members of an object, each called by its name.
 */
export function pivotItems(
  node: unknown,
  parent: Item,
  level: Level,
  context: PlacedContext,
): readonly Item[] {
  const groups = new Map<string, Entry[]>()
  const seen = new Map<string, number>()
  for (const entry of entriesOf(node, level, context)) {
    const time = timeKey(entry.time)
    const key = `${time}\n${entry.name}`
    const count = seen.get(key) ?? 0
    seen.set(key, count + 1)
    const group = groups.get(`${count} ${time}`)
    if (group === undefined) groups.set(`${count} ${time}`, [entry])
    else group.push(entry)
  }
  return [...groups.values()].map((group) => itemOf(group, parent, level))
}

function itemOf(group: readonly Entry[], parent: Item, level: Level): Item {
  const value: Record<string, unknown> = {}
  for (const entry of group)
    if (entry.value !== undefined) setMember(value, entry.name, entry.value)
  const selection = group.map((entry) => entry.selection) as readonly number[] | readonly string[]
  const item = { value, raw: value, parent, selection, depth: parent.depth + 1 }
  const time = group[0]?.time
  if (level.time === undefined || time === undefined) return item
  return { ...item, claimedUs: level.readTime({ value: time }) }
}

function entriesOf(node: unknown, level: Level, context: PlacedContext): readonly Entry[] {
  if (isObject(node)) {
    const entries = Object.entries(node).filter(([name]) => !level.reserved.names.has(name))
    return entries.map(([name, raw]) => ({
      ...entryOf(raw, level, context),
      selection: name,
      name,
    }))
  }
  if (!Array.isArray(node)) throw notA('a list of names and values', level)
  return freeElements(node, level.reserved).map((raw, selection) => {
    const name = valueAt(messageItem(raw), level.name, context)
    if (typeof name !== 'string' && typeof name !== 'number') {
      const where = `in entry ${selection}: there is no name at ${level.name.text}`
      throw new LevelProblem(`${level.place}.name`, `leads nowhere ${where}`)
    }
    return { ...entryOf(raw, level, context), selection, name: String(name) }
  })
}

function entryOf(
  raw: unknown,
  level: Level,
  context: PlacedContext,
): Pick<Entry, 'value' | 'time'> {
  const item = messageItem(raw)
  return {
    value: valueAt(item, level.value, context),
    time: level.time && valueAt(item, level.time, context),
  }
}

/** One text for each value that a time is written as. */
function timeKey(time: unknown): string {
  if (time === undefined) return ''
  return typeof time === 'number' ? `number ${time}` : canonicalJson(time)
}
