import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Role } from '../../src/twins/rights/right.ts'
import { ForeignResources } from '../support/foreign-resources.ts'
import { type Shared, share } from '../support/granted.ts'
import {
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
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

/**
 * What a permission to READ and one to WRITE let their holder do, asked of every operation of the document: one that is
 * in no list has to be thought of here.
 */
const service = runningService()
let operations: readonly Operation[] = []
let owner: Person
let reader: Person
let writer: Person
let foreign: ForeignResources

beforeAll(async () => {
  const { api } = service
  const { body } = await api.request<Json>('GET', '/openapi.json')
  operations = operationsOf(body).flatMap(halvesOf)
  owner = await newPerson(api)
  reader = await newPerson(api)
  writer = await newPerson(api)
  foreign = new ForeignResources(service, owner)
})

/** What either permission lets its holder do. */
const forBoth = new Set([
  'GET /vaults/{vaultId}',
  'GET /vaults/{vaultId}/image',
  'GET /vaults/{vaultId}/metadata',
  'GET /vaults/{vaultId}/proof',
  'GET /streams/{streamId} with a key',
  'GET /streams/{streamId}/metadata',
  'GET /streams/{streamId}/proof',
  'GET /streams/{streamId}/assets',
  'GET /streams/{streamId}/assets/{assetId}',
  'GET /streams/{streamId}/assets/{assetId}/metadata',
  'GET /streams/{streamId}/assets/{assetId}/proof',
  'GET /streams/{streamCode}/attachments',
  'GET /attachments/{attachmentId}',
  'GET /attachments/{attachmentId}/content',
  'GET /attachments/{attachmentId}/files/{index}',
  'GET /attachments/{attachmentId}/proof',
  'GET /attachments/{attachmentId}/signatures',
  'GET /attachments/{attachmentId}/signatures/{signatureId}',
  'GET /attachments/{attachmentId}/signatures/{signatureId}/proof',
])

/** What one to WRITE lets its holder do, and one to READ does not. */
const forWriters = new Set([
  'PUT /vaults/{vaultId}',
  'POST /vaults/{vaultId}/verify',
  'POST /vaults/{vaultId}/retry',
  'PUT /streams/{streamId} with a key',
  'POST /streams/{streamId}/retry',
  'POST /attachments/{attachmentId}/retry',
  'POST /attachments/{attachmentId}/signatures',
  'POST /attachments/{attachmentId}/signatures/{signatureId}/retry',
])

/** What their owner alone may do with what others see. */
const forOwners = new Set([
  'DELETE /vaults/{vaultId}',
  'GET /vaults/{vaultId}/latest',
  'GET /vaults/{vaultId}/permissions',
  'POST /vaults/{vaultId}/permissions',
  'PUT /vaults/{vaultId}/permissions/{permissionId}',
  'DELETE /vaults/{vaultId}/permissions/{permissionId}',
  'GET /vaults/{vaultId}/provisioning-keys',
  'POST /vaults/{vaultId}/provisioning-keys',
  'DELETE /vaults/{vaultId}/provisioning-keys/{provisioningKeyId}',
  'GET /vaults/{vaultId}/retention',
  'PUT /vaults/{vaultId}/retention',
  'DELETE /streams/{streamId} with a key',
  'POST /streams/{streamId}/assets',
  'POST /streams/{streamId}/assets/{assetId}/retry',
  'GET /streams/{streamId}/permissions',
  'POST /streams/{streamId}/permissions',
  'PUT /streams/{streamId}/permissions/{permissionId}',
  'DELETE /streams/{streamId}/permissions/{permissionId}',
  'DELETE /attachments/{attachmentId}',
])

/** Operations whose paths name nothing that can be shared. */
const ofNothingShared = [
  /^\w+ [^{]*$/,
  /^\w+ \/(alerts|alert-rules|backups|console|devices|exports|hooks|imports|keys|mail|mqtt|notifications|uploads|templates|users|webhooks)\/\{?/,
  /^GET \/verify\/\{cid\}$/,
  // Data streams, and fleets of them, belong to a vault, and are shared with nobody.
  /^\w+ \/fleets\/\{/,
  /^\w+ \/streams\/\{streamId\} with a token$/,
  /^\w+ \/streams\/\{streamId\}\/(alerts|data|deletion|import|latest|pause|quarantine|receipts|refused|resume|seals|source|status|tail|transform|validate|versions)(\/|$)/,
]

/** An operation, with the interface where another has something else under the same name. */
function placeOf(operation: Operation): string {
  const isHalf = operations.filter((one) => nameOf(one) === nameOf(operation)).length > 1
  if (!isHalf) return nameOf(operation)
  return `${nameOf(operation)} with a ${interfacesOf(operation)[0] === 'bearer' ? 'token' : 'key'}`
}

function isElsewhere(place: string): boolean {
  return ofNothingShared.some((known) => known.test(place))
}

test('every operation is in one of the lists, and everything in the lists is one', () => {
  const places = operations.map(placeOf)
  const listed = [...forBoth, ...forWriters, ...forOwners]

  expect(places.filter((place) => !listed.includes(place) && !isElsewhere(place))).toEqual([])
  expect(listed.filter((place) => !places.includes(place) || isElsewhere(place))).toEqual([])
  expect(new Set(listed).size).toBe(listed.length)
})

type Verdict = readonly [place: string, interfaces: Interface, status: number, error: string]

/** What a holder of a permission is answered, in every interface that has an operation. */
async function verdictsOf(holder: Person, role: Role, operation: Operation): Promise<Verdict[]> {
  const path = await foreign.pathOf(operation.path, interfacesOf(operation)[0])
  await share(owner, holder, await sharedIn(path), role)
  const verdicts: Verdict[] = []
  for (const one of interfacesOf(operation)) {
    const send = one === 'bearer' ? holder.withToken : holder.withKey
    const { status, body } = await send<Partial<ErrorBody> | undefined>(
      operation.method,
      path + neededQuery(operation),
      exampleBody(operation),
      exampleHeaders(operation),
    )
    verdicts.push([placeOf(operation), one, status, body?.error ?? ''])
  }
  return verdicts
}

/** What has to be shared for somebody else to see what a path names. */
async function sharedIn(path: string): Promise<Shared> {
  const [, kind, id = ''] = path.split('/')
  if (kind !== 'attachments') return { kind: kind === 'vaults' ? 'vaults' : 'streams', id }
  const { body } = await owner.withKey<{ stream_id: string }>('GET', `/attachments/${id}`)
  return { kind: 'streams', id: body.stream_id }
}

function isAllowed([place, , status]: Verdict): boolean {
  // What was not given up cannot be tried again, and nobody signs twice: that is said of what may be.
  return status < 300 || (status === 409 && /\/(?:retry|signatures)$/.test(place))
}

function isForbidden([, , status, error]: Verdict): boolean {
  return status === 403 && error === 'insufficient_permissions'
}

describe.each([
  ['READ', () => reader, [forBoth], [forWriters, forOwners]],
  ['WRITE', () => writer, [forBoth, forWriters], [forOwners]],
] as const)('a permission to %s', (role, holder, allowed, forbidden) => {
  const verdictsIn = async (lists: readonly ReadonlySet<string>[]) => {
    const meant = operations.filter((one) => lists.some((list) => list.has(placeOf(one))))
    const verdicts: Verdict[] = []
    for (const operation of meant) verdicts.push(...(await verdictsOf(holder(), role, operation)))
    return verdicts
  }

  test('lets its holder do all that it is for', async () => {
    const verdicts = await verdictsIn(allowed)

    expect(verdicts.filter((verdict) => !isAllowed(verdict))).toEqual([])
    expect(verdicts.length).toBeGreaterThan(20)
  })

  test('lets its holder do nothing else: 403 insufficient_permissions', async () => {
    const verdicts = await verdictsIn(forbidden)

    expect(verdicts.filter((verdict) => !isForbidden(verdict))).toEqual([])
    expect(verdicts.length).toBeGreaterThan(30)
  })
})
