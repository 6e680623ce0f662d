import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { scopes } from '../../src/access/auth/scopes.ts'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from '../support/api-client.ts'
import { ForeignResources } from '../support/foreign-resources.ts'
import {
  errorOf,
  exampleBody,
  exampleHeaders,
  halvesOf,
  type Interface,
  interfacesOf,
  type Json,
  nameOf,
  neededQuery,
  type Operation,
  operationsOf,
} from '../support/openapi-operations.ts'
import { createUser, newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

/**
 * What no route may get wrong, asked of every route that the OpenAPI document has: a new one cannot be
 * forgotten here.
 */
const service = runningService()
let guarded: readonly Operation[] = []
let owner: Person
let stranger: Person
let foreign: ForeignResources

beforeAll(async () => {
  const { api } = service
  const { body } = await api.request<Json>('GET', '/openapi.json')
  guarded = operationsOf(body).filter(({ security }) => security.length > 0)
  owner = await newPerson(api)
  stranger = await newPerson(api)
  foreign = new ForeignResources(service, owner)
  // Whom the examples of the document share something with.
  await createUser(api, 'ada')
})

/** A path of an operation with ids that nothing has. */
function unknownPath(operation: Operation): string {
  return operation.path.replaceAll(/\{\w+\}/g, () => randomUUID()) + neededQuery(operation)
}

/** A path of an operation with ids of new resources of the owner. */
async function foreignPath(operation: Operation): Promise<string> {
  const [one] = interfacesOf(operation)
  return (await foreign.pathOf(operation.path, one)) + neededQuery(operation)
}

type Verdict = readonly [operation: string, status: number, error: string | undefined]

function verdictOf(operation: Operation, answer: Answer<ErrorBody>): Verdict {
  return [nameOf(operation), answer.status, errorOf(answer)]
}

describe('every operation that needs credentials', () => {
  test('is there', () => {
    expect(guarded.length).toBeGreaterThan(30)
  })

  test('answers 401 missing_credentials without any', async () => {
    const verdicts: Verdict[] = []
    for (const operation of guarded) {
      const answer = await service.api.request<ErrorBody>(
        operation.method,
        unknownPath(operation),
        { body: exampleBody(operation) },
      )
      verdicts.push(verdictOf(operation, answer))
    }

    expect(verdicts).toEqual(guarded.map((one) => [nameOf(one), 401, 'missing_credentials']))
  })

  test('answers 403 insufficient_permissions, naming it, to a key with every other one', async () => {
    const keys = new Map<string, Person>()
    const verdicts: (readonly [...Verdict, boolean])[] = []
    const limited = guarded.filter((one) => one['x-required-scope'] !== 'any')
    const needs = limited.flatMap((operation) =>
      (operation['x-required-scope'] ?? '').split(' ').map((scope) => ({ operation, scope })),
    )
    for (const { operation, scope } of needs) {
      const rest = { permission: 'custom', scopes: scopes.filter((other) => other !== scope) }
      const person = keys.get(scope) ?? (await newPerson(service.api, rest))
      keys.set(scope, person)
      const body = exampleBody(operation)
      const answer = await person.withKey<ErrorBody>(operation.method, unknownPath(operation), body)
      const isNamed =
        answer.headers.has('x-streamvault-error') || answer.body.message.includes(scope)
      verdicts.push([...verdictOf(operation, answer), isNamed])
    }

    expect(verdicts).toEqual(
      needs.map(({ operation }) => [nameOf(operation), 403, 'insufficient_permissions', true]),
    )
  })
})

describe('every operation of one interface', () => {
  const both: readonly Interface[] = ['bearer', 'header-key']

  test('answers 400 invalid_request to the credentials of the other one, and no other does', async () => {
    const admin = await newPerson(service.api, { permission: 'custom', scopes })
    const refused: unknown[] = []
    for (const operation of guarded) {
      for (const one of both) {
        const send = sendIn(admin, one)
        const { status, body } = await send<ErrorBody | undefined>(
          operation.method,
          unknownPath(operation),
          operation.method === 'GET' ? undefined : { nobody: 'knows this member' },
        )
        const isRefused = status === 400 && body?.message.startsWith('this operation needs')
        if (isRefused === true) refused.push([nameOf(operation), one])
      }
    }

    expect(refused).toEqual(
      guarded.flatMap((operation) =>
        both
          .filter((one) => !interfacesOf(operation).includes(one))
          .map((one) => [nameOf(operation), one]),
      ),
    )
    expect(refused).toContainEqual(['GET /auth/validate', 'header-key'])
  })
})

/** Operations on somebody's resources, who alone may use them. */
function personal(): readonly Operation[] {
  return guarded
    .filter((one) => one.path.includes('{') && one['x-required-scope'] !== 'platform:admin')
    .flatMap(halvesOf)
}

/** How a person asks in an interface. */
function sendIn(person: Person, one: Interface): Person['withKey'] {
  return one === 'bearer' ? person.withToken : person.withKey
}

/** How a person asks in the first interface that has an operation. */
function sendFirst(person: Person, operation: Operation): Person['withKey'] {
  const [one = 'bearer'] = interfacesOf(operation)
  return sendIn(person, one)
}

/** Asks as a person in every interface that has the operation. */
async function asked(
  person: Person,
  operation: Operation,
  { at, body }: { readonly at: string; readonly body: unknown },
): Promise<readonly Answer<ErrorBody>[]> {
  const answers: Answer<ErrorBody>[] = []
  for (const one of interfacesOf(operation)) {
    const headers = exampleHeaders(operation)
    answers.push(await sendIn(person, one)<ErrorBody>(operation.method, at, body, headers))
  }
  return answers
}

describe('every operation on a resource', () => {
  test('answers 404 not_found to somebody else, in either interface', async () => {
    const verdicts: Verdict[] = []
    for (const operation of personal()) {
      const at = await foreignPath(operation)
      const answers = await asked(stranger, operation, { at, body: exampleBody(operation) })
      verdicts.push(...answers.map((answer) => verdictOf(operation, answer)))
    }

    const wrong = verdicts.filter(([, status, error]) => status !== 404 || error !== 'not_found')
    expect(wrong).toEqual([])
    expect(verdicts.length).toBeGreaterThan(personal().length)
  })

  test('finds it for its owner', async () => {
    const verdicts: Verdict[] = []
    for (const operation of personal()) {
      const at = await foreignPath(operation)
      const body = exampleBody(operation)
      const headers = exampleHeaders(operation)
      const send = sendFirst(owner, operation)
      const answer = await send<ErrorBody>(operation.method, at, body, headers)
      verdicts.push(verdictOf(operation, answer))
    }

    // What was not given up cannot be tried again: that is said of what is found only.
    const isFound = ([operation, status]: Verdict) =>
      status < 300 || (status === 409 && operation.endsWith('/retry'))
    expect(verdicts.filter((verdict) => !isFound(verdict))).toEqual([])
  })

  test('answers somebody else just as it answers an id that nothing has', async () => {
    for (const operation of personal()) {
      const { method } = operation
      const body = exampleBody(operation)
      const path = await foreignPath(operation)
      const unknown = unknownPath(operation)
      const headers = exampleHeaders(operation)
      const send = sendFirst(stranger, operation)
      const ofForeign = await send<ErrorBody>(method, path, body, headers)
      const ofUnknown = await send<ErrorBody>(method, unknown, body, headers)

      expect(withoutIds(ofForeign.body.message, path)).toBe(
        withoutIds(ofUnknown.body.message, unknown),
      )
    }
  })
})

function withoutIds(message: string, path: string): string {
  return path.split(/[/?]/).reduce((text, id) => (id === '' ? text : text.replace(id, '')), message)
}

/** What somebody else's id in a body is answered with: a new member has to be thought of here. */
const idsInBodies: Readonly<Record<string, readonly [status: number, error: string]>> = {
  template_id: [404, 'not_found'],
  vaultId: [404, 'not_found'],
  stream_id: [404, 'not_found'],
  // Whether there is such a user is told to nobody, and one's own keys need no id.
  userId: [403, 'insufficient_permissions'],
}

const templateOf: Readonly<Record<string, string>> = {
  template_id: '{templateId}',
  vaultId: '{vaultId}',
  userId: '{userId}',
}

test('no body reaches the resources of somebody else', async () => {
  const verdicts: unknown[] = []
  const expected: unknown[] = []
  for (const operation of guarded.flatMap(halvesOf)) {
    const body = (exampleBody(operation) ?? {}) as Json
    if (operation['x-required-scope'] === 'platform:admin') continue
    for (const name of Object.keys(body).filter((key) => /(_id|Id)$/.test(key))) {
      const id = await foreign.pathOf(templateOf[name] ?? `{${name}}`)
      const wish = { ...body, [name]: id }
      for (const answer of await asked(stranger, operation, { at: operation.path, body: wish })) {
        verdicts.push([name, ...verdictOf(operation, answer)])
        expected.push([name, nameOf(operation), ...(idsInBodies[name] ?? [])])
      }
    }
  }

  expect(verdicts).toEqual(expected)
  expect(verdicts.length).toBeGreaterThan(2)
})
