import { isObject } from './field-map.ts'
import {
  check,
  duration as durationRule,
  finite as finiteRule,
  flag as flagRule,
  integer as integerRule,
  type Json,
  oneOf as oneOfRule,
  type Problems,
  type Rule,
  text as textRule,
  texts as textsRule,
} from './problems.ts'

declare const valueType: unique symbol

/** What one key of a definition may be: a check, the JSON Schema of what passes it, and its type. */
export interface Field<Value = unknown> {
  readonly rule: Rule
  /** JSON Schema (2020-12). It may allow more than the rule does, and never less. */
  readonly schema: Json
  /** Keys of an object, or of each element of a list. */
  readonly members?: Fields
  /** Only for the compiler: no field has it. */
  readonly [valueType]?: Value
}

/** A field in its place. */
export interface PlacedField<Value = unknown> extends Field<Value> {
  /** What it means, for the page of its source: one cell of a table in Markdown. */
  readonly doc: string
  /** Unit of a number, such as `ms`. */
  readonly unit?: string
  /** What counts where nothing is said. Undefined: it is said in the doc line, or there is none. */
  readonly default?: Value
  readonly isRequired?: boolean
  /** It is shown to nobody. The other members of an object that has a secret are shown. */
  readonly isSecret?: boolean
}

export interface Fields {
  readonly [key: string]: PlacedField
}

export type ValueOf<One extends Field> = One extends { readonly [valueType]?: infer Value }
  ? Value
  : never

type KeysWith<All extends Fields, Note> = {
  [Key in keyof All]: All[Key] extends Note ? Key : never
}[keyof All]

type Values<All extends Fields, There extends keyof All> = {
  readonly [Key in There]: ValueOf<All[Key]>
} & { readonly [Key in Exclude<keyof All, There>]?: ValueOf<All[Key]> }

/** What somebody has written who kept to the fields. */
export type Given<All extends Fields> = Values<All, KeysWith<All, { readonly isRequired: true }>>

/** Values of the fields with all defaults filled in. */
export type Completed<All extends Fields> = Values<
  All,
  KeysWith<All, { readonly isRequired: true } | { readonly default: unknown }>
>

/** A field whose values are of the type that is named with it. */
export function newField<Value>(rule: Rule, schema: Json = {}): Field<Value> {
  return { rule, schema }
}

export const text = newField<string>(textRule, { type: 'string', minLength: 1, maxLength: 2_000 })
export const flag = newField<boolean>(flagRule, { type: 'boolean' })
export const finite = newField<number>(finiteRule, { type: 'number' })

/** A time span, such as `30s`. */
export const duration = newField<string>(durationRule, {
  type: 'string',
  pattern: String.raw`^[1-9]\d{0,5}(s|m|h|d)$`,
})

/** An integer within bounds, both included. */
export function integer(minimum: number, maximum: number): Field<number> {
  return newField(integerRule(minimum, maximum), { type: 'integer', minimum, maximum })
}

export function oneOf<const Value extends string>(...values: readonly Value[]): Field<Value> {
  return newField(oneOfRule(...values), { type: 'string', enum: values })
}

/** An object of texts: as many as `entriesMax` at most. */
export function texts(entriesMax: number): Field<Readonly<Record<string, string>>> {
  return newField(textsRule(entriesMax), {
    type: 'object',
    maxProperties: entriesMax,
    additionalProperties: text.schema,
  })
}

/** A field with a further check, of what is sound so far. */
export function refined<Value>(
  base: Field<Value>,
  checkMore: (value: Value, key: string, problems: Problems) => void,
  schema: Json = {},
): Field<Value> {
  return {
    ...base,
    schema: { ...base.schema, ...schema },
    rule: (value, key, problems) => {
      const before = problems.found.length
      base.rule(value, key, problems)
      if (problems.found.length === before) checkMore(value as Value, key, problems)
    },
  }
}

/** An object with these keys and no others. */
export function part<const All extends Fields>(members: All): Field<Given<All>> {
  return {
    members,
    schema: schemaOf(members),
    rule: (value, key, problems) => {
      if (!isObject(value)) problems.add(key, 'must be an object')
      else checkFields(value, members, problems.within(key))
    },
  }
}

/** A list of objects: one of them at least. @param of what they are called, in the plural */
export function listOf<Item>(
  item: Field<Item>,
  { max, of }: { readonly max: number; readonly of: string },
): Field<readonly Item[]> {
  return {
    ...(item.members && { members: item.members }),
    schema: { type: 'array', minItems: 1, maxItems: max, items: item.schema },
    rule: (value, key, problems) => {
      if (!Array.isArray(value) || value.length === 0 || value.length > max) {
        problems.add(key, `must be an array of 1 to ${max} ${of}`)
        return
      }
      const inner = problems.within(key)
      for (const [index, one] of value.entries()) item.rule(one, `${index}`, inner)
    },
  }
}

/** Holds an object to its fields: unknown keys, missing ones, and each value. */
export function checkFields(value: Json, fields: Fields, problems: Problems): void {
  const rules = Object.fromEntries(Object.entries(fields).map(([key, { rule }]) => [key, rule]))
  check(value, { rules, required: requiredOf(fields) }, problems)
}

/** JSON Schema of an object with these keys and no others. */
export function schemaOf(fields: Fields): Json {
  const properties = Object.entries(fields).map(([key, { schema, doc, default: usual }]) => [
    key,
    { ...schema, description: doc, ...(usual !== undefined && { default: usual }) },
  ])
  const required = requiredOf(fields)
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties) as Json,
  }
}

function requiredOf(fields: Fields): readonly string[] {
  return Object.keys(fields).filter((key) => fields[key]?.isRequired === true)
}
