import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { exported, jobIn } from '../support/exports.ts'
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
import { createKey, newPerson, type Person, personOf, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

/**
 * What a key may do to what another key of the same user has made, asked of every operation of the document that
 * could do something to it: a new one cannot be forgotten here.
 */
const service = runningService()
let guarded: readonly Operation[] = []
let owner: Person
let own: ForeignResources

beforeAll(async () => {
  const { body } = await service.api.request<Json>('GET', '/openapi.json')
  guarded = operationsOf(body)
    .flatMap(halvesOf)
    .filter(({ security }) => security.length > 0)
  owner = await newPerson(service.api)
  own = new ForeignResources(service, owner)
})

async function keyOfOwner(wish: object): Promise<Person> {
  return personOf(service.api, await createKey(service.api, { userId: owner.userId, ...wish }))
}

async function ask(person: Person, operation: Operation, at: string) {
  const send = operation.security.some((one) => 'bearer' in one) ? person.withToken : person.withKey
  const headers = exampleHeaders(operation)
  // What a device is called concerns nobody's rights.
  const isDevice = operation.method === 'PUT' && operation.path.includes('{deviceId}')
  const body = isDevice ? { clientId: 'boiler-7' } : exampleBody(operation)
  return await send<ErrorBody | undefined>(operation.method, at, body, headers)
}

async function pathOf(operation: Operation): Promise<string> {
  const [one] = interfacesOf(operation)
  return (await own.pathOf(operation.path, one)) + neededQuery(operation)
}

/** Operations that a key needs no right to change anything for, and what they do all the same: nothing. */
const changingNothing = [
  'POST /streams/{streamId}/alerts/backtest',
  'POST /streams/{streamId}/quarantine/trial',
  'POST /streams/{streamId}/transform/preview',
]

describe('a Read Only key', () => {
  test('changes nothing that another key of its user has made', async () => {
    const reader = await keyOfOwner({ permission: 'read_only' })
    const open = guarded.filter(
      (one) =>
        one.method !== 'GET' &&
        one.path.includes('{') &&
        /:read$|^any$/.test(one['x-required-scope'] ?? ''),
    )
    const verdicts: unknown[] = []
    for (const operation of open) {
      if (changingNothing.includes(nameOf(operation))) continue
      const { status, body } = await ask(reader, operation, await pathOf(operation))
      verdicts.push([nameOf(operation), status, body?.error])
    }

    expect(verdicts).toEqual(
      [
        'DELETE /console/sessions/{consoleSessionId}',
        'DELETE /exports/{exportId}',
        'POST /exports/{exportId}/cancel',
        'POST /exports/{exportId}/resume',
      ].map((name) => [name, 403, 'insufficient_permissions']),
    )
  })

  test('ends its own exports, and a key that writes ends them, too', async () => {
    const reader = await keyOfOwner({ permission: 'read_only' })
    const body = { streamIds: [await streamOf(owner)], format: 'csv' }
    const ofReader = await exported(reader, body)
    const ofOwner = await exported(owner, body)

    const cancelled = await reader.withKey('POST', `/exports/${ofReader.exportId}/cancel`)
    const refused = await reader.withKey<ErrorBody>('DELETE', `/exports/${ofOwner.exportId}`)
    const deleted = await reader.withKey('DELETE', `/exports/${ofReader.exportId}`)

    expect([cancelled.status, refused.status, deleted.status]).toEqual([200, 403, 204])
    expect(refused.body.message).toContain('data:write')
    expect((await jobIn(owner, `/exports/${ofOwner.exportId}`)).state).toBe('completed')
    const another = await exported(reader, body)
    expect((await owner.withKey('DELETE', `/exports/${another.exportId}`)).status).toBe(204)
  })
})

describe('a key that has less', () => {
  test('ends, rotates and changes none that has more', async () => {
    const verdicts: unknown[] = []
    const expected: unknown[] = []
    for (const operation of guarded.filter(endsKeys)) {
      const scope = operation['x-required-scope'] ?? ''
      const [narrow, whole] = [
        await keyOfOwner({ permission: 'custom', scopes: [scope] }),
        await keyOfOwner({ permission: 'admin' }),
      ]
      const at = await pathOf(operation)
      const refused = await ask(narrow, operation, at)
      const done = await ask(whole, operation, at)
      verdicts.push([nameOf(operation), refused.status, refused.body?.error, done.status < 300])
      expected.push([nameOf(operation), 403, 'insufficient_permissions', true])
    }

    expect(verdicts).toEqual(expected)
    expect(verdicts.length).toBeGreaterThan(6)
  })

  test('in time only, neither', async () => {
    const short = await keyOfOwner({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    const verdicts: unknown[] = []
    for (const operation of guarded.filter(endsKeys)) {
      const { status, body } = await ask(short, operation, await pathOf(operation))
      verdicts.push([nameOf(operation), status, body?.error])
    }

    expect(verdicts).toEqual(
      guarded.filter(endsKeys).map((one) => [nameOf(one), 403, 'insufficient_permissions']),
    )
  })

  test('and a vault with keys that devices register with is not deleted', async () => {
    const keeper = await keyOfOwner({ permission: 'custom', scopes: ['vaults:write'] })
    const key = await own.pathOf('/vaults/{vaultId}/provisioning-keys/{provisioningKeyId}')
    const vault = key.replace(/\/provisioning-keys.*/, '')

    expect((await keeper.withKey('DELETE', vault)).status).toBe(403)
    expect((await owner.withKey('DELETE', key)).status).toBe(204)
    expect((await keeper.withKey('DELETE', vault)).status).toBe(204)
  })

  test('ends itself', async () => {
    const keeper = await keyOfOwner({ permission: 'custom', scopes: ['keys:admin'] })

    expect((await keeper.withToken('DELETE', `/keys/${keeper.key.apiKey}`)).status).toBe(204)
    expect((await keeper.withKey('GET', '/users')).status).toBe(401)
  })
})

/** Whether an operation does something to a key of whatever kind. */
function endsKeys({ method, path }: Operation): boolean {
  return method !== 'GET' && /\{(keyId|deviceId|provisioningKeyId)\}/.test(path)
}
