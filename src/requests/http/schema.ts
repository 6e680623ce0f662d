import {
  type Static,
  type TOptional,
  type TProperties,
  type TSchema,
  type TString,
  Type,
} from 'typebox'

/** A JSON Schema (2020-12), which is what OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * An object with exactly these members. In an answer that is meant literally: the tests refuse an
 * answer with a member that is not declared, or without one that is.
 */
export function record<Properties extends TProperties, Optional extends keyof Properties = never>(
  properties: Properties,
  { optional = [], ...rest }: { readonly optional?: readonly Optional[] } & JsonSchema = {},
) {
  const members = Object.entries(properties).map(([name, schema]) => {
    return [name, optional.includes(name as Optional) ? Type.Optional(schema) : schema]
  })
  return Type.Object(Object.fromEntries(members) as Members<Properties, Optional>, {
    additionalProperties: false,
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
  return Type.Integer({ minimum, ...(maximum !== undefined && { maximum }), ...rest })
}

/** A schema that the document names and refers to, wherever it is used. */
export function component<Schema extends TSchema>(name: string, schema: Schema): Schema {
  return { ...schema, $id: name }
}

export function listOf<Item extends TSchema>(items: Item, rest: JsonSchema = {}) {
  return Type.Unsafe<readonly Static<Item>[]>({ type: 'array', items, ...rest })
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type, enum: values } = schema as JsonSchema
  return Type.Unsafe<Static<Schema> | null>({
    ...schema,
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }),
  })
}

/** One shape or the other, of which a value has exactly one. */
export function eitherOf<One extends TSchema, Other extends TSchema>(one: One, other: Other) {
  return Type.Unsafe<Static<One> | Static<Other>>({ oneOf: [one, other] })
}

/** One of some texts. */
export function choice<Value extends string>(values: readonly Value[], rest: JsonSchema = {}) {
  return Type.Unsafe<Value>({ type: 'string', enum: [...values], ...rest })
}

export const text = Type.String()
export const boolean = Type.Boolean()
export const number = Type.Number()
export const count = Type.Integer({ minimum: 0 })
export const uuid = Type.String({ format: 'uuid' })
export const uri = Type.String({ format: 'uri' })

/** RFC 3339 with Z and six decimals. */
export const dateTime = Type.String({ format: 'date-time' })

/** The answer of a deletion. */
export const noContent = Type.Null({ description: 'Done; there is nothing to say.' })

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

/** Path parameters that are ids. An id that is no uuid is unknown (404), not malformed. */
export function idParams<Name extends string>(...names: readonly Name[]) {
  return record(Object.fromEntries(names.map((name) => [name, uuid])) as Record<Name, TString>)
}

/** The envelope of the header-key interface around a page of items (decisions.md#lists). */
export function pageOf<Item extends TSchema>(items: Item) {
  return record({
    total_records: count,
    current_page: Type.Integer({ minimum: 1 }),
    total_pages: count,
    content: listOf(items),
  })
}

/** Items on a page of the header-key interface. */
export const pageSizeDefault = 10

/** Query parameters of a page of the header-key interface (decisions.md#lists). */
export const pageQuery = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1 }),
  page_size: Type.Integer({ minimum: 1, maximum: 100, default: pageSizeDefault }),
}

/** Items of a list of the token interface. */
export const cursorLimitDefault = 100

/** Query parameters of a list of the token interface (decisions.md#lists). */
export const cursorQuery = {
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: cursorLimitDefault }),
  cursor: Type.String({ description: 'From the answer before.' }),
}

/** An answer with headers, or of another type than JSON. */
export function answer<Schema extends TSchema>(
  schema: Schema,
  { type = 'application/json', ...rest }: { readonly type?: string } & JsonSchema,
) {
  return Type.Unsafe<Static<Schema>>({ ...rest, content: { [type]: { schema } } })
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

/** What a handler finds in `request.query` under such a schema. */
export type QueryOf<Schema extends TSchema> = Static<Schema>

/** Marks a schema that only describes: the handler checks, with messages or rules of its own. */
export const checkedByHandler = 'x-checked-by-handler'

export function describedOnly<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, [checkedByHandler]: true }
}
