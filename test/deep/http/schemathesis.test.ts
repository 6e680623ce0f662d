import { describe, expect, test } from 'vitest'
import type { ApiClient } from '../../support/api-client.ts'
import { ForeignResources } from '../../support/foreign-resources.ts'
import {
  documentFor,
  type Interface,
  interfacesOf,
  type Json,
  type Operation,
  operationsOf,
} from '../../support/openapi-operations.ts'
import { createUser, newPerson, type Person, personOf } from '../../support/people.ts'
import { type RunningService, runningService } from '../../support/running-service.ts'
import { type AskedOperation, examined, isSchemathesisMissing } from '../../support/schemathesis.ts'
import { adminKey, adminSecret } from '../../support/service-process.ts'
import {
  checksLeftOut,
  checksLeftOutOf,
  neverTaken,
  operationsLeftOut,
} from './schemathesis-exclusions.ts'

const nobody = '00000000-0000-4000-8000-000000000000'
/** Made up at random for each operation, beside what it makes of the limits of each schema; more of them find more. */
const casesMax = Number(process.env['STREAMVAULT_TEST_CASES'] ?? 3)

const schemes = ['bearer', 'apiKey'] as const
type Scheme = (typeof schemes)[number]

const interfaceOf: Readonly<Record<Scheme, Interface>> = {
  bearer: 'bearer',
  apiKey: 'header-key',
}

describe.skipIf(isSchemathesisMissing).each(schemes)('schemathesis, with %s', (scheme) => {
  // One for each: the same seed makes the same names, which would be taken.
  const service = runningService({ STREAMVAULT_CHECK_ANSWERS: 'on' })

  test('finds each operation as the document says', async () => {
    const { body } = await service.api.withKey<Json>('GET', '/openapi.json')
    const document = documentFor(body, interfaceOf[scheme])
    const operations = await askedOperations(service, { scheme, document })
    const { exitCode, output, answers } = await examined({
      http: service.process.http,
      document,
      operations,
      checksLeftOut: Object.keys(checksLeftOut),
      casesMax,
    })
    // An operation that refuses everything is hardly tried.
    const refused = operations.filter(({ name, operationId }) => {
      const statuses = [...(answers.get(name)?.keys() ?? [])]
      return !(operationId in neverTaken) && !statuses.some((status) => status < 300)
    })
    const unasked = operations.filter(({ name }) => (answers.get(name)?.size ?? 0) === 0)

    expect(exitCode, output).toBe(0)
    expect(operations.length).toBeGreaterThan(150)
    expect(unasked).toEqual([])
    expect(refused.map(({ name }) => name)).toEqual([])
  })
})

/** Every operation that takes these credentials, each with resources of its own, that it may also remove. */
async function askedOperations(
  service: RunningService,
  { scheme, document }: { readonly scheme: Scheme; readonly document: Json },
): Promise<readonly AskedOperation[]> {
  const { api } = service
  const owner = await newPerson(api)
  const root = personOf(api, { apiKey: adminKey, apiSecret: adminSecret, userId: '', scopes: [] })
  const resources = new ForeignResources(service, owner)
  const headers = { any: await headersOf(owner, scheme), platform: await headersOf(root, scheme) }
  const asked: AskedOperation[] = []
  for (const operation of operationsOf(document)) {
    const { operationId, method, path, security, 'x-required-scope': scope } = operation
    if (operationsLeftOut[operationId] !== undefined || !takes(security, scheme)) continue
    asked.push({
      name: `${method} ${path}`,
      operationId,
      headers: scope === 'platform:admin' ? headers.platform : headers.any,
      checksLeftOut: Object.keys(checksLeftOutOf[operationId] ?? {}),
      parameters: parametersOf(path, await filledPath(operation, resources, api)),
    })
  }
  return asked
}

function takes(security: Operation['security'], scheme: Scheme): boolean {
  return security.length === 0 || security.some((one) => scheme in one)
}

async function headersOf({ key, token }: Person, scheme: Scheme): Promise<Record<string, string>> {
  if (scheme === 'bearer') return { authorization: `Bearer ${await token()}` }
  return { 'x-api-key': key.apiKey, 'x-api-secret': key.apiSecret }
}

async function filledPath(
  operation: Operation,
  of: ForeignResources,
  api: ApiClient,
): Promise<string> {
  const { operationId, path } = operation
  // The owner has to stay.
  if (operationId === 'deleteUser') return path.replace('{userId}', await createUser(api))
  // The token of a link in a mail nobody has but its receiver, and a backup is a matter of the machine.
  const known = path.replace('{token}', 'none').replace('{backupId}', nobody)
  return await of.pathOf(known, interfacesOf(operation)[0])
}

/** A whole number is one in the settings, too. */
function parametersOf(template: string, path: string): Record<string, string | number> {
  const values = path.split('/').map(decodeURIComponent)
  const names = template.split('/').map((part) => /^\{(\w+)\}$/.exec(part)?.[1])
  return Object.fromEntries(
    names.flatMap((name, at) => {
      const value = values[at] ?? ''
      return name === undefined ? [] : [[`path.${name}`, /^\d+$/.test(value) ? +value : value]]
    }),
  )
}
