import { follow, type Path, type Step } from '../../src/contracts/path.ts'
import { type Item, isObject, setMember } from './item.ts'
import type { Level } from './level.ts'

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
    kept = withNode(surroundings(parent), level.steps, node)
    inner = parent
  }
  return kept
}

/** What stands at the path of a level, with nothing but one item in it. */
function selected(node: unknown, { selection }: Item, kept: unknown, { given }: Level): unknown {
  if (given.as === 'columns' && isObject(node) && isObject(kept)) return oneOfEach(node, kept)
  if (Array.isArray(selection)) return selectedEntries(node, selection)
  if (typeof selection === 'string') return { [selection]: kept }
  return selection === undefined ? kept : [kept]
}

function oneOfEach(
  node: Readonly<Record<string, unknown>>,
  kept: Readonly<Record<string, unknown>>,
) {
  const columns: Record<string, unknown> = {}
  for (const name of Object.keys(node)) {
    setMember(columns, name, Array.isArray(node[name]) ? [kept[name]] : node[name])
  }
  return columns
}

function selectedEntries(node: unknown, selection: readonly (number | string)[]): unknown {
  if (Array.isArray(node)) return selection.map((index) => node[Number(index)] as unknown)
  const entries: Record<string, unknown> = {}
  for (const name of selection) setMember(entries, String(name), follow(node, [name]))
  return entries
}

/** A copy along a path, at the end of which stands another node. */
function withNode(value: unknown, steps: readonly Step[], node: unknown): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return node
  if (typeof step === 'number') {
    const list: readonly unknown[] = Array.isArray(value) ? value : []
    const index = step < 0 ? list.length + step : step
    return list.map((one, at) => (at === index ? withNode(one, rest, node) : one))
  }
  const members: Record<string, unknown> = {}
  if (isObject(value)) for (const name of Object.keys(value)) setMember(members, name, value[name])
  setMember(members, step, withNode(members[step], rest, node))
  return members
}

/** The parts of a value that paths lead to. A list is kept whole: its places are counted from either end. */
function picked(value: unknown, paths: readonly Path[]): unknown {
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
