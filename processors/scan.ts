import type { Scan } from '../src/contracts/reading.ts'
import type { FieldDefinition, StreamSchema } from '../src/contracts/stream-schema.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { canonicalJson, compareText } from '../src/core/canonical-json.ts'
import { LruMap } from '../src/core/lru-map.ts'
import { readingsPerMessageMax } from './decode-batch.ts'
import { kindOf, type Member, memberOf, PlainValues } from './plain-values.ts'

/**
 * A reading that was recognised in the text of its message, without an object in between. It is known
 * to fit its schema; only its time has still to be compared with that of its receipt.
 */
export class ScannedReading {
  /** Microseconds since the epoch; nothing when it claims no time. */
  readonly claimedUs: number | undefined
  /** Canonical JSON of its declared fields. */
  readonly values: string
  /** That of its other fields; empty when there are none. */
  readonly extra: string
  /** That of all of them. */
  readonly all: string

  constructor(claimedUs: number | undefined, values: string, extra = '', all = values) {
    this.claimedUs = claimedUs
    this.values = values
    this.extra = extra
    this.all = all
  }
}

const comma = 44
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** Scans by schema text, as validators: a thousand streams of one shape share one. */
const scans = new LruMap<string, Scan | typeof none>(1_000)

/** Stands for schemas that have no scan. */
const none = Symbol('no scan')

/** The scan of a schema; nothing when it has other fields than plain ones. */
export function scanOf(schema: StreamSchema): Scan | undefined {
  const key = canonicalJson(schema)
  let known = scans.get(key)
  if (known === undefined) {
    const scan = plainScanOf(schema)
    known = scan === undefined ? none : worthwhile(scan)
    scans.set(key, known)
  }
  return known === none ? undefined : known
}

/** Devices that send what is not plain mostly go on with it. */
const inVainMax = 4
const skippedAfterwards = 100

/** A scan that looks only now and then where nothing has been plain for some messages. */
export function worthwhile(scan: Scan): Scan {
  let inVain = 0
  let toSkip = 0
  return (text) => {
    if (toSkip > 0) {
      toSkip--
      return undefined
    }
    const message = scan(text)
    inVain = message === undefined ? inVain + 1 : 0
    if (inVain >= inVainMax) toSkip = skippedAfterwards
    return message
  }
}

/** A scan of its own, which looks at every message. */
export function plainScanOf(schema: StreamSchema): Scan | undefined {
  const { fields, events, time } = schema
  const timeMember = timeMemberOf(schema)
  // Which fields an event has depends on its type, and some times are not a member of the reading.
  if (events !== undefined || timeMember === undefined || time?.offset !== undefined) {
    return undefined
  }
  const names = Object.keys(fields).sort(compareText)
  const members: Member[] = []
  for (const name of names) {
    const field = fields[name] as FieldDefinition
    const kind = kindOf(field)
    if (kind === undefined || name === timeMember) return undefined
    members.push(memberOf(name, field, kind, members.length))
  }
  const scanner = new PlainScanner(schema, { timeMember, members })
  return (text) => scanner.scan(text)
}

/** Works on one text at a time; what it keeps between two are only guesses about the next. */
class PlainScanner extends PlainValues {
  readonly #members: readonly Member[]
  readonly #byKey: ReadonlyMap<string, Member>
  /** Members in the order in which the reading before had them: devices seldom change it. */
  readonly #order: Member[] = []
  /** Canonical texts of the reading under way, by place. */
  readonly #texts: (string | undefined)[]

  constructor(
    schema: StreamSchema,
    { timeMember, members }: { readonly timeMember: string; readonly members: readonly Member[] },
  ) {
    super(schema)
    const time = memberOf(timeMember, { type: 'datetime' }, 'time', members.length)
    this.#members = members
    this.#byKey = new Map([...members, time].map((member) => [member.key, member]))
    this.#texts = Array<undefined>(members.length + 1).fill(undefined)
  }

  scan(text: string): ReturnType<Scan> {
    const source = this.text
    source.begin(text)
    if (!source.take(openBracket)) {
      const reading = this.#reading()
      if (reading === undefined || !source.isAtEnd) return undefined
      return { readings: [reading], isBatch: false }
    }
    const readings: ScannedReading[] = []
    do {
      const reading = this.#reading()
      if (reading === undefined || readings.length === readingsPerMessageMax) return undefined
      readings.push(reading)
    } while (source.take(comma))
    if (!source.take(closeBracket) || !source.isAtEnd) return undefined
    return { readings, isBatch: true }
  }

  #reading(): ScannedReading | undefined {
    const source = this.text
    if (!source.take(openBrace)) return undefined
    this.#texts.fill(undefined)
    this.claimedUs = undefined
    if (source.take(closeBrace)) return this.#scanned()
    for (let index = 0; this.#member(index); index++) {
      if (source.take(closeBrace)) return this.#scanned()
      if (!source.take(comma)) break
    }
    return undefined
  }

  /** Reads one member; false, without having come to its end, when it is not plain. */
  #member(index: number): boolean {
    const source = this.text
    let member = this.#order[index]
    if (member === undefined || !source.takeText(member.key)) {
      const key = source.key()
      member = key === undefined ? undefined : this.#byKey.get(key)
      if (member === undefined) return false
      this.#order[index] = member
    }
    const text = this.valueOf(member)
    if (text === undefined || this.#texts[member.place] !== undefined) return false
    if (member.allowed !== undefined && !member.allowed.has(text)) return false
    this.#texts[member.place] = text
    return true
  }

  #scanned(): ScannedReading | undefined {
    let values = ''
    for (const { place, isRequired, first, next } of this.#members) {
      const text = this.#texts[place]
      if (text !== undefined) values += (values === '' ? first : next) + text
      else if (isRequired) return undefined
    }
    return new ScannedReading(this.claimedUs, values === '' ? '{}' : `${values}}`)
  }
}
