import { follow } from '../../src/contracts/path.ts'
import { readingsPerMessageMax, tooManyReadings } from '../decode-batch.ts'
import { type Item, mappingFailed } from './item.ts'
import { type Level, LevelProblem, nothingAt, type PlacedContext } from './level.ts'
import { listItems, mapItems } from './lists.ts'
import { pivotItems } from './pivot.ts'
import { sampleItems } from './series.ts'
import { columnItems, rowItems } from './tables.ts'

/**
 * The readings within a message, level by level, in their order. What encloses some that cannot be read is an item with a
 * failure; so is the message, and then there is no other.
 */
export function expand(
  message: Item,
  levels: readonly Level[],
  context: PlacedContext,
): readonly Item[] {
  try {
    let items: readonly Item[] = [message]
    for (const level of levels) items = withinAll(items, level, context)
    if (items.length > 0) return items
    const last = levels.at(-1)
    throw new LevelProblem(`${last?.place}.path`, `leads to no reading: ${last?.given.path}`)
  } catch (error) {
    if (!(error instanceof LevelProblem)) throw error
    return [{ ...message, failure: mappingFailed(error.path, error.message) }]
  }
}

function withinAll(items: readonly Item[], level: Level, context: PlacedContext): readonly Item[] {
  const found: Item[] = []
  for (const item of items) {
    if (item.failure === undefined) addWithin(found, item, level, context)
    else found.push(item)
    if (found.length > readingsPerMessageMax) {
      throw new LevelProblem(`${level.place}.path`, `leads to ${tooManyReadings}`)
    }
  }
  return found
}

function addWithin(found: Item[], item: Item, level: Level, context: PlacedContext): void {
  const node = follow(item.raw, level.steps)
  const isNothing = node === undefined || node === null
  // Of many that enclose readings, some may have none.
  if (isNothing && item.depth > 0) return
  if (isNothing) throw nothingAt(level)
  try {
    for (const one of itemsIn(node, item, level, context)) found.push(one)
  } catch (error) {
    if (!(error instanceof LevelProblem) || item.depth === 0) throw error
    found.push({ ...item, failure: mappingFailed(error.path, error.message) })
  }
}

function itemsIn(node: unknown, item: Item, level: Level, context: PlacedContext): readonly Item[] {
  switch (level.given.as) {
    case 'list':
      return listItems(node, item, level)
    case 'map':
      return mapItems(node, item, level)
    case 'columns':
      return columnItems(node, item, level)
    case 'rows':
      return rowItems(node, item, level, context)
    case 'samples':
      return sampleItems(node, item, level, context)
    case 'pivot':
      return pivotItems(node, item, level, context)
    default:
      return level.given.as satisfies never
  }
}
