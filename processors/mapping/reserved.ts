import type { ItemsLevel } from '../../src/contracts/mapping.ts'
import { type Path, parsePath, type Step } from '../../src/contracts/path.ts'

/**
 * What stands among readings and is none, because another path reads it: members by their names; elements of a list up to
 * the last that is counted from its beginning, and from the first that is counted from its end.
 */
export interface Reserved {
  readonly names: ReadonlySet<string>
  readonly head: number
  readonly tail: number
}

/** @param reads the paths that begin at what encloses the readings of a level */
export function reservedBy(reads: readonly Path[], steps: readonly Step[]): Reserved {
  const names = new Set<string>()
  let [head, tail] = [0, 0]
  for (const path of reads) {
    const step = path.steps[steps.length]
    if (step === undefined || !beginsWith(path.steps, steps)) continue
    if (typeof step === 'string') names.add(step)
    else if (step < 0) tail = Math.max(tail, -step)
    else head = Math.max(head, step + 1)
  }
  return { names, head, tail }
}

function beginsWith(steps: readonly Step[], first: readonly Step[]): boolean {
  return first.every((step, index) => step === steps[index])
}

/** The elements of a list that nothing else reads. */
export function freeElements(
  list: readonly unknown[],
  { head, tail }: Reserved,
): readonly unknown[] {
  return head === 0 && tail === 0 ? list : list.slice(head, Math.max(head, list.length - tail))
}

/** A list with some of its elements between those that other paths read. */
export function amongReserved(
  list: readonly unknown[],
  between: readonly unknown[],
  { head, tail }: Reserved,
): readonly unknown[] {
  const after = tail === 0 ? [] : list.slice(Math.max(head, list.length - tail))
  return [...list.slice(0, head), ...between, ...after]
}

/**
 * What is wrong with a path that leads to all readings of a message at once, or perhaps to one of them by its place.
 *
 * @param path one that begins around an item
 */
export function enclosingProblem(path: Path, levels: readonly ItemsLevel[]): string | undefined {
  if (path.root !== 'parent' && path.root !== 'message') return undefined
  const level = levels[path.root === 'message' ? 0 : levels.length - path.up]
  const parsed = level && parsePath(level.path)
  if (parsed === undefined || 'problem' in parsed) return undefined
  const { steps } = parsed
  const length = Math.min(steps.length, path.steps.length)
  const isAlong = steps.slice(0, length).every((step, index) => isLike(step, path.steps[index]))
  if (!isAlong) return undefined
  if (path.steps.length <= steps.length) return 'leads to what the readings stand in'
  // A list has no names: it is the only reading that has, where an object stands in place of a list.
  const isInList = level?.as === 'list' && typeof path.steps[steps.length] === 'string'
  return beginsWith(path.steps, steps) && !isInList ? undefined : 'may lead to one of the readings'
}

/** Places of one list may be the same one, counted from its beginning and from its end. */
function isLike(step: Step, other: Step | undefined): boolean {
  return step === other || (typeof step === 'number' && typeof other === 'number')
}
