import type { MessageContext } from '../../src/contracts/mapping.ts'
import type { Path, Step } from '../../src/contracts/path.ts'
import { type Item, valueAt } from './item.ts'

/** What stands at one path, of any item. */
export type Finder = (item: Item, context: MessageContext) => unknown

/** The finder of a path: one of a few names within the item, as nearly all are, looks for nothing else. */
export function finderOf(path: Path): Finder {
  const { root, steps } = path
  const [first, second] = steps
  if (root === 'item' && isOwnName(first)) {
    if (steps.length === 1) return ({ value }) => memberOf(value, first)
    if (steps.length === 2 && isOwnName(second)) {
      return ({ value }) => memberOf(memberOf(value, first), second)
    }
  }
  return (item, context) => valueAt(item, path, context)
}

/** Whether no object inherits a member of this name, so that one which is found is its own. */
function isOwnName(step: Step | undefined): step is string {
  return typeof step === 'string' && !(step in Object.prototype)
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}
