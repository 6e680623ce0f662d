import type {
  FieldDefinition,
  LinePrecision,
  StreamSchema,
} from '../src/contracts/stream-schema.ts'
import { memberNamed, timeMemberOf } from '../src/contracts/time-member.ts'
import { compareText } from '../src/core/canonical-json.ts'
import { formatUs, parseInstant } from '../src/core/time.ts'
import { LineNames, type LineNamesNeeds, type Part, type Step, type Steps } from './line-names.ts'
import { microseconds } from './line-protocol/precision.ts'
import { PlainNumbers } from './plain-text.ts'
import { kindOf, type Member, memberOf } from './plain-values.ts'
import { ScannedReading } from './scan.ts'
import { epochPlaces } from './times/epochs.ts'
import { plausibleUs } from './times/plausible.ts'
import { rulesWithin } from './values.ts'

const lineFeed = 10
const carriageReturn = 13
const space = 32
const quote = 34
const comma = 44
const minus = 45
const zero = 48
const nine = 57
const equalsSign = 61
const upperA = 65
const upperF = 70
const upperT = 84
const upperZ = 90
const backslash = 92
const lowerA = 97
const lowerF = 102
const lowerI = 105
const lowerT = 116
const lowerU = 117
const lowerZ = 122

/** No plausible time has more, in any unit. */
const timeDigitsMax = 19

const trueSpellings: ReadonlySet<string> = new Set(['t', 'T', 'true', 'True', 'TRUE'])
const falseSpellings: ReadonlySet<string> = new Set(['f', 'F', 'false', 'False', 'FALSE'])

/** Lines that were not plain, one after the other, until the next ones are left to the parser. */
const inVainMax = 8
const skippedAfterwards = 200

/**
 * Looks for plain lines in a text, as `scanOf` does for JSON: the fields of the schema are found in the text, without
 * an object in between. A line that is not plain (an escape, an unknown field, a value out of range) is not refused by
 * that: the parser says what it is.
 */
export interface LineScan {
  /** Where the line behind the one that was found begins. */
  readonly next: number
  readonly end: number
  /** The reading of the line that begins at a place; undefined where it is not plain. */
  find: (text: string, start: number) => ScannedReading | undefined
}

const scans = new WeakMap<StreamSchema, Map<LinePrecision, LineScan | undefined>>()

/** The scan of a schema; undefined when it has other fields than plain ones. */
export function lineScanOf(schema: StreamSchema, precision: LinePrecision): LineScan | undefined {
  const known = scans.get(schema) ?? new Map<LinePrecision, LineScan | undefined>()
  if (!known.has(precision)) {
    known.set(precision, newLineScan(schema, precision))
    scans.set(schema, known)
  }
  return known.get(precision)
}

/** A scan of its own. */
export function newLineScan(schema: StreamSchema, precision: LinePrecision): LineScan | undefined {
  const { fields, events, items, time, timestampFormat, values } = schema
  const timeMember = timeMemberOf(schema)
  if (events !== undefined || items !== undefined || timeMember === undefined) return undefined
  // A text of nanoseconds was no time by the rules of before.
  const isTimeRead = time !== undefined || (epochPlaces(timestampFormat) ?? 0) <= 6
  if (!isTimeRead || time?.offset !== undefined) return undefined
  const members = new Map<string, Member>()
  for (const name of Object.keys(fields).sort(compareText)) {
    const field = fields[name] as FieldDefinition
    const kind = kindOf(field)
    const from = sourceName(name, field)
    const { missing = [], texts } = rulesWithin(field, values)
    const isAsSent = texts === undefined && missing.every((value) => value === null)
    if (kind === undefined || from === undefined || !isAsSent) return undefined
    if (from === timeMember || name === timeMember || members.has(from)) return undefined
    members.set(from, memberOf(name, field, kind, members.size))
  }
  const usOfUnit = microseconds[precision]
  const others = othersOf(schema)
  return new LineScanner({ members, timeMember, others, usOfUnit, ...plausibleUs(time?.minUs) })
}

/** The name of the member that a field is read from. */
function sourceName(name: string, { from }: FieldDefinition): string | undefined {
  if (from === undefined) return name
  const [path, ...others] = [from].flat()
  return path === undefined || others.length > 0 ? undefined : memberNamed(path)
}

/** Where a mapping keeps them, it is asked. */
function othersOf({ fields, extra, validation, values }: StreamSchema): ScannerNeeds['others'] {
  if (extra === 'drop') return 'dropped'
  const isMapped = values !== undefined || Object.values(fields).some(({ from }) => from)
  return isMapped || validation === 'strict' ? 'unknown' : 'kept'
}

interface ScannerNeeds extends LineNamesNeeds {
  /** 0 for nanoseconds. */
  readonly usOfUnit: number
  /** The plausible times. */
  readonly firstUs: number
  readonly endUs: number
}

/** Works on one text at a time; what it keeps between two are the names that lines have had so far. */
class LineScanner extends PlainNumbers implements LineScan {
  readonly #needs: ScannerNeeds
  readonly #names: LineNames
  /** Canonical texts of the values of the line under way, by the depths of their steps. */
  readonly #texts: string[] = []
  #text = ''
  #at = 0
  #timeUs: number | undefined
  #inVain = 0
  #toSkip = 0
  next = 0
  end = 0

  constructor(needs: ScannerNeeds) {
    super()
    this.#needs = needs
    this.#names = new LineNames(needs)
  }

  find(text: string, start: number): ScannedReading | undefined {
    if (this.#toSkip > 0) {
      this.#toSkip--
      return undefined
    }
    this.#text = text
    this.#at = start
    const step = this.#line()
    const reading = step && this.#reading(step)
    if (reading !== undefined) this.#inVain = 0
    else if (++this.#inVain === inVainMax) {
      this.#inVain = 0
      this.#toSkip = skippedAfterwards
    }
    return reading
  }

  /** Moves over a line, and answers its last step. */
  #line(): Step | undefined {
    const text = this.#text
    let step = this.#measurement()
    if (step === undefined) return undefined
    let code = text.charCodeAt(this.#at - 1)
    while (code === comma) {
      step = this.#step(step, step.tags)
      if (step === undefined || !this.#tag(step)) return undefined
      code = text.charCodeAt(this.#at++)
    }
    if (code !== space) return undefined
    do {
      step = this.#step(step, step.fields)
      if (step === undefined || !this.#field(step)) return undefined
      code = text.charCodeAt(this.#at++)
    } while (code === comma)
    this.#timeUs = undefined
    if (code === space) {
      if (!this.#time()) return undefined
      code = text.charCodeAt(this.#at++)
    }
    return this.#ends(code) ? step : undefined
  }

  /** Whether the line ends with a character, which stands before the place. */
  #ends(code: number): boolean {
    const text = this.#text
    this.end = this.#at - 1
    this.next = this.#at
    if (code === lineFeed || this.end >= text.length) return true
    this.next = this.#at + 1
    return code === carriageReturn && text.charCodeAt(this.#at) === lineFeed
  }

  #measurement(): Step | undefined {
    const text = this.#text
    const start = this.#at
    let step = this.#names.measurements.last
    if (step === undefined || !text.startsWith(step.key, start)) {
      let at = start
      let code = text.charCodeAt(at)
      while (code > space && code !== comma && code !== backslash && code !== quote) {
        code = text.charCodeAt(++at)
      }
      const isName = (code === comma || code === space) && at > start && text[start] !== '#'
      if (!isName) return undefined
      step = this.#names.following(this.#names.measurements, text.slice(start, at + 1), undefined)
      if (step === undefined) return undefined
    }
    this.#at += step.key.length
    return this.#keep(step, `"${step.key.slice(0, -1)}"`)
  }

  /** The step that follows on another one, having moved over its name and the character behind it. */
  #step(before: Step, steps: Steps): Step | undefined {
    const text = this.#text
    const start = this.#at
    let step = steps.last
    if (step === undefined || !text.startsWith(step.key, start)) {
      let at = start
      let code = text.charCodeAt(at)
      while (code > space && code !== equalsSign && code !== comma && code !== backslash) {
        code = text.charCodeAt(++at)
      }
      if (code !== equalsSign || at === start) return undefined
      step = this.#names.following(steps, text.slice(start, at + 1), before)
      if (step === undefined) return undefined
    }
    this.#at += step.key.length
    return step
  }

  #tag(step: Step): boolean {
    const text = this.#text
    const start = this.#at
    let at = start
    let code = text.charCodeAt(at)
    while (
      code > space &&
      code !== comma &&
      code !== equalsSign &&
      code !== backslash &&
      code !== quote
    ) {
      code = text.charCodeAt(++at)
    }
    this.#at = at
    const isValue = (code === comma || code === space) && at > start
    return isValue && this.#keep(step, `"${text.slice(start, at)}"`) !== undefined
  }

  #field(step: Step): boolean {
    const code = this.#text.charCodeAt(this.#at)
    if (code === quote) return this.#quoted(step)
    return code <= nine ? this.#number(step) : this.#boolean(step, code)
  }

  #quoted(step: Step): boolean {
    const text = this.#text
    const start = this.#at
    let at = start + 1
    let code = text.charCodeAt(at)
    while (code >= space && code !== quote && code !== backslash) code = text.charCodeAt(++at)
    this.#at = at + 1
    return code === quote && this.#keep(step, text.slice(start, at + 1)) !== undefined
  }

  /** Keeps a text in quotes, if its member allows it. */
  #keep(step: Step, quoted: string): Step | undefined {
    const { member, isKept, depth } = step
    if (!isKept) return step
    let text = quoted
    if (member?.kind === 'datetime') {
      const instantUs = parseInstant(quoted.slice(1, -1))
      if (typeof instantUs === 'object') return undefined
      text = `"${formatUs(instantUs)}"`
    } else if (member !== undefined && member.kind !== 'string') return undefined
    if (member?.allowed?.has(text) === false) return undefined
    this.#texts[depth] = text
    return step
  }

  #number({ member, isKept, depth }: Step): boolean {
    const text = this.#text
    const start = this.#at
    let end = this.endOfNumber(text, start)
    if (end < 0) return false
    const code = text.charCodeAt(end)
    if (code === lowerI || code === lowerU) {
      const isFit = this.isInteger && (code === lowerI || text.charCodeAt(start) !== minus)
      if (!isFit) return false
      end++
    }
    this.#at = end
    if (!isKept) return true
    this.#texts[depth] = this.canonical
    if (member === undefined) return true
    const { kind, min, max, allowed } = member
    if (kind !== 'number' && !(kind === 'integer' && this.isInteger)) return false
    return this.value >= min && this.value <= max && allowed?.has(this.canonical) !== false
  }

  #boolean({ member, isKept, depth }: Step, code: number): boolean {
    const text = this.#text
    const isTrue = code === lowerT || code === upperT
    if (!isTrue && code !== lowerF && code !== upperF) return false
    const start = this.#at
    let at = start + 1
    for (let next = text.charCodeAt(at); isLetter(next); ) next = text.charCodeAt(++at)
    this.#at = at
    const spellings = isTrue ? trueSpellings : falseSpellings
    if (!spellings.has(text.slice(start, at))) return false
    if (!isKept) return true
    const canonical = isTrue ? 'true' : 'false'
    this.#texts[depth] = canonical
    if (member === undefined) return true
    return member.kind === 'boolean' && member.allowed?.has(canonical) !== false
  }

  /** Reads the time of the line, if it is plausible. */
  #time(): boolean {
    const text = this.#text
    const { usOfUnit, firstUs, endUs } = this.#needs
    const start = this.#at
    let at = start
    let code = text.charCodeAt(at)
    while (code >= zero && code <= nine) code = text.charCodeAt(++at)
    this.#at = at
    // What is finer than a microsecond is cut off.
    const end = usOfUnit === 0 ? at - 3 : at
    if (end <= start || at - start > timeDigitsMax) return false
    let count = 0
    for (let digit = start; digit < end; digit++) count = count * 10 + text.charCodeAt(digit) - zero
    const timeUs = usOfUnit === 0 ? count : count * usOfUnit
    this.#timeUs = timeUs
    return timeUs >= firstUs && timeUs < endUs
  }

  #reading(step: Step): ScannedReading | undefined {
    const layout = this.#names.layoutOf(step)
    if (layout === undefined) return undefined
    const { values, extra, all } = layout
    const written = this.#written(values)
    if (extra.length === 0) return new ScannedReading(this.#timeUs, written)
    return new ScannedReading(this.#timeUs, written, this.#written(extra), this.#written(all))
  }

  #written(parts: readonly Part[]): string {
    if (parts.length === 0) return '{}'
    let written = ''
    for (const { text, depth } of parts) written += text + (this.#texts[depth] as string)
    return `${written}}`
  }
}

function isLetter(code: number): boolean {
  return (code >= upperA && code <= upperZ) || (code >= lowerA && code <= lowerZ)
}
