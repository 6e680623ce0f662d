import type { Path } from '../../src/contracts/path.ts'
import type { Scan } from '../../src/contracts/reading.ts'
import type { FieldDefinition, StreamSchema } from '../../src/contracts/stream-schema.ts'
import { compareText } from '../../src/core/canonical-json.ts'
import { readingsPerMessageMax } from '../decode-batch.ts'
import { kindOf, type Member, memberOf, PlainValues } from '../plain-values.ts'
import { ScannedReading } from '../scan.ts'
import type { FieldPlan } from './fields.ts'
import type { Level } from './level.ts'
import { type Branch, lead, newBranch, plainNames } from './member-tree.ts'

const comma = 44
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** Levels of what nobody reads, and members of one object there: more is for the parser. */
const skippedDepthMax = 8
const skippedKeysMax = 32

/** Characters that all readings may have from what encloses them: of more the mapping keeps the account. */
const sharedLengthMax = 64 * 1024

/**
 * Looks for plain readings in the text of a message, by the same rules as the scan of streams without a mapping: it
 * answers nothing as soon as anything is not plain. Undefined for a mapping of other paths than names, or of more
 * levels than a list.
 */
export function messageScanOf(
  schema: StreamSchema,
  plan: FieldPlan,
  levels: readonly Level[],
): Scan | undefined {
  const tree = treeOf(schema, plan, levels)
  if (tree === undefined) return undefined
  const scanner = new MessageScanner(schema, { tree, others: plan.others })
  return (text) => scanner.scan(text)
}

/** What is read of a message, and of each reading in it. */
interface Tree {
  readonly members: readonly Member[]
  readonly message: Branch
  /** That of the message, where this is the reading. */
  readonly item: Branch
  /** Whether something around the readings is a part of them. */
  readonly isShared: boolean
}

function treeOf(
  schema: StreamSchema,
  plan: FieldPlan,
  [level, ...deeper]: readonly Level[],
): Tree | undefined {
  if (schema.events !== undefined || plan.offset !== undefined || deeper.length > 0)
    return undefined
  const wanted = wantedOf(schema, plan)
  if (wanted === undefined) return undefined
  const message = newBranch()
  const item = level === undefined ? message : newBranch()
  let isShared = false
  for (const { member, path } of wanted) {
    const isAround = level !== undefined && path.root !== 'item'
    const names = plainNames(path)
    if (names === undefined || !within.includes(path.root)) return undefined
    if (!lead(isAround ? message : item, names, member)) return undefined
    isShared ||= isAround
  }
  const members = wanted.slice(0, -1).map(({ member }) => member)
  if (level === undefined) return { members, message, item, isShared }
  const names = level.given.as === 'list' ? plainNames(level) : undefined
  if (names === undefined || !lead(message, names, 'list')) return undefined
  return { members, message, item, isShared }
}

const within: readonly Path['root'][] = ['item', 'parent', 'message']

interface Wanted {
  readonly member: Member
  readonly path: Path
}

/** The fields in their order in the canonical text, and behind them the time; undefined where one is not plain. */
function wantedOf(
  schema: StreamSchema,
  { fields, time }: FieldPlan,
): readonly Wanted[] | undefined {
  const wanted: Wanted[] = []
  for (const { name, paths, read, readsOnlyNull } of fields.toSorted((a, b) =>
    compareText(a.name, b.name),
  )) {
    const field = schema.fields[name] as FieldDefinition
    const kind = kindOf(field)
    const [path, ...others] = paths
    const isPlain = (read === undefined || readsOnlyNull) && others.length === 0
    if (kind === undefined || path === undefined || !isPlain) return undefined
    wanted.push({ member: memberOf(name, field, kind, wanted.length), path })
  }
  wanted.push({ member: memberOf('', { type: 'datetime' }, 'time', wanted.length), path: time })
  return wanted
}

/** Works on one text at a time; what it keeps between two are only guesses about the next. */
class MessageScanner extends PlainValues {
  readonly #tree: Tree
  /** Whether members of a reading that nobody reads are nobody's, and those within its members. */
  readonly #ignores: { readonly members: boolean; readonly within: boolean }
  /** Canonical texts of the reading under way, by place; those from around it stand there for all. */
  readonly #texts: (string | undefined)[]
  #readings: ScannedReading[] = []
  /** Readings that are complete but for what stands around them. */
  #waiting: { readonly texts: (string | undefined)[]; readonly claimedUs: number | undefined }[] =
    []
  #turn = 0

  constructor(
    schema: StreamSchema,
    { tree, others }: { readonly tree: Tree; readonly others: FieldPlan['others'] },
  ) {
    super(schema)
    this.#tree = tree
    this.#ignores = { members: others === 'dropped', within: others !== 'kept' }
    this.#texts = Array<undefined>(tree.members.length + 1).fill(undefined)
  }

  scan(text: string): ReturnType<Scan> {
    const { message, item, isShared } = this.#tree
    this.#readings = []
    this.#waiting = []
    this.#texts.fill(undefined)
    this.claimedUs = undefined
    this.text.begin(text)
    const turn = ++this.#turn
    if (
      !this.#object(message, turn, message !== item || this.#ignores.members) ||
      !this.text.isAtEnd
    )
      return undefined
    if (message === item) {
      const reading = this.#reading(this.#texts, this.claimedUs)
      return reading && { readings: [reading], isBatch: false }
    }
    if (isShared && !this.#finish()) return undefined
    // A list that is empty is for the mapping to say something of.
    return this.#readings.length === 0 ? undefined : { readings: this.#readings, isBatch: true }
  }

  /** @param takesOthers whether members that nobody reads are nobody's: those of a reading are kept with it */
  #object(branch: Branch, turn: number, takesOthers: boolean): boolean {
    const source = this.text
    if (!source.take(openBrace)) return false
    if (source.take(closeBrace)) return true
    let others: string[] | undefined
    for (let index = 0; ; index++) {
      let next = branch.order[index]
      if (next === undefined || !source.takeText(next.key)) {
        const key = source.key()
        if (key === undefined) return false
        next = branch.members.get(key)
        if (next === undefined) {
          others ??= []
          if (!takesOthers || !this.#isNew(others, key) || !this.#skip(skippedDepthMax))
            return false
        } else branch.order[index] = next
      }
      if (next !== undefined) {
        if (next.seenIn === turn) return false
        next.seenIn = turn
        if (!this.#value(next, turn, takesOthers)) return false
      }
      if (source.take(closeBrace)) return true
      if (!source.take(comma)) return false
    }
  }

  /** Moves over a value that nobody reads: what is wrong in it would be wrong all the same. */
  #skip(levels: number): boolean {
    const source = this.text
    if (source.skipScalar()) return true
    if (levels === 0) return false
    if (source.take(openBracket)) {
      if (source.take(closeBracket)) return true
      do if (!this.#skip(levels - 1)) return false
      while (source.take(comma))
      return source.take(closeBracket)
    }
    if (!source.take(openBrace)) return false
    if (source.take(closeBrace)) return true
    const keys: string[] = []
    do {
      const key = source.key()
      if (key === undefined || !this.#isNew(keys, key) || !this.#skip(levels - 1)) return false
    } while (source.take(comma))
    return source.take(closeBrace)
  }

  /** Notes a key; false where it is there already, or one too many to be looked for among the others. */
  #isNew(keys: string[], key: string): boolean {
    return keys.length < skippedKeysMax && !keys.includes(key) && keys.push(key) > 0
  }

  #value(branch: Branch, turn: number, takesOthers: boolean): boolean {
    const { leaf, isList } = branch
    if (isList) return this.#list()
    if (leaf === undefined) return this.#object(branch, turn, takesOthers || this.#ignores.within)
    const text = this.valueOf(leaf)
    if (text === undefined || leaf.allowed?.has(text) === false) return false
    this.#texts[leaf.place] = text
    return true
  }

  #list(): boolean {
    const { item, isShared, members } = this.#tree
    const source = this.text
    const aroundUs = this.claimedUs
    const around = isShared ? [...this.#texts] : undefined
    if (!source.take(openBracket)) return false
    do {
      this.claimedUs = undefined
      this.#texts.fill(undefined)
      if (this.#readings.length + this.#waiting.length === readingsPerMessageMax) return false
      if (!this.#object(item, ++this.#turn, this.#ignores.members)) return false
      if (around !== undefined) {
        this.#waiting.push({
          texts: this.#texts.slice(0, members.length),
          claimedUs: this.claimedUs,
        })
        continue
      }
      const reading = this.#reading(this.#texts, this.claimedUs)
      if (reading === undefined) return false
      this.#readings.push(reading)
    } while (source.take(comma))
    this.claimedUs = aroundUs
    for (const place of this.#texts.keys()) this.#texts[place] = around?.[place]
    return source.take(closeBracket)
  }

  /** Gives each reading what stands around all of them. */
  #finish(): boolean {
    const shared = this.#texts
    let length = 0
    for (const text of shared) length += text?.length ?? 0
    if (length * this.#waiting.length > sharedLengthMax) return false
    for (const { texts, claimedUs } of this.#waiting) {
      for (const [place, text] of shared.entries()) if (text !== undefined) texts[place] = text
      const reading = this.#reading(texts, claimedUs ?? this.claimedUs)
      if (reading === undefined) return false
      this.#readings.push(reading)
    }
    return true
  }

  #reading(
    texts: readonly (string | undefined)[],
    claimedUs: number | undefined,
  ): ScannedReading | undefined {
    let values = ''
    for (const { place, isRequired, first, next } of this.#tree.members) {
      const text = texts[place]
      if (text !== undefined) values += (values === '' ? first : next) + text
      else if (isRequired) return undefined
    }
    return new ScannedReading(claimedUs, values === '' ? '{}' : `${values}}`)
  }
}
