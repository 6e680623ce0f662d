import type {
  Static,
  TBoolean,
  TInteger,
  TNull,
  TNumber,
  TObject,
  TOptional,
  TProperties,
  TSchema,
  TString,
  TUnsafe,
} from 'typebox'

/*
 * Shapes of what goes over HTTP. Each is a plain JSON Schema, with the type of what fits it: TypeBox gives
 * the types, and `Static<typeof shape>` is that of a value. Its own builders are left out, because they are
 * 300 modules, which would be a tenth of the time that a start takes.
 */

/** A JSON Schema (2020-12), which is what OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A schema whose values are of the type that is named with it. */
function shape<Schema extends TSchema>(schema: JsonSchema): Schema {
  return schema as Schema
}

/**
 * An object with exactly these members. In an answer that is meant literally: the tests refuse an
 * answer with a member that is not declared, or without one that is.
 */
export function record<Properties extends TProperties, Optional extends keyof Properties = never>(
  properties: Properties,
  { optional = [], ...rest }: { readonly optional?: readonly Optional[] } & JsonSchema = {},
) {
  const left: readonly string[] = optional as readonly (Optional & string)[]
  const required = Object.keys(properties).filter((name) => !left.includes(name))
  return shape<TObject<Members<Properties, Optional>>>({
    type: 'object',
    additionalProperties: false,
    required,
    properties,
    ...rest,
  })
}

type Members<Properties extends TProperties, Optional> = {
  [Name in keyof Properties]: Name extends Optional ? TOptional<Properties[Name]> : Properties[Name]
}

/** An object of which each member may be left out. */
export function partial<Properties extends TProperties>(
  properties: Properties,
  rest: JsonSchema = {},
) {
  return record(properties, { optional: namesOf(properties), ...rest })
}

/** Names of members, as `optional` of a record takes them. */
export function namesOf<Properties extends TProperties>(properties: Properties) {
  return Object.keys(properties) as readonly (keyof Properties & string)[]
}

/** An integer within bounds, both included. */
export function integer(minimum: number, maximum?: number, rest: JsonSchema = {}) {
  return shape<TInteger>({
    type: 'integer',
    minimum,
    ...(maximum !== undefined && { maximum }),
    ...rest,
  })
}

/** A schema that the document names and refers to, wherever it is used. */
export function component<Schema extends TSchema>(name: string, schema: Schema): Schema {
  return { ...schema, $id: name }
}

export function listOf<Item extends TSchema>(items: Item, rest: JsonSchema = {}) {
  return shape<TUnsafe<readonly Static<Item>[]>>({ type: 'array', items, ...rest })
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type, enum: values } = schema as JsonSchema
  return shape<TUnsafe<Static<Schema> | null>>({
    ...(schema as JsonSchema),
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }),
  })
}

/** One shape or the other, of which a value has exactly one. */
export function eitherOf<One extends TSchema, Other extends TSchema>(one: One, other: Other) {
  return shape<TUnsafe<Static<One> | Static<Other>>>({ oneOf: [one, other] })
}

/** How the document names the shapes of the two interfaces, where one operation has both. */
export const bearerTitle = 'With a bearer token'
export const keyTitle = 'With a key'

/** A shape under a title: a component keeps the name that it has. */
export function titled<Schema extends TSchema>(title: string, schema: Schema) {
  return shape<TUnsafe<Static<Schema>>>({ title, allOf: [schema] })
}

/** A schema whose values are of a type that cannot be told from it. */
export function typed<Type>(schema: JsonSchema) {
  return shape<TUnsafe<Type>>(schema)
}

/** One of some texts. */
export function choice<Value extends string>(values: readonly Value[], rest: JsonSchema = {}) {
  return shape<TUnsafe<Value>>({ type: 'string', enum: [...values], ...rest })
}

/** One of some texts, where the document says nothing but the texts. */
export function among<Value extends string>(values: readonly Value[]) {
  return shape<TUnsafe<Value>>({ enum: [...values] })
}

export const text = shape<TString>({ type: 'string' })
export const boolean = shape<TBoolean>({ type: 'boolean' })
export const number = shape<TNumber>({ type: 'number' })
export const count = integer(0)
export const uuid = shape<TString>({ type: 'string', format: 'uuid' })
export const uri = shape<TString>({ type: 'string', format: 'uri' })

/** RFC 3339 with Z and six decimals. */
export const dateTime = shape<TString>({ type: 'string', format: 'date-time' })

export const nothing = shape<TNull>({ type: 'null' })

/** The answer of a deletion. */
export const noContent = shape<TNull>({
  description: 'Done; there is nothing to say.',
  type: 'null',
})

/** Headers of a POST that may be sent again under one key (decisions.md#idempotency-key). */
export const keyHeaders = {
  type: 'object',
  properties: {
    'idempotency-key': {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'The same key and body within 24 hours get the first answer again, with `Idempotency-Replayed: true`.',
    },
  },
} as const

/** The envelope of the header-key interface around a page of items (decisions.md#lists). */
export function pageOf<Item extends TSchema>(items: Item) {
  return record({
    total_records: count,
    current_page: integer(1),
    total_pages: count,
    content: listOf(items),
  })
}

/** Items on a page of the header-key interface. */
export const pageSizeDefault = 10

/** Query parameters of a page of the header-key interface (decisions.md#lists). */
export const pageQuery = {
  page: integer(1, 1_000_000_000, { default: 1 }),
  page_size: integer(1, 100, { default: pageSizeDefault }),
}

/** Items of a list of the token interface. */
export const cursorLimitDefault = 100

/** Query parameters of a list of the token interface (decisions.md#lists). */
export const cursorQuery = {
  limit: integer(1, 1_000, { default: cursorLimitDefault }),
  cursor: { ...text, description: 'From the answer before.' },
}

/** An answer with headers, or of another type than JSON. */
export function answer<Schema extends TSchema>(
  schema: Schema,
  { type = 'application/json', ...rest }: { readonly type?: string } & JsonSchema,
) {
  return shape<TUnsafe<Static<Schema>>>({ ...rest, content: { [type]: { schema } } })
}

/**
 * A list of the token interface: an array, with the way to the next page in a header
 * (decisions.md#lists).
 */
export function cursorListOf<Item extends TSchema>(items: Item) {
  return answer(listOf(items), {
    description: 'An array; the next page is in the header.',
    headers: { Link: { description: 'The next page.', schema: text } },
  })
}

/**
 * All parameters of a query string may be left out, and no others may come. Handlers get values
 * instead of texts; nothing is filled in for a parameter that did not come.
 */
export function query<Properties extends TProperties>(properties: Properties) {
  return partial(properties)
}

/** Marks a schema that only describes: the handler checks, with messages or rules of its own. */
export const checkedByHandler = 'x-checked-by-handler'

export function describedOnly(schema: TSchema) {
  return shape<TUnsafe>({ ...schema, [checkedByHandler]: true })
}
