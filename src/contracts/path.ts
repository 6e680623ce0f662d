/** Where a path begins: at the item, around it, or at what is known of the message beside its bytes. */
export type PathRoot =
  | 'item'
  | 'parent'
  | 'message'
  | 'topic'
  | 'header'
  | 'query'
  | 'key'
  | 'time'
  | 'event'

/** Roots of what is known of a message beside its bytes. */
export type ContextRoot = Exclude<PathRoot, 'item' | 'parent' | 'message'>

/** A path as it was written, and what it means. */
export interface Path {
  readonly text: string
  readonly root: PathRoot
  /** How many items further out it begins: 0 for the item itself, 1 for what encloses it. */
  readonly up: number
  /** Names of members, and indexes of elements; negative ones count from the end. */
  readonly steps: readonly Step[]
}

export type Step = string | number

/** Why a text is no path. */
export interface PathProblem {
  readonly problem: string
}

const lengthMax = 500

/** Steps of one path: no message is nested deeper. */
const stepsMax = 64

/** Indexes have as many digits at most: no message has so many elements. */
const indexPattern = /^-?\d{1,9}$/

const roots: ReadonlyMap<string, PathRoot> = new Map([
  ['$', 'item'],
  ['$parent', 'parent'],
  ['$message', 'message'],
  ['$topic', 'topic'],
  ['$header', 'header'],
  ['$query', 'query'],
  ['$key', 'key'],
  ['$time', 'time'],
  ['$event', 'event'],
])

/** Roots that are one text: nothing can be within it. */
const leaves: readonly PathRoot[] = ['key', 'time', 'event']

/**
 * Reads a path: names with points between them, indexes in brackets, and names in brackets and quotes (the singular
 * queries of RFC 9535, section 2.3.5.1), where the `$` in front may be left out. `$parent`, `$topic` and the like begin
 * elsewhere than at the item.
 */
export function parsePath(text: string): Path | PathProblem {
  if (text.length === 0 || text.length > lengthMax) {
    return { problem: `must have 1 to ${lengthMax} characters` }
  }
  const steps = stepsOf(text)
  if ('problem' in steps) return steps
  if (steps.length > stepsMax) return { problem: `has more than ${stepsMax} steps` }
  return rooted(text, steps)
}

function rooted(text: string, all: readonly WrittenStep[]): Path | PathProblem {
  const [first] = all
  const isRooted = first !== undefined && first.isBare && String(first.step).startsWith('$')
  if (!isRooted) return { text, root: 'item', up: 0, steps: all.map(({ step }) => step) }
  const root = roots.get(String(first.step))
  if (root === undefined) {
    return { problem: `begins with ${first.step}: there are ${[...roots.keys()].join(', ')}` }
  }
  const up = root === 'parent' ? parentsIn(all) : 0
  const steps = all.slice(Math.max(1, up)).map(({ step }) => step)
  const problem = problemOfRoot(root, steps)
  return problem === undefined ? { text, root, up, steps } : { problem }
}

/** How many steps in a row lead further out. */
function parentsIn(all: readonly WrittenStep[]): number {
  const other = all.findIndex(({ step, isBare }) => !isBare || step !== '$parent')
  return other < 0 ? all.length : other
}

function problemOfRoot(root: PathRoot, steps: readonly Step[]): string | undefined {
  const [step, ...more] = steps
  if (leaves.includes(root) && step !== undefined) return `$${root} has nothing within it`
  if (root === 'topic' && (typeof step === 'string' || more.length > 0)) {
    return '$topic has levels: $topic[0] is the first one, $topic[-1] the last'
  }
  if ((root === 'header' || root === 'query') && (typeof step !== 'string' || more.length > 0)) {
    return `$${root} needs a name: $${root}['name']`
  }
  return undefined
}

interface WrittenStep {
  readonly step: Step
  /** Whether it stood there without brackets and quotes. */
  readonly isBare: boolean
}

function stepsOf(text: string): readonly WrittenStep[] | PathProblem {
  const steps: WrittenStep[] = []
  let at = 0
  while (at < text.length) {
    const isBracket = text[at] === '['
    if (!isBracket && at > 0) {
      if (text[at] !== '.') return { problem: `has no point or bracket at place ${at}` }
      at++
    }
    const found = isBracket ? bracketed(text, at) : bare(text, at)
    if ('problem' in found) return found
    steps.push({ step: found.step, isBare: !isBracket })
    at = found.next
  }
  return steps
}

interface Found {
  readonly step: Step
  readonly next: number
}

function bare(text: string, at: number): Found | PathProblem {
  let next = at
  while (next < text.length && text[next] !== '.' && text[next] !== '[' && text[next] !== ']')
    next++
  if (next === at) return { problem: `has no name at place ${at}` }
  return { step: text.slice(at, next), next }
}

function bracketed(text: string, at: number): Found | PathProblem {
  const quote = text[at + 1]
  if (quote === "'" || quote === '"') return quoted(text, at + 2, quote)
  const end = text.indexOf(']', at)
  const index = text.slice(at + 1, end)
  if (end < 0 || !indexPattern.test(index)) {
    return { problem: `has neither an index nor a name in quotes in the bracket at place ${at}` }
  }
  // Zero is added because -0 is the first element as well.
  return { step: Number(index) + 0, next: end + 1 }
}

/** A name in quotes, in which a backslash stands before a quote or a backslash. */
function quoted(text: string, from: number, quote: string): Found | PathProblem {
  let step = ''
  for (let at = from; at < text.length; at++) {
    if (text[at] === quote) {
      if (text[at + 1] !== ']') return { problem: `has no ] at place ${at + 1}` }
      return { step, next: at + 2 }
    }
    if (text[at] === '\\') at++
    step += text[at] ?? ''
  }
  return { problem: `has a name without a ${quote} at its end` }
}

/** What stands there, or nothing. Only own members count: every object inherits some. */
export function follow(value: unknown, steps: readonly Step[]): unknown {
  let at = value
  for (const step of steps) {
    if (typeof at !== 'object' || at === null) return undefined
    if (typeof step === 'number') {
      if (!Array.isArray(at)) return undefined
      at = at[step < 0 ? at.length + step : step]
    } else {
      if (Array.isArray(at) || !Object.hasOwn(at, step)) return undefined
      at = (at as Readonly<Record<string, unknown>>)[step]
    }
  }
  return at
}

/** A path as it can be written: names that are none of a variable stand in brackets and quotes. */
export function pathText(steps: readonly Step[]): string {
  let text = ''
  for (const step of steps) {
    if (typeof step === 'number') text += `[${step}]`
    else if (/[.[\]]|^\$|^$/.test(step)) text += `['${step.replace(/['\\]/g, '\\$&')}']`
    else text += text === '' ? step : `.${step}`
  }
  return text === '' ? '$' : text
}
