import type { ItemsLevel } from '../../src/contracts/mapping.ts'
import { follow, parsePath, type Step } from '../../src/contracts/path.ts'

/** Larger answers are no one message, and are not counted. */
const countedBytesMax = 4 * 1024 * 1024

/** The first step from an answer to its readings. */
export interface ApiItems {
  /**
   * The names that lead to a list of items, which is cut into messages of several. Undefined: an answer is one message.
   */
  readonly names: readonly string[] | undefined
  /** How many items stand at the first step; undefined where that cannot be said. */
  readonly count: (body: Buffer) => number | undefined
}

/** @param given as the definition has it, checked */
export function apiItems(given: string | ItemsLevel | readonly ItemsLevel[]): ApiItems {
  const [first] = [given].flat() as readonly (string | Partial<ItemsLevel>)[]
  const { path = '', as = 'list' } = typeof first === 'string' ? { path: first } : (first ?? {})
  const parsed = parsePath(path)
  const isWithin = !('problem' in parsed) && parsed.up === 0
  const steps = isWithin ? parsed.steps : undefined
  const isPlain = as === 'list' && steps?.every((step) => typeof step === 'string') === true
  return {
    names: isPlain ? steps : undefined,
    count: (body) => (steps === undefined ? undefined : countAt(body, steps)),
  }
}

/** Elements of a list, members of an object, or the elements of the longest list in it: columns stand side by side. */
function countAt(body: Buffer, steps: readonly Step[]): number | undefined {
  const found = follow(valueOf(body), steps)
  if (found === null) return 0
  if (Array.isArray(found)) return found.length
  if (typeof found !== 'object') return undefined
  const members: readonly unknown[] = Object.values(found)
  const lists = members.filter((member) => Array.isArray(member))
  return lists.length === 0 ? members.length : Math.max(...lists.map(({ length }) => length))
}

/** What is no JSON, the stream refuses. */
function valueOf(body: Buffer): unknown {
  if (body.length > countedBytesMax) return undefined
  try {
    return JSON.parse(body.toString()) as unknown
  } catch {
    return undefined
  }
}
