import { expand } from '../../../processors/mapping/expand.ts'
import { type Item, messageItem } from '../../../processors/mapping/item.ts'
import { levelOf } from '../../../processors/mapping/level.ts'

import { reservedBy } from '../../../processors/mapping/reserved.ts'

import { isObject } from '../../contracts/definitions/field-map.ts'
import type { ItemsLevel } from '../../contracts/mapping.ts'
import { follow, type Step } from '../../contracts/path.ts'
import { type Candidate, candidatesAt, hasTimes } from './candidates.ts'
import { leavesOf, newRoom, seenIn, without } from './seen.ts'

/** Levels between a message and its readings (`source.items`). */
const levelsMax = 4

/** Levels of names that a list may stand below. */
const stepsMax = 6

/** Places that are looked at, and messages that they are looked for in. */
const placesMax = 1_000
const holdersMax = 20

/** Readings of the samples that are looked at, of all messages together. */
const itemsMax = 20_000

/** How sure it has to be that a list holds readings, and is no part of one. */
const scoreMin = 3

/** Readings within messages, and the levels that lead to them. */
export interface FoundItems {
  readonly levels: readonly ItemsLevel[]
  readonly items: readonly Item[]
}

/** Where the readings are in messages that are none themselves: places that all of them have. Pure. */
export function findItems(
  messages: readonly unknown[],
  {
    latestUs,
    levelsWanted = levelsMax,
  }: { readonly latestUs: number; readonly levelsWanted?: number },
): FoundItems {
  let found: FoundItems = { levels: [], items: messages.map(messageItem) }
  while (found.levels.length < Math.min(levelsMax, levelsWanted)) {
    const last = found.levels.at(-1)
    if (last !== undefined && last.as !== 'list' && last.as !== 'map') return found
    const level = bestLevel(found.items, latestUs)
    if (level === undefined) return found
    const levels = [...found.levels, level]
    const items = itemsWithin(messages, levels)
    if (items.length === 0) return found
    found = { levels, items }
  }
  return found
}

/** What the levels lead to. Messages that they lead nowhere in are left out. */
export function itemsWithin(
  messages: readonly unknown[],
  levels: readonly ItemsLevel[],
): readonly Item[] {
  const compiled = levels.map((given, index) => {
    const level = levelOf(given, `source.items.${index}`, () => 0)
    return { ...level, reserved: reservedBy([], level.steps) }
  })
  const items: Item[] = []
  for (const message of messages) {
    const found =
      compiled.length === 0 ? [messageItem(message)] : expand(messageItem(message), compiled, {})
    for (const item of found) if (item.failure === undefined) items.push(item)
    if (items.length >= itemsMax) break
  }
  return items.slice(0, itemsMax)
}

function bestLevel(items: readonly Item[], latestUs: number): ItemsLevel | undefined {
  const holders = items.map(({ raw }) => raw)
  let best: Candidate | undefined
  for (const steps of placesInSome(holders)) {
    const nodes = holders.map((holder) => follow(holder, steps))
    if (nodes.some((node) => typeof node !== 'object' || node === null)) continue
    for (const candidate of candidatesAt({ steps, nodes, holders, latestUs })) {
      const { scoreAlone = 0 } = candidate
      const isMoreBeside = isMoreLost(holders, steps, latestUs)
      const score = candidate.score + (isMoreBeside ? -2 : scoreAlone)
      const reckoned = { ...candidate, score }
      if (reckoned.score >= scoreMin && reckoned.score > (best?.score ?? 0)) best = reckoned
    }
  }
  return best?.level
}

/** Places of the first ones: what is empty in one may lead further in another. */
function placesInSome(holders: readonly unknown[]): readonly (readonly Step[])[] {
  const places = new Map<string, readonly Step[]>()
  for (const holder of holders.slice(0, holdersMax)) {
    for (const steps of placesIn(holder)) {
      if (places.size < placesMax) places.set(JSON.stringify(steps), steps)
    }
  }
  return [...places.values()].toSorted((left, right) => left.length - right.length)
}

/** Ways to objects and lists that are in no other list, the shortest ones first. */
function placesIn(value: unknown): readonly (readonly Step[])[] {
  const places: Step[][] = [[]]
  for (const steps of places) {
    const node = follow(value, steps)
    if (!isObject(node) || steps.length >= stepsMax) continue
    for (const [name, member] of Object.entries(node)) {
      if (typeof member !== 'object' || member === null) continue
      if (places.length < placesMax) places.push([...steps, name])
    }
  }
  return places
}

/** Whether more stands beside a place than in it, with a time: readings would be without that. */
function isMoreLost(
  holders: readonly unknown[],
  steps: readonly Step[],
  latestUs: number,
): boolean {
  if (steps.length === 0) return false
  const inside = seenIn(
    holders.map((holder) => follow(holder, steps)).flatMap(elementsOf),
    newRoom(),
  )
  const outside = seenIn(
    holders.map((holder) => without(holder, steps)),
    newRoom(),
  )
  const isMore = numbersIn(outside) > numbersIn(inside)
  return isMore && hasTimes(outside, latestUs)
}

function elementsOf(node: unknown): readonly unknown[] {
  if (Array.isArray(node)) return node.slice(0, 100)
  return isObject(node) ? Object.values(node).slice(0, 100) : []
}

function numbersIn(seen: ReturnType<typeof seenIn>): number {
  const { leaves } = leavesOf(seen)
  return leaves.filter(({ seen: { scalars } }) => scalars.some((one) => typeof one === 'number'))
    .length
}

/** Messages that are lists, and not of readings: entries to be pivoted, or rows. */
export function tableItems(
  lists: readonly (readonly unknown[])[],
  { latestUs, levelsWanted }: { readonly latestUs: number; readonly levelsWanted: number },
): FoundItems | undefined {
  if (levelsWanted === 0) return undefined
  const found = candidatesAt({ steps: [], nodes: lists, holders: lists, latestUs })
  const [best] = found
    .filter(({ level, score }) => level.as !== 'list' && score >= scoreMin)
    .toSorted((left, right) => right.score - left.score)
  if (best === undefined) return undefined
  return { levels: [best.level], items: itemsWithin(lists, [best.level]) }
}
