/** A JSON Schema (2020-12), which is what OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * An object with exactly these members. In an answer that is meant literally: the tests refuse an
 * answer with a member that is not declared, or without one that is.
 */
export function record(
  properties: Readonly<Record<string, JsonSchema>>,
  { optional = [], ...rest }: { readonly optional?: readonly string[] } & JsonSchema = {},
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', additionalProperties: false, required, properties, ...rest }
}

/** A schema that the document names and refers to, wherever it is used. */
export function component(name: string, schema: JsonSchema): JsonSchema {
  return { ...schema, $id: name }
}

export function listOf(items: JsonSchema, rest: JsonSchema = {}): JsonSchema {
  return { type: 'array', items, ...rest }
}

export function nullable(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema
  return {
    ...schema,
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }),
  }
}

export const text = { type: 'string' } as const
export const boolean = { type: 'boolean' } as const
export const number = { type: 'number' } as const
export const count = { type: 'integer', minimum: 0 } as const
export const uuid = { type: 'string', format: 'uuid' } as const
export const uri = { type: 'string', format: 'uri' } as const

/** RFC 3339 with Z and six decimals. */
export const dateTime = { type: 'string', format: 'date-time' } as const

/** The answer of a deletion. */
export const noContent = { description: 'Done; there is nothing to say.', type: 'null' } as const

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
export function idParams(...names: readonly string[]): JsonSchema {
  return record(Object.fromEntries(names.map((name) => [name, uuid])))
}

/** The envelope of the header-key interface around a page of items (decisions.md#lists). */
export function pageOf(items: JsonSchema): JsonSchema {
  return record({
    total_records: count,
    current_page: { type: 'integer', minimum: 1 },
    total_pages: count,
    content: listOf(items),
  })
}

/** Query parameters of a page of the header-key interface (decisions.md#lists). */
export const pageQuery = {
  page: { type: 'integer', minimum: 1, maximum: 1_000_000_000, default: 1 },
  page_size: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
} as const

/** Query parameters of a list of the token interface (decisions.md#lists). */
export const cursorQuery = {
  limit: { type: 'integer', minimum: 1, maximum: 1_000, default: 100 },
  cursor: { type: 'string', description: 'From the answer before.' },
} as const

/**
 * A list of the token interface: an array, with the way to the next page in a header
 * (decisions.md#lists).
 */
export function cursorListOf(items: JsonSchema): JsonSchema {
  return {
    description: 'An array; the next page is in the header.',
    headers: { Link: { description: 'The next page.', schema: text } },
    content: { 'application/json': { schema: listOf(items) } },
  }
}

/** All parameters of a query string may be left out, and no others may come. */
export function query<const Properties extends Parameters>(properties: Properties) {
  return { ...record(properties, { optional: Object.keys(properties) }), properties }
}

type Parameters = Readonly<Record<string, JsonSchema>>

/**
 * What a handler finds in `request.query` under such a schema: checked, and as values instead of
 * texts. Nothing is filled in for a parameter that did not come.
 */
export type QueryOf<Schema extends { readonly properties: Parameters }> = {
  readonly [Name in keyof Schema['properties']]?: ValueOf<Schema['properties'][Name]>
}

type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { readonly type: 'integer' | 'number' }
    ? number
    : Schema extends { readonly type: 'boolean' }
      ? boolean
      : string

/** Marks a schema that only describes: the handler checks, with messages or rules of its own. */
export const checkedByHandler = 'x-checked-by-handler'

export function describedOnly(schema: JsonSchema): JsonSchema {
  return { ...schema, [checkedByHandler]: true }
}
