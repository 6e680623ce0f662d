import { looseNumber, looseTruth } from '../../../processors/typed-text.ts'
import type { MissingValue } from '../../contracts/mapping.ts'
import type { FieldDefinition } from '../../contracts/stream-schema.ts'
import { parseRfc3339 } from '../../core/time.ts'
import { folded } from './names.ts'
import type { Scalar, Seen } from './seen.ts'

/** An array of more elements is refused whatever is declared of it. */
const arrayItemsMax = 10_000

/** Spellings of nothing that one field is given. */
const missingMax = 20

/** What senders write where they have no value, in lower case. */
const sentinels: ReadonlySet<string> = new Set([
  '',
  '-',
  '--',
  'nan',
  'null',
  'nil',
  'none',
  'n/a',
  'na',
  'unavailable',
  'unknown',
  'undefined',
  'inf',
  '-inf',
  'infinity',
  '-infinity',
])

/** What a number that is a text may be replaced by: whoever sends texts has words for nothing. */
const usualMissing: readonly MissingValue[] = [
  '',
  'n/a',
  'na',
  'nan',
  'none',
  'null',
  'unavailable',
  'unknown',
]

/** A field whose values are sent as texts: words for nothing may be among them, even if none was seen. */
export function ofTexts(field: FieldDefinition): FieldDefinition {
  if (field.type !== 'number' && field.type !== 'boolean') return field
  const { missing = [] } = field
  const others = usualMissing.filter((one) => !missing.includes(one))
  return { ...field, missing: [...missing, ...others] }
}

/** Last parts of names whose digits count nothing: they are no numbers, whatever they look like. */
const identifierEnd =
  /(id|serial|mac|imei|imsi|iccid|eui|addr|address|version|^ver|swver|hwver|fwver|firmware|fw|code|phone|number|uuid|key|ip|zip|hash|name|model|type|ssid|sn)$/

/** A type that takes all values of a place, and what has to be said of it; a problem where none does. */
export interface FoundType {
  readonly field: FieldDefinition
  readonly note?: string
}

export function typeOf(seen: Seen, name: string): FoundType | { readonly problem: string } {
  if (seen.arrays > 0) return arrayOf(seen)
  if (seen.scalars.length === 0) return { problem: 'no type takes null, and nothing else was seen' }
  return scalarOf(seen.scalars, name)
}

function arrayOf({
  scalars,
  elementKinds,
  longest,
}: Seen): FoundType | { readonly problem: string } {
  if (scalars.length > 0) return { problem: 'it is an array and something else in turn' }
  if (longest > arrayItemsMax) return { problem: 'no type takes so long an array' }
  const [kind, ...others] = elementKinds
  const isPlain = kind === 'number' || kind === 'string' || kind === 'boolean'
  if (others.length > 0 || !isPlain) return { field: { type: 'array' } }
  return { field: { type: 'array', items: { type: kind } } }
}

/** A number that has been whole is a number all the same: the next one may have decimals. */
function scalarOf(values: readonly Scalar[], name: string): FoundType {
  const numbers = values.filter((value) => typeof value === 'number')
  const booleans = values.filter((value) => typeof value === 'boolean')
  const texts = values.filter((value) => typeof value === 'string')
  const words = texts.filter((text) => !isSentinel(text))
  const missing = missingOf([...texts, ...wordsOf(numbers)])
  if (booleans.length > 0) return booleanOf({ numbers, words, missing })
  if (words.length === 0 && numbers.length > 0) return { field: { type: 'number', ...missing } }
  const decimal = isIdentifier(name, numbers) ? undefined : decimalOf(words)
  if (decimal !== undefined && words.length > 0) {
    const mark = decimal === ',' ? { decimal } : {}
    return { field: ofTexts({ type: 'number', texts: 'typed', ...mark, ...missing }) }
  }
  if (numbers.length > 0) return asTexts('number and string')
  if (words.length > 0 && words.every((text) => typeof parseRfc3339(text) === 'number')) {
    return { field: { type: 'datetime', ...missing } }
  }
  return { field: { type: 'string' } }
}

interface Parts {
  readonly numbers: readonly number[]
  readonly words: readonly string[]
  readonly missing: Pick<FieldDefinition, 'missing'>
}

function booleanOf({ numbers, words, missing }: Parts): FoundType {
  if (numbers.length === 0 && words.length === 0) return { field: { type: 'boolean', ...missing } }
  const areTruths =
    numbers.every((value) => value === 0 || value === 1) &&
    words.every((text) => looseTruth(text) !== undefined)
  if (areTruths) return { field: { type: 'boolean', texts: 'typed', ...missing } }
  const kinds = [...(numbers.length > 0 ? ['number'] : []), ...(words.length > 0 ? ['string'] : [])]
  return asTexts(['boolean', ...kinds].join(' and '))
}

function asTexts(kinds: string): FoundType {
  return {
    field: { type: 'string', texts: 'typed' },
    note: `is ${kinds} in turn: it is kept as a text`,
  }
}

/** What a number that is none was written as. */
function wordsOf(numbers: readonly number[]): readonly string[] {
  return numbers.every(Number.isFinite) ? [] : ['nan', 'inf', '-inf']
}

function isSentinel(text: string): boolean {
  return sentinels.has(text.trim().toLowerCase())
}

function missingOf(texts: readonly string[]): Pick<FieldDefinition, 'missing'> {
  const found = [...new Set(texts.filter(isSentinel).map((text) => text.trim().toLowerCase()))]
  return found.length === 0 ? {} : { missing: found.toSorted().slice(0, missingMax) }
}

/** Where numbers were seen as well, texts are other spellings of them. */
function isIdentifier(name: string, numbers: readonly number[]): boolean {
  return numbers.length === 0 && identifierEnd.test(folded(name))
}

/** What stands before the decimals of texts that all are numbers; undefined where one is none. */
function decimalOf(texts: readonly string[]): '.' | ',' | undefined {
  if (texts.some((text) => /^\s*[+-]?0\d/.test(text) || text.length > 40)) return undefined
  if (texts.every((text) => looseNumber(text, '.') !== undefined)) return '.'
  const isNumber = texts.every((text) => looseNumber(text, ',') !== undefined)
  // Three digits behind a comma may be thousands.
  const isSure = texts.some((text) => /,(\d{1,2}|\d{4,})\s*$/.test(text))
  return isNumber && isSure ? ',' : undefined
}
