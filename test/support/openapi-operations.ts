export type Json = Readonly<Record<string, unknown>>

interface Media extends Json {
  readonly schema: Json
}

/** An operation of an OpenAPI document, with its place. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security: readonly Json[]
  readonly 'x-required-scope'?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly required: boolean
    readonly schema: { readonly examples?: readonly unknown[] }
  }[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, Media>>
  }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>>; readonly headers?: Json }>
  >
}

/** Every operation of a document, in its order. */
export function operationsOf(document: Json): readonly Operation[] {
  const paths = (document['paths'] ?? {}) as Readonly<
    Record<string, Readonly<Record<string, Json>>>
  >
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        ({ ...operation, method: method.toUpperCase(), path }) as unknown as Operation,
    ),
  )
}

/** The query that an operation cannot do without, from the examples of the document; mostly empty. */
export function neededQuery({ parameters = [] }: Operation): string {
  const needed = parameters.filter((one) => one.in === 'query' && one.required)
  const pairs = needed.map(({ name, schema }) => [name, String(schema.examples?.[0])] as const)
  return pairs.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(pairs)).toString()}`
}

/** The body that the document shows as an example of an operation; nothing where it takes none. */
export function exampleBody({ requestBody }: Operation): unknown {
  const { content = {} } = requestBody ?? {}
  return (content['application/json'] ?? content['text/csv'])?.['example']
}

/** What it has to be sent with, where it is no JSON. */
export function exampleHeaders({ requestBody }: Operation): Readonly<Record<string, string>> {
  const { content = {} } = requestBody ?? {}
  const isCsv = content['application/json'] === undefined && content['text/csv'] !== undefined
  return isCsv ? { 'content-type': 'text/csv' } : {}
}

/** As it is read: `GET /streams/{streamId}`. */
export function nameOf({ method, path }: Operation): string {
  return `${method} ${path}`
}

export type Interface = 'bearer' | 'header-key'

/** The interfaces that the document offers an operation in: none for what anybody may use. */
export function interfacesOf({ security }: Operation): readonly Interface[] {
  return security.map((schemes) => ('bearer' in schemes ? 'bearer' : 'header-key'))
}
