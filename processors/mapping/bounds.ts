import type { MessageContext } from '../../src/contracts/mapping.ts'
import { follow, type Path } from '../../src/contracts/path.ts'
import { type FieldPlan, pathsOfPlan } from './fields.ts'
import { type Item, messageItem, valueAt } from './item.ts'
import { jsonLength, picked, type ReadPaths } from './kept-message.ts'
import type { Level } from './level.ts'

/** Characters of JSON that the readings of one message may have from what encloses them, all together. */
export const sharedLengthMax = 8 * 1024 * 1024

/** Steps along paths that the readings of one message may take, all together: nothing else gets a turn meanwhile. */
const stepsMax = 10_000_000

/** Characters of JSON of a place in a list whose element is not kept. */
const placeLength = 'null,'.length

/** What is asked of all readings of a message, before any of them is read. */
export interface Bounds {
  /** As many readings of one message may take their steps. */
  readonly countMax: number
  /** Why the readings cost too much, if they do. */
  problemOf(items: Iterable<Item>, count: number, context: MessageContext): string | undefined
}

/** The bounds of a mapping: how often it reads the same is known of its paths. */
export function boundsOf(plan: FieldPlan, levels: readonly Level[], reads: ReadPaths): Bounds {
  const paths = pathsOfPlan(plan)
  const steps = paths.reduce((sum, path) => sum + path.steps.length + 1, 0)
  const beside = paths.filter(({ root }) => !['item', 'parent', 'message'].includes(root))
  const twice = readTwice(plan.fields.flatMap((field) => field.paths))
  const places = placesBefore(levels) * placeLength
  const shared = reads.reduce((sum, one) => sum + one.length, beside.length + twice.length)
  const countMax = Math.floor(stepsMax / steps)
  return {
    countMax,
    problemOf: (items, count, context) => {
      if (count > countMax) {
        return `leads to ${count} readings: too many for ${paths.length} paths`
      }
      // One reading that has a part of its message twice is as little as the message.
      if (shared + places === 0 || (count < 2 && shared < 3)) return undefined
      const lengths = new SharedLengths(reads)
      const each = beside.reduce((sum, path) => sum + lengthAt(noItem, path, context), places)
      let length = count * each
      for (const item of items) {
        if (length > sharedLengthMax) break
        length += lengths.of(item)
        for (const path of twice) length += lengthAt(item, path, context)
      }
      if (length <= sharedLengthMax) return undefined
      return `has too much around ${count} readings: each is kept with it`
    },
  }
}

const noItem = messageItem(undefined)

function lengthAt(item: Item, path: Path, context: MessageContext): number {
  return jsonLength(valueAt(item, path, context))
}

/** Paths within an item that lead into what another one leads to: it is in the reading more than once. */
function readTwice(paths: readonly Path[]): readonly Path[] {
  const own = paths.filter(({ root }) => root === 'item')
  const texts = own.map(({ steps }) => steps.map((step) => `${typeof step} ${step}`).join('\n'))
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return own.filter((_, index) => {
    const text = texts[index] ?? ''
    if ((counts.get(text) ?? 0) > 1) return true
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      if (counts.has(text.slice(0, at))) return true
    }
    return text === '' && own.length > 1
  })
}

/** Places of lists before those on the way to the items: each item is kept with them. */
function placesBefore(levels: readonly Level[]): number {
  let places = 0
  for (const { steps } of levels) {
    for (const step of steps) if (typeof step === 'number') places += Math.abs(step)
  }
  return places
}

/** Reckons how much of what encloses items each of them is read, or kept, with. */
class SharedLengths {
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
    const length = this.#read(parent, paths) + this.of(parent)
    this.#known.set(parent, length)
    return length
  }

  /** Several fields may read the same. */
  #read({ raw }: Item, paths: readonly Path[]): number {
    if (paths.length === 0) return 0
    let length = 0
    for (const { steps } of paths) {
      length += jsonLength(follow(raw, steps))
      if (length > sharedLengthMax) return length
    }
    return Math.max(length, jsonLength(picked(raw, paths)))
  }
}
