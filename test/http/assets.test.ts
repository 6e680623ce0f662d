import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { statusesOf } from '../support/anchored.ts'
import { share } from '../support/granted.ts'
import {
  assetsPathOf,
  completeStream,
  failAsset,
  type ShownAsset,
} from '../support/issued-assets.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { StateBeside } from '../support/state-beside.ts'
import { assetStreamOf } from '../support/uploads.ts'

const service = runningService()

const good = { supply: '21000000', precision: 6 }
const amountMax = 2n ** 63n - 1n

interface Refusal {
  readonly error: string
  readonly message: string
  readonly details?: readonly { readonly path: string }[]
}

interface Page {
  readonly total_records: number
  readonly content: readonly ShownAsset[]
}

let owner: Person

beforeAll(async () => {
  owner = await newPerson(service.api)
})

const newPath = () => assetsPathOf(service.process, owner)

async function refused(path: string, body: unknown, by: Pick<Person, 'withKey'> = owner) {
  const { status, body: said } = await by.withKey<Refusal>('POST', path, body)
  return { status, error: said.error, path: said.details?.[0]?.path }
}

describe('an asset', () => {
  test('is shown with what it was made with, from its list and by its id', async () => {
    const path = await newPath()

    const { status, body } = await owner.withKey<ShownAsset>('POST', path, good)

    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String) as string,
      created_at: expect.stringMatching(/\.\d{6}Z$/) as string,
      stream_id: path.split('/')[2],
      ...good,
      status: 'SERVICE_RECEIVED',
      ledger: 'XRPL',
      tx_hash: '',
      failure: null,
      progress: [{ step: 1, status: 'SERVICE_RECEIVED', completed_at: body['created_at'] }],
    })
    const read = (await owner.withKey<ShownAsset>('GET', `${path}/${body.id}`)).body
    expect(statusesOf(read)).toEqual(['SERVICE_RECEIVED', 'METADATA_STORED'])
    const list = await owner.withKey<Page>('GET', path)
    expect(list.body).toMatchObject({ total_records: 1, content: [read] })
  })

  test.each(['XRPL', 'ETHEREUM', 'POLYGON_POS', 'POLYGON_ZKEVM'])('is issued on %s', async (on) => {
    const path = await newPath()
    const { status, body } = await owner.withKey('POST', path, { ...good, ledger: on })
    expect([status, body]).toMatchObject([201, { ledger: on }])
  })

  test('is made once under an Idempotency-Key', async () => {
    const path = await newPath()
    const headers = { 'idempotency-key': 'k' }

    const first = await owner.withKey('POST', path, good, headers)
    const second = await owner.withKey('POST', path, good, headers)

    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
  })

  test('has a proof, which says that there is nothing yet', async () => {
    const path = await newPath()
    const { id } = (await owner.withKey<ShownAsset>('POST', path, good)).body

    const proof = (await owner.withKey('GET', `${path}/${id}/proof`)).body

    expect(proof).toMatchObject({ final: false, status: 'METADATA_STORED', network: 'sandbox' })
  })

  test('cannot be tried again as long as it is tried', async () => {
    const path = await newPath()
    const { id } = (await owner.withKey<ShownAsset>('POST', path, good)).body
    expect(await refused(`${path}/${id}/retry`, {})).toMatchObject({ status: 409 })
  })
})

describe('what is no asset', () => {
  let path: string

  beforeAll(async () => {
    path = await newPath()
  })

  test.each([
    ['0', 'supply'],
    ['-1', 'supply'],
    ['+1', 'supply'],
    ['1e3', 'supply'],
    ['1.5', 'supply'],
    ['1.0', 'supply'],
    ['01', 'supply'],
    ['', 'supply'],
    [' 1', 'supply'],
    ['1\n', 'supply'],
    ['0x10', 'supply'],
    ['١', 'supply'],
    ['1_000', 'supply'],
    ['9'.repeat(19), 'supply'],
    ['1'.repeat(20), 'supply'],
    ['1'.repeat(100_000), 'supply'],
    [21_000_000, 'supply'],
    [null, 'supply'],
  ])('is 400 for the supply %j', async (supply, at) => {
    const refusal = await refused(path, { supply, precision: 0 })
    expect(refusal).toEqual({ status: 400, error: 'invalid_request', path: at })
  })

  test.each([-1, 11, 0.5, '6', null])('is 400 for the precision %j', async (precision) => {
    const refusal = await refused(path, { ...good, precision })
    expect(refusal).toEqual({ status: 400, error: 'invalid_request', path: 'precision' })
  })

  test.each([
    [{ precision: 6 }, 'supply'],
    [{ supply: '1' }, 'precision'],
    [{ ...good, ledger: 'BITCOIN' }, 'ledger'],
    [{ ...good, ledger: null }, 'ledger'],
    [{ ...good, name: 'gold' }, 'name'],
  ])('is 400 for %j', async (body, at) => {
    expect(await refused(path, body)).toMatchObject({ status: 400, path: at })
  })

  test('is what has more smallest units than 63 bits, and nothing else of digits', async () => {
    const digits = fc.bigInt({ min: 1n, max: 10n ** 19n - 1n }).map((whole) => whole.toString())
    await fc.assert(
      fc.asyncProperty(digits, fc.integer({ min: 0, max: 10 }), async (supply, precision) => {
        const fits = BigInt(supply) * 10n ** BigInt(precision) <= amountMax
        // What would do is sent for a stream that is unknown: nothing is made.
        const at = fits ? path.replace(/[0-9a-f]{8}-/, '00000000-') : path
        const { status } = await refused(at, { supply, precision })
        expect(status).toBe(fits ? 404 : 400)
      }),
      { numRuns: 60 },
    )
  })

  test.each([
    [amountMax.toString(), 0],
    ['922337203', 10],
  ])('is not %s with %i decimal places', async (supply, precision) => {
    const { status } = await owner.withKey('POST', await newPath(), { supply, precision })
    expect(status).toBe(201)
  })

  test('is the first that is one too many', async () => {
    const supply = (amountMax + 1n).toString()
    expect(await refused(path, { supply, precision: 0 })).toMatchObject({ status: 400 })
    const some = { supply: '922337204', precision: 10 }
    expect(await refused(path, some)).toMatchObject({ status: 400 })
  })
})

describe('an asset stream', () => {
  test('that is not completed has no asset: 409', async () => {
    const id = await assetStreamOf(owner)
    const path = `/streams/${id}/assets`
    expect(await refused(path, good)).toMatchObject({ status: 409, error: 'conflict' })
    await completeStream(service.process, id)
    expect((await owner.withKey('POST', path, good)).status).toBe(201)
  })

  test('has one that is alive: 409, until it has failed', async () => {
    const path = await newPath()
    const { id } = (await owner.withKey<ShownAsset>('POST', path, good)).body
    expect(await refused(path, good)).toMatchObject({ status: 409, error: 'conflict' })

    await failAsset(service.process, id)

    expect((await owner.withKey('POST', path, { ...good, supply: '1' })).status).toBe(201)
    expect(await refused(path, good)).toMatchObject({ status: 409 })
    const { content } = (await owner.withKey<Page>('GET', path)).body
    expect(content.map(({ supply }) => supply)).toEqual(['21000000', '1'])
    const second = await owner.withKey<Page>('GET', `${path}?page=2&page_size=1`)
    expect(second.body).toMatchObject({ total_records: 2, content: [{ supply: '1' }] })
  })

  test('gets one of many that are asked for at once', async () => {
    for (let round = 0; round < 10; round++) {
      const path = await newPath()
      const asked = await Promise.all(
        Array.from({ length: 6 }, () => owner.withKey('POST', path, good)),
      )
      const statuses = asked.map(({ status }) => status).toSorted((one, other) => one - other)
      expect(statuses).toEqual([201, 409, 409, 409, 409, 409])
    }
  })

  test('cannot be deleted with one that is alive, and takes those that have failed along', async () => {
    const path = await newPath()
    const stream = path.replace('/assets', '')
    const { id } = (await owner.withKey<ShownAsset>('POST', path, good)).body
    const { status, body } = await owner.withKey<Refusal>('DELETE', stream)
    expect([status, body.message]).toEqual([409, expect.stringContaining('has an asset')])

    await failAsset(service.process, id)

    expect((await owner.withKey('DELETE', stream)).status).toBe(204)
    expect((await owner.withKey('GET', `${path}/${id}`)).status).toBe(404)
    expect(await leftOf(id, stream.split('/')[2] ?? '')).toEqual([])
  })

  test('is deleted, or gets an asset, when both are asked for at once', async () => {
    for (let round = 0; round < 10; round++) {
      const path = await newPath()
      const [made, gone] = await Promise.all([
        owner.withKey('POST', path, good),
        owner.withKey('DELETE', path.replace('/assets', '')),
      ])
      expect([
        [201, 409],
        [404, 204],
      ]).toContainEqual([made.status, gone.status])
    }
  })

  test('of nobody, or of somebody else, is unknown: 404', async () => {
    const path = await newPath()
    const { id } = (await owner.withKey<ShownAsset>('POST', path, good)).body
    const stranger = await newPerson(service.api)

    for (const at of [path, '/streams/x/assets', `/streams/${id}/assets`]) {
      expect(await refused(at, good, stranger)).toMatchObject({ status: 404 })
      expect((await stranger.withKey('GET', at)).status).toBe(404)
    }
    expect((await stranger.withKey('GET', `${path}/${id}`)).status).toBe(404)
    const other = await newPath()
    expect((await owner.withKey('GET', `${other}/${id}`)).status).toBe(404)
  })

  test.each(['READ', 'WRITE'] as const)(
    'that is shared to %s shows its assets, and gets none: 403',
    async (role) => {
      const path = await newPath()
      const other = await newPerson(service.api)
      const of = { kind: 'streams', id: path.split('/')[2] ?? '' } as const
      await share(owner, other, of, role)
      expect(await refused(path, good, other)).toMatchObject({
        status: 403,
        error: 'insufficient_permissions',
      })
      const { id } = (await owner.withKey<ShownAsset>('POST', path, good)).body
      expect((await other.withKey('GET', `${path}/${id}`)).status).toBe(200)
      expect((await other.withKey<Page>('GET', path)).body.total_records).toBe(1)
      expect(await refused(`${path}/${id}/retry`, {}, other)).toMatchObject({ status: 403 })
    },
  )
})

test('a key without streams:write makes none', async () => {
  const path = await newPath()
  const wanted = { userId: owner.userId, permission: 'custom', scopes: ['streams:read'] }
  const reader = await newPerson(service.api, wanted)
  expect((await reader.withKey('GET', path)).status).toBe(200)
  expect(await refused(path, good, reader)).toMatchObject({ status: 403 })
})

test('what is told of a new one is told to its owner, once', async () => {
  const person = await newPerson(service.api)
  const path = await assetsPathOf(service.process, person)
  const { id } = (await person.withKey<ShownAsset>('POST', path, good)).body
  const inbox = await person.withKey<{
    readonly content: readonly { readonly event_type: string; readonly resource_id: string }[]
  }>('GET', '/notifications/in-app')
  const told = inbox.body.content.filter((one) => one.event_type.startsWith('asset.'))
  expect(told).toMatchObject([{ event_type: 'asset.created', resource_id: id }])
})

/** What is left of an asset and its stream. */
async function leftOf(id: string, streamId: string) {
  await using beside = await StateBeside.open(service.process)
  const { state } = beside
  const anchors = await state
    .selectFrom('anchors')
    .select('id')
    .where('resource_id', '=', id)
    .execute()
  const metadata = await state
    .selectFrom('metadata')
    .select('cid')
    .where('resource_id', '=', id)
    .execute()
  const totals = await state
    .selectFrom('totals')
    .select('list')
    .where('owner_id', '=', streamId)
    .execute()
  return [...anchors, ...metadata, ...totals]
}
