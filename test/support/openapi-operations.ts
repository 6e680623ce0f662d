import type { Answer } from './api-client.ts'

export type Json = Readonly<Record<string, unknown>>

/** The code of an error, also where an operation answers in the form of another service. */
export function errorOf({ headers, body }: Answer<unknown>): string | undefined {
  const inBody = (body as { readonly error?: string } | undefined)?.error
  return headers.get('x-streamvault-error') ?? inBody
}

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
    readonly description?: string
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

/**
 * The body that the document shows as an example of an operation; nothing where it takes none. Where it has two, the
 * one for a token.
 */
export function exampleBody({ requestBody }: Operation): unknown {
  const { content = {} } = requestBody ?? {}
  const media = content['application/json'] ?? content['text/csv']
  const { bearer } = (media?.['examples'] ?? {}) as Partial<NamedExamples>
  return bearer ? bearer.value : media?.['example']
}

type NamedExamples = Readonly<Record<'bearer' | 'key', { readonly value: unknown }>>

/** An operation as each interface has it, where it means something else in each; else the operation as it is. */
export function halvesOf(operation: Operation): readonly Operation[] {
  if (operation.description?.includes(`**${titles['header-key']}:**`) !== true) return [operation]
  return interfacesOf(operation).map((one, index) => ({
    ...operation,
    security: operation.security.slice(index, index + 1),
    parameters: (operation.parameters ?? []).filter(
      ({ description = '' }) =>
        description.startsWith(titles[one]) || !/^With a (bearer|key)/.test(description),
    ),
    ...(operation.requestBody && {
      requestBody: {
        ...operation.requestBody,
        content: halfOf(operation.requestBody.content, one),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([status, { content, ...rest }]) => [
        status,
        { ...rest, ...(content && { content: halfOf(content, one) }) },
      ]),
    ),
  }))
}

const titles: Readonly<Record<Interface, string>> = {
  bearer: 'With a bearer token',
  'header-key': 'With a key',
}

type Content = Readonly<Record<string, Media>>

/** The shape of one interface, and its example, of a body or an answer that has two. */
function halfOf(content: Content, one: Interface): Content {
  const { schema = {}, examples }: Json = content['application/json'] ?? {}
  const { anyOf, oneOf } = schema as Readonly<Record<string, readonly Json[] | undefined>>
  const shape = (anyOf ?? oneOf ?? []).find(({ title }) => title === titles[one])
  if (shape === undefined) return content
  const [half] = shape['allOf'] as readonly [Json]
  const { value } = (examples as NamedExamples)[one === 'bearer' ? 'bearer' : 'key']
  return { 'application/json': { schema: half, example: value } }
}

/** A document as somebody sees it who has credentials of one kind only. */
export function documentFor(document: Json, one: Interface): Json {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operationsOf(document)) {
    const { method, path, ...half } =
      halvesOf(operation).find((some) => interfacesOf(some).includes(one)) ?? operation
    paths[path] = { ...paths[path], [method.toLowerCase()]: half }
  }
  return { ...document, paths }
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
  // Basic authentication is another way to send a key, and a session speaks whichever its page says.
  const chosen = security.filter((schemes) => !('basic' in schemes || 'consoleSession' in schemes))
  return chosen.map((schemes) => ('bearer' in schemes ? 'bearer' : 'header-key'))
}
