import * as fc from 'fast-check'
import type { Insertable } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId, type UserId } from '../../src/core/ids.ts'
import type { StateSchema } from '../../src/storage/state/schema.ts'
import { AssetStreamStore } from '../../src/twins/asset-streams/asset-stream-store.ts'
import { AttachmentStore } from '../../src/twins/attachments/attachment-store.ts'
import { VaultStore } from '../../src/twins/vaults/vault-store.ts'
import { TestState } from '../support/test-state.ts'

/** When it is asked. */
const nowUs = 1_000

let tests: TestState

beforeAll(async () => {
  tests = await TestState.open()
  const owner_id = await tests.newUser()
  const about = {
    name: 'a boiler',
    name_folded: 'a boiler',
    hint: '',
    required_streams: '[]',
    public: 1,
  }
  const row = { id: 'a template', owner_id, created_at: 1, status: 'UPLOAD_PENDING', ...about }
  await tests.commit(tests.state.insertInto('templates').values(row))
})

afterAll(async () => {
  await tests[Symbol.asyncDispose]()
})

/** Something that there is: whose it is, when it was made, and what its owner lets the user do. */
interface Thing {
  readonly isOwn: boolean
  /** Few, so that some were made at the same time. */
  readonly createdAtUs: number
  readonly shared: 'READ' | 'WRITE' | undefined
  readonly expiresAtUs: number | null
  readonly isNamed: boolean
  readonly attachments: readonly number[]
}

const thing: fc.Arbitrary<Thing> = fc.record({
  isOwn: fc.boolean(),
  createdAtUs: fc.integer({ min: 1, max: 12 }),
  shared: fc.constantFrom('READ', 'WRITE', undefined),
  expiresAtUs: fc.constantFrom(null, nowUs, nowUs + 1, 0),
  isNamed: fc.boolean(),
  attachments: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 3 }),
})

interface Placed {
  readonly id: string
  readonly createdAtUs: number
}

/** A user with all of it, and what the lists of this user have to be. */
async function world(things: readonly Thing[]) {
  const { state } = tests
  const userId = await tests.newUser()
  const ownerId = await tests.newUser()
  const seen = {
    vaults: [] as Placed[],
    named: [] as Placed[],
    streams: [] as Placed[],
    attachments: [] as Placed[],
  }
  const totals = new Map<string, number>()
  const count = (list: string, owner: string) =>
    totals.set(`${list} ${owner}`, (totals.get(`${list} ${owner}`) ?? 0) + 1)
  for (const { isOwn, createdAtUs, shared, expiresAtUs, isNamed, attachments } of things) {
    const owner = isOwn ? userId : ownerId
    const place = { owner_id: owner, created_at: createdAtUs }
    const vault = { id: newId(), ...place, ...vaultRow(isNamed ? 'boiler 7' : 'press') }
    const stream = { id: newId(), ...place, ...streamRow() }
    const attached = attachments.map((atUs) => ({
      id: newId(),
      ...attachmentRow(owner, stream.id, atUs),
    }))
    await tests.commit(
      state.insertInto('vaults').values(vault),
      state.insertInto('asset_streams').values(stream),
      ...attached.map((row) => state.insertInto('attachments').values(row)),
    )
    count('vaults', owner)
    count('asset_streams', owner)
    for (const _ of attached) {
      count('attachments', owner)
      count('attachments_of_stream', stream.id)
    }
    if (!isOwn && shared !== undefined) {
      for (const [type, { id }] of [
        ['vault', vault],
        ['asset_stream', stream],
      ] as const) {
        const about = { resource_type: type, resource_id: id, resource_created_at: createdAtUs }
        const terms = {
          role: shared,
          expires_at: expiresAtUs,
          granted_by: ownerId,
          created_at: 1,
          ended_by: null,
        }
        const row = { id: newId(), ...about, owner_id: ownerId, user_id: userId, ...terms }
        await tests.commit(state.insertInto('permissions').values(row))
      }
    }
    const isInForce = shared !== undefined && (expiresAtUs === null || expiresAtUs > nowUs)
    if (!isOwn && !isInForce) continue
    seen.vaults.push({ id: vault.id, createdAtUs })
    if (isNamed) seen.named.push({ id: vault.id, createdAtUs })
    seen.streams.push({ id: stream.id, createdAtUs })
    seen.attachments.push(...attached.map((row) => ({ id: row.id, createdAtUs: row.created_at })))
  }
  for (const [key, total] of totals) {
    const [list = '', owner_id = ''] = key.split(' ')
    await tests.commit(state.insertInto('totals').values({ list, owner_id, total }))
  }
  return { userId, seen }
}

function vaultRow(
  name: string,
): Omit<Insertable<StateSchema['vaults']>, 'id' | 'owner_id' | 'created_at'> {
  const about = {
    name,
    name_folded: name,
    description: null,
    template_id: 'a template',
    json_payload: null,
  }
  return {
    ...about,
    status: 'SERVICE_RECEIVED',
    ledger: 'XRPL',
    public: 0,
    network: '',
    progress: '[]',
  }
}

function streamRow() {
  const about = { asset_code: newId(), description: null, ledger: 'XRPL', network: '' }
  return { ...about, status: 'SERVICE_RECEIVED', progress: '[]' }
}

function attachmentRow(ownerId: UserId, streamId: string, atUs: number) {
  const about = { name: 'report', stream_id: streamId, ledger: 'XRPL', upload_as_zip: 0 }
  return {
    owner_id: ownerId,
    created_at: atUs,
    ...about,
    status: 'METADATA_STORED',
    progress: '[]',
  }
}

function inOrder(places: readonly Placed[]): readonly string[] {
  const isBefore = (one: Placed, other: Placed) =>
    one.createdAtUs - other.createdAtUs || (one.id < other.id ? -1 : 1)
  return places.toSorted(isBefore).map(({ id }) => id)
}

interface Page {
  readonly ids: readonly string[]
  readonly total: number
}

/** All of a list in pages of some size, and what each says of how many there are. */
async function pages(
  size: number,
  pageAt: (slice: { readonly offset: number; readonly limit: number }) => Promise<Page>,
): Promise<Page> {
  const ids: string[] = []
  let total = 0
  for (let offset = 0; ; offset += size) {
    const page = await pageAt({ offset, limit: size })
    if (offset > 0) expect(page.total).toBe(total)
    total = page.total
    ids.push(...page.ids)
    if (page.ids.length < size) return { ids, total }
  }
}

test('lists have all that one has or is shown, in one order, each once, whatever is shared', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(thing, { maxLength: 20 }),
      fc.integer({ min: 1, max: 7 }),
      async (things, size) => {
        const { userId, seen } = await world(things)
        const needs = {
          state: tests.state,
          writer: tests,
          clock: { nowUs: () => nowUs, steadyUs: () => nowUs },
        }
        const vaults = new VaultStore(needs)
        const streams = new AssetStreamStore(needs)
        const attachments = new AttachmentStore({
          ...needs,
          uploadWaitUs: 1,
          removedWith: () => [],
        })
        const listed = {
          vaults: await pages(size, async (slice) => idsIn(await vaults.listPage(userId, slice))),
          streams: await pages(size, async (slice) => idsIn(await streams.listPage(userId, slice))),
          attachments: await pages(size, async (slice) => {
            const { items, total } = await attachments.listPage(userId, slice)
            return { ids: items.map(({ attachment }) => attachment.id), total }
          }),
        }

        for (const list of ['vaults', 'streams', 'attachments'] as const) {
          expect(listed[list].ids).toEqual(inOrder(seen[list]))
          expect(listed[list].total).toBe(seen[list].length)
        }
        expect(await followed(vaults, userId, { size, contains: undefined })).toEqual(
          inOrder(seen.vaults),
        )
        expect(await followed(vaults, userId, { size, contains: 'OILER' })).toEqual(
          inOrder(seen.named),
        )
      },
    ),
    { numRuns: 40 },
  )
})

function idsIn({
  items,
  total,
}: {
  readonly items: readonly { readonly id: string }[]
  readonly total: number
}): Page {
  return { ids: items.map(({ id }) => id), total }
}

/** All vaults, from each page to the next one. */
async function followed(
  vaults: VaultStore,
  userId: UserId,
  { size, contains }: { readonly size: number; readonly contains: string | undefined },
): Promise<readonly string[]> {
  const ids: string[] = []
  let after: Placed | undefined
  for (;;) {
    const page = await vaults.listAfter(userId, { after, limit: size, contains })
    ids.push(...page.map(({ id }) => id))
    after = page.at(-1)
    if (page.length < size) return ids
  }
}

test('more asset streams than a statement has parts are listed with what is attached to them', async () => {
  const many = Array.from({ length: 72 }, (_, at): Thing => {
    const rest = { shared: 'READ', expiresAtUs: null, isNamed: false } as const
    return { isOwn: at % 6 === 0, createdAtUs: at + 1, attachments: [72 - at], ...rest }
  })
  const { userId, seen } = await world(many)
  const clock = { nowUs: () => nowUs, steadyUs: () => nowUs }
  const store = new AttachmentStore({
    state: tests.state,
    writer: tests,
    clock,
    uploadWaitUs: 1,
    removedWith: () => [],
  })

  const { items, total } = await store.listPage(userId, { offset: 20, limit: 30 })

  expect(items.map(({ attachment }) => attachment.id)).toEqual(
    inOrder(seen.attachments).slice(20, 50),
  )
  expect(total).toBe(72)
})
