import type { FieldDefinition, FieldType, StreamSchema } from '../src/contracts/stream-schema.ts'
import { canonicalNumber } from '../src/core/canonical-json.ts'
import { formatUs, parseInstant } from '../src/core/time.ts'
import { PlainText } from './plain-text.ts'
import { epochPlaces } from './times/epochs.ts'
import { type TimeClaim, type TimeReader, timeReaderOf } from './timestamp.ts'

/** How the value of a member has to look. */
type Kind = 'number' | 'integer' | 'boolean' | 'string' | 'datetime' | 'time'

export interface Member {
  readonly name: string
  readonly kind: Kind
  /** Where its canonical text belongs. */
  readonly place: number
  /** `"name":`, as most devices write it. */
  readonly key: string
  readonly isRequired: boolean
  readonly min: number
  readonly max: number
  /** Canonical texts of an enumeration. */
  readonly allowed: ReadonlySet<string> | undefined
  /** The text before its value in the canonical text, as the first and as a later member. */
  readonly first: string
  readonly next: string
}

const kinds: Readonly<Partial<Record<FieldType, Kind>>> = {
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  string: 'string',
  datetime: 'datetime',
}

/** How the value of a field has to look; nothing for one that is not plain. */
export function kindOf({ type }: FieldDefinition): Kind | undefined {
  return kinds[type]
}

/** The member that has a field, or the time. */
export function memberOf(name: string, field: FieldDefinition, kind: Kind, place: number): Member {
  const key = `${JSON.stringify(name)}:`
  return {
    name,
    kind,
    place,
    key,
    isRequired: field.required === true,
    min: field.min ?? Number.NEGATIVE_INFINITY,
    max: field.max ?? Number.POSITIVE_INFINITY,
    allowed:
      field.enum &&
      new Set(
        field.enum.map((value) =>
          typeof value === 'number' ? canonicalNumber(value) : JSON.stringify(value),
        ),
      ),
    first: `{${key}`,
    next: `,${key}`,
  }
}

/** Reads the values of members in a text, as long as they are plain. */
export class PlainValues {
  readonly #readTime: TimeReader
  /** Whether a time may be a number, and whether it may be a text. */
  readonly #time: { readonly isNumber: boolean; readonly isText: boolean }
  protected readonly text = new PlainText()
  /** The time that was read last. */
  protected claimedUs: number | undefined

  constructor(schema: StreamSchema) {
    const isEpoch = epochPlaces(schema.timestampFormat) !== undefined
    this.#readTime = timeReaderOf(schema)
    this.#time = { isNumber: isEpoch, isText: !isEpoch || schema.time !== undefined }
  }

  /** The canonical text of a value that its member allows. */
  protected valueOf(member: Member): string | undefined {
    switch (member.kind) {
      case 'number':
      case 'integer':
        return this.#number(member)
      case 'boolean':
        return this.text.boolean()
      case 'string':
        return this.text.string()
      case 'datetime':
        return this.#datetime()
      case 'time':
        return this.#claim()
      default:
        return member.kind satisfies never
    }
  }

  #number({ kind, min, max }: Member): string | undefined {
    const source = this.text
    const text = source.number()
    if (text === undefined || source.value < min || source.value > max) return undefined
    return kind === 'integer' && !source.isInteger ? undefined : text
  }

  #datetime(): string | undefined {
    const text = this.text.string()
    if (text === undefined) return undefined
    const instantUs = parseInstant(text.slice(1, -1))
    return typeof instantUs === 'object' ? undefined : `"${formatUs(instantUs)}"`
  }

  #claim(): string | undefined {
    const source = this.text
    const { isNumber, isText } = this.#time
    let text = isNumber ? source.number() : undefined
    let claim: TimeClaim
    if (text !== undefined) {
      claim = { value: source.value, source: source.isInteger ? undefined : source.numberSource }
    } else {
      text = isText ? source.string() : undefined
      if (text === undefined) return undefined
      claim = { value: text.slice(1, -1) }
    }
    const timestampUs = this.#readTime(claim)
    if (typeof timestampUs !== 'number') return undefined
    this.claimedUs = timestampUs
    return ''
  }
}
