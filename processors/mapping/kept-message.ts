import { follow, type Path, type Step } from '../../src/contracts/path.ts'
import { type Item, isObject, setMember } from './item.ts'
import type { Level } from './level.ts'
import { amongReserved } from './reserved.ts'

/** JSON of what stands around an item, up to which all of it is kept with the item. */
const aroundLengthMax = 16 * 1024

/** Paths that begin at a message or at an item that encloses others, by how many levels that is below the message. */
export type ReadPaths = readonly (readonly Path[])[]

/** The message with one item of it, and with what stands around that. A later mapping finds the item in it at the same path. */
export class KeptMessages {
  readonly #levels: readonly Level[]
  readonly #reads: ReadPaths
  readonly #lengthMax: number
  /** How much of JSON stands around the items of what encloses them. */
  readonly #known = new Map<Item, number>()

  /** @param budget characters of JSON that each of them may have around it */
  constructor(levels: readonly Level[], reads: ReadPaths, budget: number) {
    this.#levels = levels
    this.#reads = reads
    this.#lengthMax = Math.min(aroundLengthMax, budget)
  }

  /** All that stands around the item where that is little, else what the mapping reads. */
  of(item: Item): unknown {
    if (this.#lengthAround(item) <= this.#lengthMax) {
      return around(item, this.#levels, { isWhole: true, of: ({ raw }) => raw })
    }
    const of = ({ raw, depth }: Item) => picked(raw, this.#reads[depth] ?? [])
    return around(item, this.#levels, { isWhole: false, of })
  }

  /** Items of one parent share it, and it is reckoned once. */
  #lengthAround({ parent }: Item): number {
    if (parent === undefined) return 0
    const known = this.#known.get(parent)
    if (known !== undefined) return known
    const { raw, depth } = parent
    const level = this.#levels[depth] as Level
    const original = follow(raw, level.steps)
    const node = withoutItems(original, level)
    const length = jsonLength(withNode(raw, level.steps, node))
    const all = length + this.#lengthAround(parent)
    this.#known.set(parent, all)
    return all
  }
}

function withoutItems(node: unknown, level: Level): unknown {
  if (Array.isArray(node)) return amongReserved(node, [], level.reserved)
  return isObject(node) ? besideItems(node, level) : null
}

interface Surroundings {
  /** Whether all that stands beside items is kept, or what paths read. */
  readonly isWhole: boolean
  readonly of: (parent: Item) => unknown
}

/** Builds the message from its item outwards. */
function around(item: Item, levels: readonly Level[], surroundings: Surroundings): unknown {
  let kept = item.raw
  let inner = item
  for (let { parent } = item; parent !== undefined; { parent } = parent) {
    const level = levels[parent.depth] as Level
    const whole = follow(parent.raw, level.steps)
    const beside = surroundings.isWhole ? besideItems : reservedMembers
    const node = selected(whole, { item: inner, kept, beside }, level)
    kept = withNode(surroundings.of(parent), level.steps, node)
    inner = parent
  }
  return kept
}

/** What stands at the path of a level, with one item in it, and what other paths read. */
function selected(
  node: unknown,
  { item: { selection }, kept, beside }: Selected,
  level: Level,
): unknown {
  if (Array.isArray(node)) {
    return amongReserved(node, keptElements(node, selection, kept, level), level.reserved)
  }
  if (!isObject(node) || selection === undefined) return kept
  const members = beside(node, level)
  if (level.given.as === 'columns') {
    for (const [name, value] of Object.entries(kept as object)) setMember(members, name, [value])
  } else if (Array.isArray(selection)) {
    for (const name of selection) setMember(members, String(name), node[name])
  } else setMember(members, String(selection), kept)
  return members
}

interface Selected {
  readonly item: Item
  readonly kept: unknown
  readonly beside: (
    node: Readonly<Record<string, unknown>>,
    level: Level,
  ) => Record<string, unknown>
}

/** What stands at the path of a level beside all of its items. */
function besideItems(
  node: Readonly<Record<string, unknown>>,
  level: Level,
): Record<string, unknown> {
  const members = reservedMembers(node, level)
  if (level.given.as !== 'columns') return members
  for (const name of Object.keys(node)) {
    if (!Array.isArray(node[name])) setMember(members, name, node[name])
  }
  return members
}

function reservedMembers(
  node: Readonly<Record<string, unknown>>,
  { reserved: { names } }: Level,
): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const name of names) if (Object.hasOwn(node, name)) setMember(members, name, node[name])
  return members
}

/** Entries that are one reading together, or the one that is. */
function keptElements(
  node: readonly unknown[],
  selection: Item['selection'],
  kept: unknown,
  { reserved: { head } }: Level,
): readonly unknown[] {
  if (!Array.isArray(selection)) return [kept]
  return selection.map((index) => node[head + Number(index)])
}

/** A copy along a path, at the end of which stands another node. Of a list that is not there the places before it are. */
function withNode(value: unknown, steps: readonly Step[], node: unknown): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return node
  if (typeof step === 'number') {
    const places = step < 0 ? -step : step + 1
    const list: readonly unknown[] = Array.isArray(value)
      ? value
      : Array.from({ length: places }, () => null)
    const index = step < 0 ? list.length + step : step
    return list.map((one, at) => (at === index ? withNode(one, rest, node) : one))
  }
  const members: Record<string, unknown> = {}
  if (isObject(value)) for (const name of Object.keys(value)) setMember(members, name, value[name])
  setMember(members, step, withNode(follow(members, [step]), rest, node))
  return members
}

/** The parts of a value that paths lead to. A list is kept whole: its places are counted from either end. */
export function picked(value: unknown, paths: readonly Path[]): unknown {
  let kept: unknown = {}
  for (const { steps } of paths) {
    const found = follow(value, throughNames(steps))
    if (found !== undefined) kept = withNode(kept, throughNames(steps), found)
  }
  return kept
}

/** The steps up to the first index. */
function throughNames(steps: readonly Step[]): readonly Step[] {
  const index = steps.findIndex((step) => typeof step === 'number')
  return index < 0 ? steps : steps.slice(0, index)
}

/** Characters of JSON. */
export function jsonLength(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}
