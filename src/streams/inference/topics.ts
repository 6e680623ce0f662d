import type { MessageContext } from '../../contracts/mapping.ts'

/** A level of topics that is not always the same. */
export interface VaryingLevel {
  readonly index: number
  /** Whether messages look alike whatever stands there: it names their sender then, and not their kind. */
  readonly isSender: boolean
}

export interface FoundTopics {
  /** A filter that has all topics of the samples; undefined where there is none. */
  readonly filter: string | undefined
  readonly varying: readonly VaryingLevel[]
  /** Messages whose topics differ have different members: streams of their own would fit them better. */
  readonly hasKinds: boolean
}

const none: FoundTopics = { filter: undefined, varying: [], hasKinds: false }

/** First levels at our own broker that are for the topics of the service itself. */
const ownLevels = ['streams', 'users']

/** Two messages look alike if so many of their members have the same names. */
const likenessMin = 0.5

/** What can be said of the topics of messages. Pure. */
export function inferTopics(
  messages: readonly { readonly context: MessageContext; readonly names: ReadonlySet<string> }[],
): FoundTopics {
  const split = messages.map(({ context: { topic, separator = '/' }, names }) => {
    return { levels: topic?.split(separator) ?? [], separator, names }
  })
  const [first] = split
  if (first === undefined || split.some(({ levels }) => levels.length === 0)) return none
  const shortest = Math.min(...split.map(({ levels }) => levels.length))
  const isEven = split.every(({ levels }) => levels.length === shortest)
  const indexes = [...Array.from({ length: shortest }).keys()]
  const isSame = (index: number) =>
    split.every(({ levels }) => levels[index] === first.levels[index])
  const varying = indexes
    .filter((index) => !isSame(index))
    .map((index) => ({ index, isSender: areAlike(split, index) }))
  const filter = filterOf(
    indexes.map((index) => (isSame(index) ? first.levels[index] : '+')),
    isEven,
  )
  const hasKinds = !isEven || varying.some(({ isSender }) => !isSender)
  return {
    filter: isAllowed(first.levels, first.separator) ? filter : undefined,
    varying,
    hasKinds,
  }
}

function filterOf(levels: readonly (string | undefined)[], isEven: boolean): string {
  return [...levels.map((level) => level ?? '+'), ...(isEven ? [] : ['#'])].join('/')
}

function isAllowed([first = '']: readonly string[], separator: string): boolean {
  return separator === '/' && !first.startsWith('$') && !ownLevels.includes(first)
}

/** Whether messages have about the same members, whatever stands at a level of their topics. */
function areAlike(
  messages: readonly { readonly levels: readonly string[]; readonly names: ReadonlySet<string> }[],
  index: number,
): boolean {
  const groups = new Map<string, Set<string>>()
  for (const { levels, names } of messages) {
    const level = levels[index] ?? ''
    const group = groups.get(level) ?? new Set()
    for (const name of names) group.add(name)
    groups.set(level, group)
  }
  const all = [...groups.values()]
  const [one = new Set<string>()] = all
  return all.every((other) => likeness(one, other) >= likenessMin)
}

function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const union = one.union(other).size
  return union === 0 ? 1 : one.intersection(other).size / union
}
