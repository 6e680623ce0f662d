import type { Path, Step } from '../../src/contracts/path.ts'
import type { Member } from '../plain-values.ts'

/** A member of a message that something is read in, or that leads to one. */
export interface Branch {
  /** `"name":`, as it stands in a message. */
  readonly key: string
  readonly members: Map<string, Branch>
  /** Members in the order in which the object before had them: devices seldom change it. */
  readonly order: Branch[]
  /** What is read there. */
  leaf: Member | undefined
  /** Whether the readings stand there. */
  isList: boolean
  /** The turn in which it was seen last: a second time in one object is once too often. */
  seenIn: number
}

export function newBranch(key = ''): Branch {
  return { key, members: new Map(), order: [], leaf: undefined, isList: false, seenIn: 0 }
}

/** The names of a path that has nothing else, and that JSON writes as they are; undefined for any other. */
export function plainNames({ steps }: Pick<Path, 'steps'>): readonly string[] | undefined {
  const names = steps.filter((step): step is string => typeof step === 'string' && isPlain(step))
  return names.length === steps.length && names.length > 0 ? names : undefined
}

function isPlain(step: Step): boolean {
  return JSON.stringify(step) === `"${step}"` && step !== '__proto__'
}

/**
 * Lets a path lead to something. False where another path leads there, through it, or past it: one of them would have to
 * read what the other one is within.
 */
export function lead(root: Branch, names: readonly string[], to: Member | 'list'): boolean {
  let at = root
  for (const name of names) {
    if (at.leaf !== undefined || at.isList) return false
    const key = `"${name}":`
    let next = at.members.get(key)
    if (next === undefined) {
      next = newBranch(key)
      at.members.set(key, next)
    }
    at = next
  }
  if (at.leaf !== undefined || at.isList || at.members.size > 0) return false
  if (to === 'list') at.isList = true
  else at.leaf = to
  return true
}
