import { scopesNeeded } from '../../../access/auth/scopes.ts'
import { type ErrorCode, errorCatalogue } from '../../../core/error-catalogue.ts'
import { nodeHttp } from '../node-http.ts'
import type { DescribedRoute } from '../route-description.ts'
import { errorsOf } from '../route-errors.ts'
import { bearerTitle, type JsonSchema, keyHeaders, keyTitle } from '../schema.ts'
import { Components } from './components.ts'
import { errorAnswers, errorExamples, errorSchema } from './error-answers.ts'
import { exampleOf } from './example.ts'
import { tags } from './tags.ts'

export interface DocumentNeeds {
  readonly routes: readonly DescribedRoute[]
  readonly version: string
  /** Base of all paths. */
  readonly publicUrl: string
}

/** The OpenAPI 3.1 document of the routes: every word of it comes from their schemas. */
export function openApiDocument({ routes, version, publicUrl }: DocumentNeeds): JsonSchema {
  const components = new Components()
  components.hoisted(errorSchema)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = (paths[route.url.replaceAll(/:(\w+)/g, '{$1}')] ??= {})
    path[route.method.toLowerCase()] = operation(route, components)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Streamvault',
      version,
      summary: 'Digital twins, and the readings of the devices that belong to them.',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [],
    'x-error-codes': errorCatalogue,
    paths,
    components: {
      schemas: components.schemas,
      examples: errorExamples(new Set(routes.flatMap(documentedErrors))),
      securitySchemes,
    },
  }
}

const introduction = [
  'One address serves two interfaces, and the credentials of a request choose: a bearer token selects',
  'the token interface (camelCase), x-api-key with x-api-secret the header-key interface (snake_case,',
  'pages in an envelope). Where a path exists in both, the operation shows both shapes. Every error',
  'has the same shape, and its code comes from one catalogue.',
].join(' ')

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token of `POST /auth/token`. Selects the token interface.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'Together with `x-api-secret`. Selects the header-key interface.',
  },
  apiSecret: { type: 'apiKey', in: 'header', name: 'x-api-secret' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      'A key and its secret, for devices that can do nothing else: only where readings are sent or read. The same as `x-api-key` with `x-api-secret`.',
  },
  consoleSession: {
    type: 'apiKey',
    in: 'cookie',
    name: 'streamvault-console',
    description:
      'What `POST /console/session` gives a browser; its real name is another one for each service. It counts only with the header `X-Streamvault-Interface`, and changes something only for a page of the service itself.',
  },
} as const

function operation(route: DescribedRoute, components: Components): JsonSchema {
  const { schema, config } = route
  const { scope } = config
  const description = [schema.description, permissionNeeded(config)].filter(Boolean).join('\n\n')
  return {
    operationId: schema.operationId,
    summary: schema.summary,
    ...(description !== '' && { description }),
    tags: schema.tags,
    // All of several are needed: a text with spaces between them, as tokens have it.
    ...(scope !== undefined && { 'x-required-scope': [scope].flat().join(' ') }),
    security: security(config),
    ...parameters(route, components),
    ...requestBody(schema.body, components),
    responses: {
      ...errorAnswers(documentedErrors(route)),
      ...answers(route, components),
    },
  }
}

type Needed = DescribedRoute['config']

function permissionNeeded({ scope, interface: only, needsSession }: Needed): string {
  if (scope === undefined) return ''
  const needed = scopesNeeded(scope).map((one) => `\`${one}\``)
  const word = needed.length > 1 ? 'permissions' : 'permission'
  const permission =
    needed.length === 0 ? 'no particular permission' : `the ${word} ${needed.join(' and ')}`
  if (needsSession === true) return `Needs ${permission}, and a session of the console.`
  if (only === undefined) return `Needs ${permission}.`
  const credentials = only === 'bearer' ? 'a bearer token' : 'a key, not a token'
  return `Needs ${permission}, and ${credentials}.`
}

function security({
  scope,
  interface: only,
  takesBasic,
  needsSession,
}: Needed): readonly JsonSchema[] {
  if (scope === undefined) return []
  const roles = scopesNeeded(scope)
  if (needsSession === true) return [{ consoleSession: roles }]
  const schemes = { bearer: { bearer: roles }, 'header-key': { apiKey: roles, apiSecret: roles } }
  if (only !== undefined) return [schemes[only]]
  const basic = takesBasic === true ? [{ basic: roles }] : []
  return [...Object.values(schemes), ...basic]
}

/** A route may describe the answers of a status itself: then it shows examples of its own. */
function documentedErrors(route: DescribedRoute): readonly ErrorCode[] {
  const own = Object.keys(route.schema.response as object)
  return errorsOf(route).filter((code) => !own.includes(String(errorCatalogue[code].status)))
}

const places = { params: 'path', querystring: 'query', headers: 'header' } as const

function parameters({ url, schema }: DescribedRoute, components: Components): JsonSchema {
  const found = Object.entries(places).flatMap(([part, place]) => {
    const source = (schema[part as keyof typeof places] ?? {}) as JsonSchema
    const required = (source['required'] ?? []) as readonly string[]
    return Object.entries((source['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>).map(
      ([name, { description, ...rest }]) => ({
        name,
        in: place,
        required: place === 'path' || required.includes(name),
        ...(description !== undefined && { description }),
        schema: components.hoisted(rest),
      }),
    )
  })
  const undescribed = [...url.matchAll(/:(\w+)/g)]
    .map(([, name]) => name)
    .filter((name) => !found.some((one) => one.in === 'path' && one.name === name))
  if (undescribed.length > 0) throw new Error(`${url} does not describe ${undescribed.join(', ')}`)
  return found.length === 0 ? {} : { parameters: found }
}

function requestBody(body: unknown, components: Components): JsonSchema {
  if (body === undefined) return {}
  const content = contentOf(body as JsonSchema, components)
  const { type } = body as { readonly type?: unknown }
  const isOptional = Array.isArray(type) && type.includes('null')
  return { requestBody: { required: !isOptional, content } }
}

/** A schema, or `{content}` with one for each media type. */
function contentOf(schema: JsonSchema, components: Components): JsonSchema {
  const given = (schema['content'] ?? { 'application/json': { schema } }) as Readonly<
    Record<string, { readonly schema: JsonSchema }>
  >
  const entries = Object.entries(given).map(([type, { schema: one, ...rest }]) => [
    type,
    { schema: components.hoisted(one), ...examplesOf(one), ...rest },
  ])
  return Object.fromEntries(entries) as JsonSchema
}

/** An example, or one for each interface where these have shapes of their own. */
function examplesOf(schema: JsonSchema): JsonSchema {
  const shapes = (schema['oneOf'] ?? schema['anyOf'] ?? []) as readonly JsonSchema[]
  const named = shapes.flatMap((one) => {
    const name = exampleNames.get(one['title'])
    return name === undefined ? [] : [[name, { summary: one['title'], value: exampleOf(one) }]]
  })
  if (named.length === 0) return { example: exampleOf(schema) }
  return { examples: Object.fromEntries(named) as JsonSchema }
}

const exampleNames: ReadonlyMap<unknown, string> = new Map([
  [bearerTitle, 'bearer'],
  [keyTitle, 'key'],
])

function answers({ schema }: DescribedRoute, components: Components): JsonSchema {
  const entries = Object.entries(schema.response as Readonly<Record<string, JsonSchema>>)
  const isKeyed = schema.headers === keyHeaders
  return Object.fromEntries(
    entries.map(([status, one]) => {
      const described = answer(status, one, components)
      if (!isKeyed || !status.startsWith('2')) return [status, described]
      return [status, { ...described, headers: { ...replayed, ...(one['headers'] as object) } }]
    }),
  ) as JsonSchema
}

const replayed = {
  'Idempotency-Replayed': {
    description: 'Present when this is the first answer to the same request, given again.',
    schema: { const: 'true' },
  },
}

function answer(status: string, schema: JsonSchema, components: Components): JsonSchema {
  const { description, headers, ...rest } = schema
  return {
    description: description ?? nodeHttp.STATUS_CODES[status] ?? 'An answer',
    ...(headers !== undefined && { headers }),
    ...(schema['type'] !== 'null' && {
      // What belongs to a component stays with it.
      content: contentOf(schema['$id'] === undefined ? rest : schema, components),
    }),
  }
}
