import { follow, type Path, type Step } from '../../src/contracts/path.ts'
import { type Item, isObject, setMember } from './item.ts'
import type { Level } from './level.ts'
import { amongReserved } from './reserved.ts'

/** JSON of what stands around an item, up to which all of it is kept with the item. */
const aroundLengthMax = 16 * 1024

/** Paths that begin at a message or at an item that encloses others, by how many levels that is below the message. */
export type ReadPaths = readonly (readonly Path[])[]

/**
 * The message with one item of it, and with what stands around that: all of it where that is little, else what the
 * mapping reads. A later mapping finds the item in it at the same path.
 */
export function keptMessage(
  item: Item,
  levels: readonly Level[],
  { reads, budget }: { readonly reads: ReadPaths; readonly budget: number },
): unknown {
  const whole = around(item, levels, (parent) => parent.raw)
  const roomFor = Math.min(aroundLengthMax, budget) + jsonLength(item.raw)
  if (jsonLength(whole) <= roomFor) return whole
  return around(item, levels, (parent) => picked(parent.raw, reads[parent.depth] ?? []))
}

/** Builds the message from its item outwards. */
function around(
  item: Item,
  levels: readonly Level[],
  surroundings: (parent: Item) => unknown,
): unknown {
  let kept = item.raw
  let inner = item
  for (let { parent } = item; parent !== undefined; { parent } = parent) {
    const level = levels[parent.depth] as Level
    const node = selected(follow(parent.raw, level.steps), inner, kept, level)
    const original = parent.raw
    kept = withNode(surroundings(parent), level.steps, { node, original })
    inner = parent
  }
  return kept
}

/** What stands at the path of a level, with one item in it, and what other paths read. */
function selected(node: unknown, { selection }: Item, kept: unknown, level: Level): unknown {
  const { given, reserved } = level
  if (Array.isArray(node)) {
    return amongReserved(node, keptElements(node, selection, kept, level), reserved)
  }
  if (!isObject(node) || selection === undefined) return kept
  const members: Record<string, unknown> = {}
  for (const name of Object.keys(node)) {
    const isColumn = given.as === 'columns' && Array.isArray(node[name])
    if (reserved.names.has(name) || (given.as === 'columns' && !isColumn)) {
      setMember(members, name, node[name])
    } else if (isColumn) setMember(members, name, [follow(kept, [name])])
    else if (selection === name) setMember(members, name, kept)
    else if (Array.isArray(selection) && selection.some((one) => one === name)) {
      setMember(members, name, node[name])
    }
  }
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

/**
 * A copy along a path, at the end of which stands another node.
 *
 * @param original what it is a part of: of a list that is not in the part, each place is kept without its element
 */
function withNode(
  value: unknown,
  steps: readonly Step[],
  { node, original }: { readonly node: unknown; readonly original: unknown },
): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return node
  const inner = { node, original: follow(original, [step]) }
  if (typeof step === 'number') {
    const places: readonly unknown[] = Array.isArray(original) ? original : []
    const list: readonly unknown[] = Array.isArray(value) ? value : places.map(() => null)
    const index = step < 0 ? list.length + step : step
    return list.map((one, at) => (at === index ? withNode(one, rest, inner) : one))
  }
  const members: Record<string, unknown> = {}
  if (isObject(value)) for (const name of Object.keys(value)) setMember(members, name, value[name])
  setMember(members, step, withNode(follow(members, [step]), rest, inner))
  return members
}

/** The parts of a value that paths lead to. A list is kept whole: its places are counted from either end. */
function picked(value: unknown, paths: readonly Path[]): unknown {
  let kept: unknown = {}
  for (const { steps } of paths) {
    const found = follow(value, throughNames(steps))
    const node = { node: found, original: value }
    if (found !== undefined) kept = withNode(kept, throughNames(steps), node)
  }
  return kept
}

/** The steps up to the first index. */
function throughNames(steps: readonly Step[]): readonly Step[] {
  const index = steps.findIndex((step) => typeof step === 'number')
  return index < 0 ? steps : steps.slice(0, index)
}

/** Reckons how much of what encloses items each of them is read, or kept, with. */
export class SharedLengths {
  readonly #reads: ReadPaths
  readonly #known = new Map<Item, number>()

  constructor(reads: ReadPaths) {
    this.#reads = reads
  }

  /** Characters of JSON. Items of one parent share them. */
  of({ parent }: Item): number {
    if (parent === undefined) return 0
    const known = this.#known.get(parent)
    if (known !== undefined) return known
    const paths = this.#reads[parent.depth] ?? []
    const own = paths.length === 0 ? 0 : jsonLength(picked(parent.raw, paths))
    const length = own + this.of(parent)
    this.#known.set(parent, length)
    return length
  }
}

function jsonLength(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}
