import { follow } from '../../src/contracts/path.ts'
import { readingsPerMessageMax, tooManyReadings } from '../decode-batch.ts'
import { type Item, mappingFailed } from './item.ts'
import { type Level, LevelProblem, nothingAt, type PlacedContext } from './level.ts'
import { listItems, mapItems } from './lists.ts'
import { pivotItems } from './pivot.ts'
import { sampleItems } from './series.ts'
import { columnItems, rowItems } from './tables.ts'

/**
 * The readings within a message, level by level, in their order; none where all lists that may hold some are empty. What
 * encloses some that cannot be read is an item with a failure; so is the message, and then there is no other.
 */
export function expand(
  message: Item,
  levels: readonly Level[],
  context: PlacedContext,
): readonly Item[] {
  try {
    let items: readonly Item[] = [message]
    for (const level of levels) {
      const found = withinAll(items, level, context)
      // Whoever says that there is something means another path where there is nothing at all.
      if (found.length === 0 && items.some((item) => isNothing(nodeOf(item, level)))) {
        throw nothingAt(level)
      }
      items = found
    }
    return items
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
  const node = nodeOf(item, level)
  // Of many that enclose readings, some may have none.
  if (isNothing(node) && item.depth > 0) return
  if (isNothing(node)) throw nothingAt(level)
  try {
    for (const one of itemsIn(node, item, level, context)) found.push(one)
  } catch (error) {
    if (!(error instanceof LevelProblem) || item.depth === 0) throw error
    found.push({ ...item, failure: mappingFailed(error.path, error.message) })
  }
}

function nodeOf({ raw }: Item, { steps }: Level): unknown {
  return follow(raw, steps)
}

function isNothing(node: unknown): boolean {
  return node === undefined || node === null
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
