import { beforeAll, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { ForeignResources } from '../support/foreign-resources.ts'
import {
  exampleBody,
  exampleHeaders,
  halvesOf,
  interfacesOf,
  type Json,
  nameOf,
  neededQuery,
  type Operation,
  operationsOf,
} from '../support/openapi-operations.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

/** What the document says of bodies and keys, held against what the service does with them. */
const service = runningService()
let document: Json = {}
let guarded: readonly Operation[] = []
let owner: Person
let own: ForeignResources

beforeAll(async () => {
  document = (await service.api.request<Json>('GET', '/openapi.json')).body
  guarded = operationsOf(document)
    .flatMap(halvesOf)
    .filter(
      (one) =>
        one.security.length > 0 &&
        one['x-required-scope'] !== 'platform:admin' &&
        // It is for another kind of key.
        one.operationId !== 'registerDevice' &&
        // It takes nothing but a cookie.
        !one.security.some((schemes) => 'consoleSession' in schemes),
    )
  owner = await newPerson(service.api)
  own = new ForeignResources(service, owner)
})

function sender(operation: Operation): Person['withKey'] {
  return operation.security.some((one) => 'bearer' in one) ? owner.withToken : owner.withKey
}

async function pathOf(operation: Operation): Promise<string> {
  const [one] = interfacesOf(operation)
  return (await own.pathOf(operation.path, one)) + neededQuery(operation)
}

/** A schema behind its references. */
function resolved(schema: Json): Json {
  const { $ref: reference } = schema
  if (typeof reference !== 'string') return schema
  const found = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Json)[key], document)
  return resolved(found as Json)
}

function allowsNull(given: Json): boolean {
  const schema = resolved(given)
  const { type, enum: values, oneOf, anyOf } = schema
  const ways = (oneOf ?? anyOf) as readonly Json[] | undefined
  if (ways !== undefined) return ways.some(allowsNull)
  if (Array.isArray(values) && !values.includes(null)) return false
  if (type === undefined) return !('const' in schema) && !('enum' in schema)
  return [type].flat().includes('null')
}

/** The members of the JSON body of an operation, where it is an object of known ones. */
function bodySchema({ requestBody }: Operation): Json | undefined {
  const media = requestBody?.content['application/json']
  const schema = media && resolved(media.schema)
  return schema?.['properties'] === undefined ? undefined : schema
}

interface Case {
  readonly what: string
  readonly body: Json
  /** Whether the document lets it through. */
  readonly isValid: boolean
}

function casesOf(schema: Json, example: Json): readonly Case[] {
  const members = Object.entries(schema['properties'] as Readonly<Record<string, Json>>)
  const required = (schema['required'] ?? []) as readonly string[]
  return [
    ...members.map(([name, member]) => ({
      what: `${name}: null`,
      body: { ...example, [name]: null },
      isValid: allowsNull(member),
    })),
    ...required.map((name) => ({
      what: `without ${name}`,
      body: Object.fromEntries(Object.entries(example).filter(([key]) => key !== name)),
      isValid: false,
    })),
    { what: 'an unknown member', body: { ...example, nobodyKnowsThis: 1 }, isValid: false },
  ]
}

test('a body is refused exactly where the document does not allow it', async () => {
  const differences: string[] = []
  let asked = 0
  for (const operation of guarded) {
    const schema = bodySchema(operation)
    const example = exampleBody(operation)
    if (schema === undefined || typeof example !== 'object' || Array.isArray(example)) continue
    const at = await pathOf(operation)
    for (const { what, body, isValid } of casesOf(schema, (example ?? {}) as Json)) {
      const { status } = await sender(operation)<ErrorBody>(operation.method, at, body)
      asked++
      if ((status !== 400) === isValid && status < 500) continue
      differences.push(`${nameOf(operation)} with ${what}: ${status}`)
    }
  }

  expect(differences).toEqual([])
  expect(asked).toBeGreaterThan(100)
})

/** Readings keep their time of receipt under a key, and are judged again. */
const judgedAgain = ['POST /data', 'POST /streams/{streamId}/data']

test('every POST that takes an Idempotency-Key does what it asks for once', async () => {
  const wrong: unknown[] = []
  for (const operation of guarded) {
    const takesKey = operation.parameters?.some(
      ({ name }) => name.toLowerCase() === 'idempotency-key',
    )
    if (operation.method !== 'POST' || takesKey !== true) continue
    if (judgedAgain.includes(nameOf(operation))) continue
    const at = await pathOf(operation)
    const body = exampleBody(operation)
    const headers = { ...exampleHeaders(operation), 'idempotency-key': `once ${nameOf(operation)}` }
    const send = () => sender(operation)<ErrorBody | undefined>('POST', at, body, headers)
    const first = await send()
    if (first.status >= 300) continue
    const again = await send()
    const isSame = JSON.stringify(again.body) === JSON.stringify(first.body)
    if (again.headers.get('idempotency-replayed') !== 'true' || !isSame) {
      wrong.push([nameOf(operation), again.status])
    }
  }

  expect(wrong).toEqual([])
})
