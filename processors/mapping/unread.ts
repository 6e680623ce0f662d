import type { Path, Step } from '../../src/contracts/path.ts'
import { isObject, setMember } from './item.ts'

/** What paths read within a value: all of it, or what is within its members and elements. */
export interface Reads {
  isWhole: boolean
  readonly within: Map<Step, Reads>
}

/** What paths that begin at an item read of it. */
export function readsWithin(paths: readonly Path[]): Reads {
  const all = newReads()
  for (const { root, steps } of paths) {
    if (root !== 'item') continue
    let reads = all
    for (const step of steps) {
      let next = reads.within.get(step)
      if (next === undefined) {
        next = newReads()
        reads.within.set(step, next)
      }
      reads = next
    }
    reads.isWhole = true
  }
  return all
}

function newReads(): Reads {
  return { isWhole: false, within: new Map() }
}

/**
 * What nobody reads of a value; undefined for nothing. A list of which something is not read stays whole: without the
 * others its elements would have other places.
 */
export function unreadOf(value: unknown, reads: Reads): unknown {
  if (reads.isWhole || value === null) return undefined
  if (Array.isArray(value)) return isAllRead(value, reads) ? undefined : value
  if (!isObject(value)) return value
  let rest: Record<string, unknown> | undefined
  for (const name of Object.keys(value)) {
    const inner = reads.within.get(name)
    const own = inner === undefined ? value[name] : unreadOf(value[name], inner)
    if (own === undefined) continue
    rest ??= {}
    setMember(rest, name, own)
  }
  return rest
}

function isAllRead(list: readonly unknown[], { within }: Reads): boolean {
  return list.every((element, index) => {
    const reads = within.get(index) ?? within.get(index - list.length)
    return reads !== undefined && unreadOf(element, reads) === undefined
  })
}
