import type { FieldMap } from '../../contracts/stream-schema.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { soughtHint, spellingHint, unknownNameHint } from '../../core/suggestions.ts'
import { isObject } from './field-map.ts'

export type Json = Readonly<Record<string, unknown>>

/** Longest text in a definition, unless something else is said. */
const textLengthMax = 2_000

type Hint = string | (() => string | undefined)

/** Collects what is wrong with one object of a definition: all of it, each with its path. */
export class Problems {
  readonly #path: string
  readonly #found: ErrorDetail[]

  constructor(path: string, found: ErrorDetail[]) {
    this.#path = path
    this.#found = found
  }

  /** Where what is wrong is written down, for those that walk by themselves. */
  get found(): ErrorDetail[] {
    return this.#found
  }

  get path(): string {
    return this.#path
  }

  /** The path of a member, or with an empty key that of the object itself. */
  pathOf(key: string): string {
    if (key === '') return this.#path
    return this.#path === '' ? key : `${this.#path}.${key}`
  }

  /** @param hint what to write instead, as a sentence, where that is known; as a function where it has to be looked for */
  add(key: string, message: string, hint?: Hint): void {
    const found = typeof hint === 'function' ? soughtHint(this.#found, hint) : hint
    this.#found.push({
      path: this.pathOf(key),
      message,
      ...(found !== undefined && { hint: found }),
    })
  }

  within(key: string): Problems {
    return new Problems(this.pathOf(key), this.#found)
  }

  refuseUnknown(value: Json, known: readonly string[]): void {
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) this.add(key, 'is not known', () => unknownNameHint(key, known))
    }
  }
}

/** Says what is wrong with the value of a key, if anything is. */
export type Rule = (value: unknown, key: string, problems: Problems) => void

export interface Rules {
  readonly [key: string]: Rule
}

/** Holds an object to its rules: unknown keys, missing ones, and each value. */
export function check(
  value: Json,
  { rules, required = [] }: { readonly rules: Rules; readonly required?: readonly string[] },
  problems: Problems,
): void {
  problems.refuseUnknown(value, Object.keys(rules))
  for (const key of required) if (value[key] === undefined) problems.add(key, 'is required')
  for (const [key, rule] of Object.entries(rules)) {
    if (value[key] !== undefined) rule(value[key], key, problems)
  }
}

export const text: Rule = (value, key, problems) => {
  if (typeof value === 'string' && value !== '' && value.length <= textLengthMax) return
  problems.add(key, `must be a text of 1 to ${textLengthMax} characters`)
}

export function oneOf(...values: readonly string[]): Rule {
  return (value, key, problems) => {
    if (values.some((known) => known === value)) return
    problems.add(key, `must be one of ${values.join(', ')}`, () => spellingHint(value, values))
  }
}

export const finite: Rule = (value, key, problems) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) problems.add(key, 'must be a number')
}

export const flag: Rule = (value, key, problems) => {
  if (typeof value !== 'boolean') problems.add(key, 'must be true or false')
}

export function integer(min: number, max: number): Rule {
  return (value, key, problems) => {
    const fits = Number.isInteger(value) && Number(value) >= min && Number(value) <= max
    if (!fits) problems.add(key, `must be an integer from ${min} to ${max}`)
  }
}

/** A field that is there where it is named. */
export function fieldOf(fields: FieldMap): Rule {
  return (value, key, problems) => {
    if (typeof value === 'string' && Object.hasOwn(fields, value)) return
    const names = Object.keys(fields)
    const message = `must be one of the fields ${names.slice(0, 20).join(', ')}`
    problems.add(key, message, () => spellingHint(value, names))
  }
}

export const duration: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^[1-9]\d{0,5}(s|m|h|d)$/.test(value)) return
  problems.add(key, 'must be a duration such as 30s, 1m, 6h or 1d')
}

/** An object with rules of its own. */
export function part(rules: Rules, required: readonly string[] = []): Rule {
  return (value, key, problems) => {
    if (isObject(value)) check(value, { rules, required }, problems.within(key))
    else problems.add(key, 'must be an object')
  }
}

/** An object of texts: as many as `entriesMax` at most. */
export function texts(entriesMax: number): Rule {
  return (value, key, problems) => {
    if (!isObject(value)) {
      problems.add(key, 'must be an object of texts')
      return
    }
    const entries = Object.entries(value)
    if (entries.length > entriesMax) problems.add(key, `has more than ${entriesMax} entries`)
    for (const [name, item] of entries) text(item, name, problems.within(key))
  }
}
