import { checkedByHandler, type JsonSchema } from '../schema.ts'

/** Collects the schemas that have a name, and puts references in their places. */
export class Components {
  readonly #schemas = new Map<string, { readonly source: string; readonly schema: unknown }>()

  /**
   * The schema as it stands in the document.
   *
   * @throws Error when two different schemas have one name
   */
  hoisted(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.hoisted(item))
    if (typeof schema !== 'object' || schema === null) return schema
    const { $id: name, ...rest } = schema as JsonSchema
    const inner = () =>
      Object.fromEntries(
        Object.entries(withoutNullable(rest))
          .filter(([key]) => key !== checkedByHandler)
          .map(([key, value]) => [key, this.hoisted(value)]),
      )
    if (typeof name !== 'string') return inner()
    // One that only describes a body is the same one elsewhere.
    const source = JSON.stringify({ ...rest, [checkedByHandler]: undefined })
    const known = this.#schemas.get(name)
    if (known !== undefined && known.source !== source) {
      throw new Error(`two different schemas are named ${name}`)
    }
    if (known === undefined) this.#schemas.set(name, { source, schema: inner() })
    return { $ref: `#/components/schemas/${name}` }
  }

  /** All named schemas, by name. */
  get schemas(): JsonSchema {
    const sorted = [...this.#schemas].toSorted(([left], [right]) => (left < right ? -1 : 1))
    return Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema]))
  }
}

/** `nullable` is a word of OpenAPI 3.0 and of ajv; 3.1 says it as JSON Schema does. */
function withoutNullable(schema: JsonSchema): JsonSchema {
  const { nullable, ...rest } = schema
  if (nullable !== true) return schema
  return { ...rest, type: [rest['type'], 'null'].flat() }
}
