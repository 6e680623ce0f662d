import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, test } from 'vitest'
import { errorCatalogue } from '../../src/core/error-catalogue.ts'
import { tags } from '../../src/requests/http/openapi/tags.ts'
import {
  interfacesOf,
  type Json,
  type Operation,
  operationsOf,
} from '../support/openapi-operations.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
let document: Json = {}
let operations: readonly Operation[] = []

beforeAll(async () => {
  const response = await fetch(`${service.process.http}/openapi.json`)
  document = (await response.json()) as Json
  operations = operationsOf(document)
})

/** Names of the operations of which something holds: one line says all that is wrong. */
function thoseThat(holds: (operation: Operation) => boolean): string[] {
  return operations.filter(holds).map(({ method, path }) => `${method} ${path}`)
}

/** Every object in the document, with its place. */
function* objectsIn(value: unknown, place = '#'): Generator<readonly [string, Json]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [place, value as Json]
  for (const [key, member] of Object.entries(value)) {
    yield* objectsIn(member, `${place}/${key.replaceAll('/', '~1')}`)
  }
}

function resolve(reference: string): unknown {
  const parts = reference.replace(/^#\//, '').split('/')
  return parts.reduce<unknown>((at, part) => (at as Json | undefined)?.[part], document)
}

describe('the OpenAPI document', () => {
  test('is of version 3.1 and carries the version of the product', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

    expect(document['openapi']).toBe('3.1.0')
    expect(document['info']).toMatchObject({ version: manifest.version })
  })

  test('names the address of the service', () => {
    expect(document['servers']).toEqual([{ url: expect.stringMatching(/^http:\/\//) as string }])
  })

  test('has the operations of the specification', () => {
    const names = operations.map(({ method, path }) => `${method} ${path}`)

    expect(names).toEqual(
      expect.arrayContaining([
        'POST /auth/token',
        'GET /templates',
        'POST /templates',
        'GET /templates/{templateId}',
        'GET /vaults',
        'POST /vaults',
        'POST /streams',
        'POST /streams/{streamId}/data',
        'GET /streams/{streamId}/data',
        'GET /streams/{streamId}/status',
        'GET /health/ready',
        'GET /metrics',
        'GET /openapi.json',
      ]),
    )
  })

  test('says of each operation its id, its summary and a known tag', () => {
    expect(thoseThat(({ operationId }) => !/^[a-z][A-Za-z]+$/.test(operationId))).toEqual([])
    expect(thoseThat(({ summary }) => !/^[A-Z].*\.$/.test(summary))).toEqual([])
    expect(thoseThat((one) => one.tags.some((tag) => !(tag in tags)))).toEqual([])
    expect(thoseThat((one) => one.tags.length !== 1)).toEqual([])
  })

  test('uses no operation id twice', () => {
    const ids = operations.map(({ operationId }) => operationId)

    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test('uses every tag that it explains', () => {
    const used = new Set(operations.flatMap((operation) => operation.tags))

    expect(Object.keys(tags).filter((tag) => !used.has(tag))).toEqual([])
  })

  test('refers to nothing that is not there', () => {
    const broken = [...objectsIn(document)]
      .map(([place, { $ref }]) => [place, $ref] as const)
      .filter(([, reference]) => typeof reference === 'string' && !resolve(reference))

    expect(broken).toEqual([])
  })

  test('has no component that nobody refers to', () => {
    const references = new Set([...objectsIn(document)].map(([, { $ref }]) => $ref))
    const { schemas = {}, examples = {} } = document['components'] as Record<string, Json>
    const names = [
      ...Object.keys(schemas).map((name) => `#/components/schemas/${name}`),
      ...Object.keys(examples).map((name) => `#/components/examples/${name}`),
    ]
    const unused = names.filter((name) => !references.has(name))

    expect(unused).toEqual([])
  })

  test('describes both shapes of a path that exists in both interfaces', () => {
    const list = operations.find(({ operationId }) => operationId === 'listVaults')
    const shapes = list?.responses['200']?.content?.['application/json']?.schema['oneOf']

    expect(shapes).toMatchObject([{ title: 'With a bearer token' }, { title: 'With a key' }])
  })
})

test('every POST that needs credentials takes an Idempotency-Key, and says when it gives an answer again', () => {
  const posts = operations.filter(
    ({ method, security }) => method === 'POST' && security.length > 0,
  )
  const silent = posts.filter(({ parameters = [], responses }) => {
    const takes = parameters.some(({ name }) => name === 'idempotency-key')
    const says = Object.entries(responses).some(
      ([status, answer]) =>
        status.startsWith('2') && 'Idempotency-Replayed' in (answer.headers ?? {}),
    )
    return !(takes && says)
  })

  expect(posts.length).toBeGreaterThan(5)
  expect(silent.map(({ path }) => path)).toEqual([])
})

describe('the credentials of an operation', () => {
  test('are one of the two schemes, with the permission, or none', () => {
    const wrong = thoseThat((operation) => {
      const scope = operation['x-required-scope']
      const roles = scope === 'any' ? [] : scope?.split(' ')
      const schemes = {
        bearer: { bearer: roles },
        'header-key': { apiKey: roles, apiSecret: roles },
      }
      const interfaces = interfacesOf(operation)
      const session = needsSession.has(`${operation.method} ${operation.path}`)
        ? [{ consoleSession: [] }]
        : []
      const basic = takesBasic.has(`${operation.method} ${operation.path}`)
        ? [{ basic: roles }]
        : []
      const expected = [...interfaces.map((one) => schemes[one]), ...basic, ...session]
      const isOpen = scope === undefined
      return isOpen !== (expected.length === 0) || !isDeepStrictEqual(operation.security, expected)
    })

    expect(wrong).toEqual([])
  })

  test('are told in the description where only one of the two will do', () => {
    const ofTokens = thoseThat((operation) => String(interfacesOf(operation)) === 'bearer')
    const told = thoseThat(
      ({ description }) => description?.includes('and a bearer token') === true,
    )

    expect(ofTokens).toContain('GET /auth/validate')
    expect(told).toEqual(ofTokens)
  })

  test('are told in its description', () => {
    const silent = thoseThat(
      (one) => one['x-required-scope'] !== undefined && !one.description?.includes('permission'),
    )

    expect(silent).toEqual([])
  })

  test('are none only for what anybody may use', () => {
    const open = thoseThat(({ security }) => security.length === 0)

    expect(open.filter((name) => !openOperations.some((pattern) => pattern.test(name)))).toEqual([])
  })
})

/** What is about the session that it comes with. */
const needsSession: ReadonlySet<string> = new Set([
  'GET /console/session',
  'DELETE /console/session',
])

/** Where readings are sent or read, for devices that can do nothing else. */
const takesBasic: ReadonlySet<string> = new Set([
  'POST /streams/{streamId}/data',
  'POST /streams/{streamId}/validate',
  'POST /data',
  'POST /fleets/{fleetId}/data',
  'POST /fleets/{fleetId}/devices/{device}/data',
  'POST /write',
  'POST /api/v2/write',
  'POST /api/v1/write',
  'POST /v1/metrics',
  'GET /streams/{streamId}/data',
  'GET /streams/{streamId}/latest',
  'GET /streams/{streamId}/receipts',
  'GET /streams/{streamId}/seals',
])

/** What needs no credentials, and what hands them out. */
const openOperations = [
  /^GET \/health(\/live|\/ready)?$/,
  /^GET \/ping$/,
  /^GET \/(metrics|openapi\.json|asyncapi\.json|docs)$/,
  /^GET \/\.well-known\//,
  /^POST \/(auth\/token|console\/session)$/,
  /^GET \/verify\/\{cid\}$/,
  /^(OPTIONS|POST) \/hooks\/\{hookId\}$/,
  /^GET \/auth\/validate$/,
  /^PUT \/uploads\/\{uploadId\}$/,
  /^GET \/users\/\{userId\}\/image$/,
  /^(GET|POST) \/mail\/(verify|unsubscribe)\/\{token\}$/,
]

/** The codes that the answers of an operation list. */
function codesOf({ responses }: Operation): string[] {
  return Object.values(responses).flatMap(({ content }) => {
    const { properties } = content?.['application/json']?.schema ?? {}
    const { error } = (properties ?? {}) as { readonly error?: { readonly enum: string[] } }
    return error?.enum ?? []
  })
}

describe('the errors of an operation', () => {
  test('have the shape and the codes of the catalogue', () => {
    const codes: Readonly<Record<string, { readonly status: number }>> = errorCatalogue
    const wrong = operations.flatMap(({ method, path, responses }) =>
      Object.entries(responses).flatMap(([status, { content }]) => {
        if (status.startsWith('2')) return []
        const examples = content?.['application/json']?.['examples'] as Json | undefined
        return Object.keys(examples ?? {})
          .filter((code) => codes[code]?.status !== Number(status))
          .map((code) => `${method} ${path}: ${status} ${code}`)
      }),
    )

    expect(wrong).toEqual([])
  })

  test('name every code that there is', () => {
    const named = new Set(operations.flatMap(codesOf))
    const missing = Object.keys(errorCatalogue).filter((code) => !named.has(code))

    // What is no request at all, and the way to MQTT are nobody's operation.
    expect(missing).toEqual(['request_timeout', 'websocket_required'])
    expect(document['x-error-codes']).toEqual(errorCatalogue)
  })

  test('are 401 and 403 wherever credentials are needed', () => {
    const wrong = thoseThat(
      ({ security, responses }) => security.length > 0 && !(responses['401'] && responses['403']),
    )

    expect(wrong).toEqual([])
  })
})

test('an answer says of each object whether there may be more than it names', () => {
  const { schemas } = document['components'] as { readonly schemas: Json }
  const described = operations.flatMap(({ responses }) =>
    Object.entries(responses).filter(([status]) => status.startsWith('2')),
  )
  const answers = [...objectsIn(described), ...reachableFrom(described, schemas)]
  const vague = answers
    .filter(([, schema]) => schema['type'] === 'object' && schema['properties'] !== undefined)
    .filter(([, schema]) => schema['additionalProperties'] === undefined)

  expect(vague.map(([place]) => place)).toEqual([])
})

/** The objects of every component that something refers to, by any number of steps. */
function reachableFrom(start: unknown, schemas: Json): (readonly [string, Json])[] {
  const found = new Map<string, (readonly [string, Json])[]>()
  const visit = (value: unknown) => {
    for (const [, { $ref }] of objectsIn(value)) {
      const name = typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? '') : ''
      if (name === '' || found.has(name)) continue
      found.set(name, [...objectsIn(schemas[name], name)])
      visit(schemas[name])
    }
  }
  visit(start)
  return [...found.values()].flat()
}

/** An example where it is, or the place where it is. */
interface Example {
  readonly value?: unknown
  readonly $ref?: string
}

function valueOf({ $ref, value }: Example): unknown {
  return $ref === undefined ? value : (resolve($ref) as Example).value
}

describe('an example', () => {
  test('fits its schema, and every body has one', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    addFormats.default(ajv)
    ajv.addSchema(document, 'document')
    const wrong = [...objectsIn(document['paths'], 'document#/paths')].flatMap(([place, media]) => {
      if (!/\/content\/[a-z]+~1[^/]+$/.test(place)) return []
      const examples = media['examples'] as Record<string, Example> | undefined
      const values = examples
        ? Object.values(examples).map((one) => valueOf(one))
        : [media['example']]
      const validate = ajv.compile({ $ref: encodeURI(`${place}/schema`) })
      return values
        .filter((value) => !validate(value))
        .map(() => `${place}: ${ajv.errorsText(validate.errors)}`)
    })

    expect(wrong).toEqual([])
  })
})

function operationNamed(name: string): Operation | undefined {
  return operations.find((one) => name === `${one.method} ${one.path}`)
}

/** The titles of the shapes that a schema leaves open. */
function titlesIn({ anyOf, oneOf }: Json = {}): readonly unknown[] {
  return ((anyOf ?? oneOf ?? []) as readonly Json[]).map(({ title }) => title)
}

describe('an operation with a meaning in each interface', () => {
  const both = ['With a bearer token', 'With a key']

  test.each([
    ['GET /vaults', 200, false],
    ['GET /streams', 200, false],
    ['POST /streams', 201, true],
    ['GET /streams/{streamId}', 200, false],
    ['PUT /streams/{streamId}', 200, true],
  ])('(%s) shows two shapes, each with a title and an example', (name, status, hasBody) => {
    const operation = operationNamed(name)
    const answer = operation?.responses[String(status)]?.content?.['application/json']
    const body = operation?.requestBody?.content['application/json']

    expect(interfacesOf(operation as Operation)).toEqual(['bearer', 'header-key'])
    for (const media of hasBody ? [answer, body] : [answer]) {
      expect(titlesIn(media?.schema)).toEqual(both)
      expect(Object.keys(media?.['examples'] ?? {})).toEqual(['bearer', 'key'])
    }
    expect(operation?.requestBody !== undefined).toBe(hasBody)
  })

  const ofLists = 'limit cursor vaultId name contains state problem source silentAfter sort include'

  test('tells of each parameter which credentials it goes with', () => {
    const parameters = operationNamed('GET /streams')?.parameters ?? []
    const told = parameters.map(({ name, description = '' }) => [name, description.split('.')[0]])

    expect(told).toEqual([
      ...ofLists.split(' ').map((name) => [name, both[0]]),
      ...['page', 'page_size'].map((name) => [name, both[1]]),
    ])
  })
})

test.each([null, false])(
  'the schema of a stream says that %s stands for no alert rules',
  (none) => {
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    ajv.addSchema(document, 'document')
    const isValid = ajv.compile({ $ref: 'document#/components/schemas/NewDataStream' })
    const { examples } = resolve('#/components/schemas/NewDataStream') as { examples: object[] }

    expect(isValid({ ...examples[0], processing: { alerting: none, alertThresholds: none } })).toBe(
      true,
    )
  },
)
