import { cutText } from '../../src/core/cut-text.ts'
import { endOfString, isRoundedInteger } from '../../src/core/json-safety.ts'
import { endOfName, LinePlaces, unescaped } from './line-places.ts'

/** Tags and fields that a line may have together. */
const membersMax = 4_096

/** Characters of a name, and of the value of a tag: InfluxDB takes 64 KB of each. */
const nameLengthMax = 65_536

/** Characters of a number: a double has 767 digits at most. */
const numberLengthMax = 1_000

interface Placed {
  /** Where it stands in its text. */
  readonly start: number
  readonly end: number
}

/** A line that can be read. */
export interface ReadLine extends Placed {
  /** The name of the measurement, tags and fields, by their names. An integer that a double would round is a text. */
  readonly members: Readonly<Record<string, unknown>>
  /** The integers among them that are texts. */
  readonly rounded: readonly string[]
  readonly time: LineTime | undefined
}

/** A time as it stands in its text. */
export interface LineTime {
  readonly digits: string
  readonly start: number
}

/** A line that cannot be read although its neighbours can. */
export interface RefusedLine extends Placed {
  readonly problem: string
}

const space = 32
const quote = 34
const comma = 44
const equalsSign = 61

const spaceTab = /^[ \t]+$/
const integerPattern = /^-?\d+i$/
const unsignedPattern = /^\d+u$/
const floatPattern = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
/** Those of the year 9999 in nanoseconds have 21. */
const timePattern = /^-?\d{1,30}$/

const truths: ReadonlyMap<string, boolean> = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map((text) => [text, true] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map((text) => [text, false] as const),
])

/** Reads InfluxDB line protocol, line by line. */
export class LineParser {
  readonly #places: LinePlaces
  readonly #hasNull: boolean
  #start = 0
  #at = 0
  #end = 0
  #members: Record<string, unknown> = {}
  #count = 0
  #rounded: string[] = []
  #problem = ''

  constructor(text: string) {
    this.#places = new LinePlaces(text)
    this.#hasNull = text.includes('\0')
  }

  /** The next line; undefined behind the last one. */
  next(): ReadLine | RefusedLine | undefined {
    const start = this.#places.next()
    if (start === undefined) return undefined
    this.#start = start
    this.#at = start
    const feed = this.#places.feedOf(start)
    const headEnd = this.#places.headEndOf(start, feed)
    this.#end = this.#places.endOf(headEnd, feed)
    const time = this.#line(headEnd)
    const end = this.#places.contentEnd(start, this.#end)
    this.#places.pass(this.#end)
    if (time === false) return { start, end, problem: this.#problem }
    return { start, end, members: this.#members, rounded: this.#rounded, time }
  }

  /** Where the line behind the one that was read last may begin; what stands before it was read. */
  get at(): number {
    return this.#places.at
  }

  /** Moves to where a line may begin. */
  moveTo(at: number): void {
    this.#places.moveTo(at)
  }

  /** The time of the line; false where it cannot be read. */
  #line(headEnd: number): LineTime | undefined | false {
    this.#members = {}
    this.#count = 0
    this.#rounded = []
    if (!this.#head(headEnd)) return false
    this.#skipSpaces()
    const { text } = this.#places
    if (this.#hasNull && text.slice(this.#start, this.#end).includes('\0')) {
      return this.#refuse('U+0000 is not allowed in text')
    }
    const end = this.#places.contentEnd(this.#at, this.#end)
    if (this.#at >= end) return this.#refuse('the line has no fields')
    return this.#fields(end) && this.#time(end)
  }

  /** The measurement and the tags, up to the space behind them. */
  #head(headEnd: number): boolean {
    const end = headEnd === this.#end ? this.#places.contentEnd(this.#start, headEnd) : headEnd
    const name = this.#name(false, end)
    if (name === '') return this.#refuse('the line has no measurement')
    if (name.length > nameLengthMax) return this.#refuseLong('measurement', name)
    this.#members['measurement'] = name
    while (this.#at < end) {
      // Only a comma ends a measurement, or a tag that was read, before the end.
      this.#at++
      if (!this.#tag(end)) return false
    }
    return true
  }

  #tag(end: number): boolean {
    const { text } = this.#places
    const place = this.#place
    const key = this.#name(true, end)
    if (!this.#isKey(key, 'tag', place)) return false
    if (this.#at >= end || text.charCodeAt(this.#at) !== equalsSign) {
      return this.#refuse(`the tag ${cut(key)} at ${place} has no = and no value`)
    }
    this.#at++
    const value = this.#name(true, end)
    if (this.#at < end && text.charCodeAt(this.#at) === equalsSign) {
      return this.#refuse(
        `the value of the tag ${cut(key)} has a = at ${this.#place} without a backslash before it`,
      )
    }
    if (value === '') return this.#refuse(`the tag ${cut(key)} at ${place} has no value`)
    if (value.length > nameLengthMax) return this.#refuseLong(`value of the tag ${cut(key)}`, value)
    return this.#add(key, value, 'tag', place)
  }

  #fields(end: number): boolean {
    const { text } = this.#places
    for (;;) {
      const place = this.#place
      const key = this.#name(true, end)
      if (!this.#isKey(key, 'field', place)) return false
      if (text.charCodeAt(this.#at) !== equalsSign || this.#at >= end) {
        return this.#refuse(`the field ${cut(key)} at ${place} has no = and no value`)
      }
      this.#at++
      if (!this.#field(key, place, end)) return false
      if (this.#at >= end || text.charCodeAt(this.#at) === space) return true
      if (text.charCodeAt(this.#at) !== comma) {
        return this.#refuse(
          `behind the text of the field ${cut(key)} stands ${cut(text.slice(this.#at, end))} at ${this.#place}`,
        )
      }
      this.#at++
    }
  }

  #field(key: string, place: string, end: number): boolean {
    const { text } = this.#places
    const start = this.#at
    if (start < end && text.charCodeAt(start) === quote) {
      const close = endOfString(text, start)
      if (close < 0 || close >= end) {
        return this.#refuse(`the text of the field ${cut(key)} at ${place} has no closing quote`)
      }
      this.#at = close + 1
      return this.#add(key, textOf(text.slice(start + 1, close)), 'field', place)
    }
    this.#at = endOfName(text, start, end, false)
    const written = text.slice(start, this.#at)
    if (written === '') return this.#refuse(`the field ${cut(key)} at ${place} has no value`)
    const value = valueOf(written)
    if (value === undefined) {
      return this.#refuse(
        `the field ${cut(key)} at ${place} has the value ${cut(written)}, which is not a number, a boolean or a text in quotes`,
      )
    }
    if (value === beyond) {
      return this.#refuse(
        `the field ${cut(key)} at ${place} has the value ${cut(written)}, which is out of range`,
      )
    }
    if (typeof value === 'string') this.#rounded.push(key)
    return this.#add(key, value, 'field', place)
  }

  #time(end: number): LineTime | undefined | false {
    const { text } = this.#places
    this.#skipSpaces()
    if (this.#at >= end) return undefined
    const start = this.#at
    let last = start
    while (last < end && text.charCodeAt(last) !== space) last++
    const digits = text.slice(start, last)
    if (!timePattern.test(digits)) {
      return this.#refuse(
        `the time ${cut(digits)} at ${this.#place} is not an integer of up to 30 digits`,
      )
    }
    this.#at = last
    const rest = text.slice(last, end)
    if (rest !== '' && !spaceTab.test(rest)) {
      this.#skipSpaces()
      return this.#refuse(
        `behind the time stands ${cut(text.slice(this.#at, end))} at ${this.#place}`,
      )
    }
    return { digits, start }
  }

  /** Reads a name, or the value of a tag, up to what ends it. */
  #name(equalsEnds: boolean, end: number): string {
    const { text } = this.#places
    const start = this.#at
    this.#at = endOfName(text, start, end, equalsEnds)
    return unescaped(text.slice(start, this.#at), equalsEnds)
  }

  #isKey(key: string, kind: 'tag' | 'field', place: string): boolean {
    if (key === '') return this.#refuse(`the ${kind} at ${place} has no name`)
    if (key.length > nameLengthMax) return this.#refuseLong(`name of the ${kind} at ${place}`, key)
    // It would be read as a prototype, and no stream has such a field.
    if (key === '__proto__') return this.#refuse('__proto__ is not a name of a field')
    return true
  }

  #add(key: string, value: unknown, kind: 'tag' | 'field', place: string): boolean {
    if (Object.hasOwn(this.#members, key)) {
      const before = key === 'measurement' ? 'the measurement has' : 'the line has already'
      return this.#refuse(`the ${kind} at ${place} has the name ${cut(key)}, which ${before}`)
    }
    if (this.#count === membersMax) {
      return this.#refuse(`the line has more than ${membersMax} tags and fields`)
    }
    this.#count++
    this.#members[key] = value
    return true
  }

  #skipSpaces(): void {
    while (this.#places.text.charCodeAt(this.#at) === space) this.#at++
  }

  /** Where the line is read now, for people. */
  get #place(): string {
    return `character ${this.#at - this.#start + 1}`
  }

  #refuseLong(what: string, text: string): false {
    return this.#refuse(`the ${what} has ${text.length} characters, more than ${nameLengthMax}`)
  }

  #refuse(problem: string): false {
    this.#problem = problem
    return false
  }
}

function cut(text: string): string {
  return cutText(text, 100)
}

/** A number that a double or 64 bits have no room for. */
const beyond = Symbol('out of range')

/** A value that is not in quotes; a text for an integer that a double would round; nothing for what is no value. */
function valueOf(written: string): number | boolean | string | typeof beyond | undefined {
  const truth = truths.get(written)
  if (truth !== undefined) return truth
  if (written.length > numberLengthMax) return undefined
  if (integerPattern.test(written)) return integerOf(written.slice(0, -1), -(2n ** 63n), 2n ** 63n)
  if (unsignedPattern.test(written)) return integerOf(written.slice(0, -1), 0n, 2n ** 64n)
  if (!floatPattern.test(written)) return undefined
  const value = Number(written)
  return Number.isFinite(value) ? value : beyond
}

/** Integers from `min` on, and below `end`. */
function integerOf(digits: string, min: bigint, end: bigint): number | string | typeof beyond {
  const value = Number(digits)
  if (Number.isSafeInteger(value)) return value
  const exact = BigInt(digits)
  if (exact < min || exact >= end) return beyond
  const written = String(exact)
  return isRoundedInteger(written) ? written : value
}

/** What a text in quotes says: a backslash stands before a quote or a backslash, and is itself before any other. */
function textOf(written: string): string {
  return written.includes('\\') ? written.replaceAll(/\\(["\\])/g, '$1') : written
}
