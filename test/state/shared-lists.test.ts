import * as fc from 'fast-check'
import { type Insertable, type KyselyPlugin, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId, type UserId } from '../../src/core/ids.ts'
import { openStateForReading, type StateDatabase } from '../../src/storage/state/database.ts'
import type { Slice } from '../../src/storage/state/listing.ts'
import type { StateSchema } from '../../src/storage/state/schema.ts'
import { countChange } from '../../src/storage/state/totals.ts'
import { AssetStreamStore } from '../../src/twins/asset-streams/asset-stream-store.ts'
import { AttachmentStore } from '../../src/twins/attachments/attachment-store.ts'
import { sharedLists } from '../../src/twins/rights/shared-rows.ts'
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
  /** Its owner is another one, who was deleted a moment ago. */
  readonly isLeft: boolean
  /** Few, so that some were made at the same time. */
  readonly createdAtUs: number
  readonly shared: 'READ' | 'WRITE' | undefined
  readonly expiresAtUs: number | null
  readonly isNamed: boolean
  readonly attachments: readonly number[]
}

const thing: fc.Arbitrary<Thing> = fc.record({
  isOwn: fc.boolean(),
  isLeft: fc.boolean(),
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
  const leftId = await tests.newUser()
  await tests.commit(
    state.insertInto('departed_users').values({ user_id: leftId, departed_at: nowUs }),
  )
  const seen = {
    vaults: [] as Placed[],
    named: [] as Placed[],
    streams: [] as Placed[],
    attachments: [] as Placed[],
  }
  const totals = new Map<string, number>()
  const count = (list: string, owner: string) =>
    totals.set(`${list} ${owner}`, (totals.get(`${list} ${owner}`) ?? 0) + 1)
  for (const one of things) {
    const { isOwn, isLeft, createdAtUs, shared, expiresAtUs, isNamed, attachments } = one
    const owner = isOwn ? userId : isLeft ? leftId : ownerId
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
          granted_by: owner,
          created_at: 1,
          ended_by: null,
        }
        const row = { id: newId(), ...about, owner_id: owner, user_id: userId, ...terms }
        await tests.commit(state.insertInto('permissions').values(row))
        count(sharedLists[type], userId)
      }
    }
    const isOver = isLeft || (expiresAtUs !== null && expiresAtUs <= nowUs)
    const isInForce = shared !== undefined && !isOver
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
        const attachments = attachmentStore(() => openStateForReading(tests.path))
        const listed = {
          vaults: await pages(size, async (slice) => idsIn(await vaults.listPage(userId, slice))),
          streams: await pages(size, async (slice) => idsIn(await streams.listPage(userId, slice))),
          attachments: await pages(size, (slice) => attachmentIds(attachments, userId, slice)),
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

/** More asset streams of others than are merged in one statement, of which some count no more. */
const manyThings: fc.Arbitrary<readonly Thing[]> = fc.array(thing, {
  minLength: 80,
  maxLength: 140,
  size: 'max',
})

function attachmentStore(openView: () => StateDatabase): AttachmentStore {
  return new AttachmentStore({
    state: tests.state,
    writer: tests,
    clock: { nowUs: () => nowUs, steadyUs: () => nowUs },
    openView,
    uploadWaitUs: 1,
    removedWith: () => [],
  })
}

async function attachmentIds(store: AttachmentStore, userId: UserId, slice: Slice): Promise<Page> {
  const { items, total } = await store.listPage(userId, slice)
  return { ids: items.map(({ attachment }) => attachment.id), total }
}

test('attachments of more asset streams than a statement has parts are listed like those of few', async () => {
  const store = attachmentStore(() => openStateForReading(tests.path))
  await fc.assert(
    fc.asyncProperty(manyThings, fc.integer({ min: 20, max: 90 }), async (things, size) => {
      const { userId, seen } = await world(things.map((one) => ({ ...one, shared: 'READ' })))

      const listed = await pages(size, (slice) => attachmentIds(store, userId, slice))

      expect(listed).toEqual({ ids: inOrder(seen.attachments), total: seen.attachments.length })
    }),
    { numRuns: 5 },
  )
})

test('thousands that are attached to one of very many asset streams are all listed, once each', async () => {
  const shared = { isOwn: false, isLeft: false, shared: 'READ', isNamed: false } as const
  const things = Array.from({ length: 600 }, (_, at): Thing => {
    const attachments = at === 300 ? [] : [at % 7]
    return { ...shared, createdAtUs: at, expiresAtUs: null, attachments }
  })
  const { userId, seen } = await world(things)
  const [{ id: stream }] = [seen.streams[300] as Placed]
  const { rows } = await sql<Placed>`INSERT INTO attachments
      (id, owner_id, created_at, name, stream_id, ledger, upload_as_zip, status, progress)
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500)
    SELECT ${stream} || n, ${userId}, n / 9, 'report', ${stream}, 'XRPL', 0, 'METADATA_STORED', '[]'
    FROM numbers RETURNING id, created_at AS "createdAtUs"`.execute(tests.state)
  // They are somebody else's, as all that is attached to the asset streams of others.
  await sql`UPDATE attachments SET owner_id = (SELECT owner_id FROM asset_streams WHERE id = stream_id)
    WHERE stream_id = ${stream}`.execute(tests.state)
  await tests.commit(countChange(tests.state, 'attachments_of_stream', stream, rows.length))

  const store = attachmentStore(() => openStateForReading(tests.path))
  const listed = await pages(1_000, (slice) => attachmentIds(store, userId, slice))

  const all = inOrder([...seen.attachments, ...rows])
  expect(listed).toEqual({ ids: all, total: all.length })
})

test('a page of very many is that of one moment, whatever changes while it is looked for', async () => {
  const { userId, seen } = await world(
    Array.from({ length: 90 }, (_, at): Thing => {
      const rest = { shared: 'READ', expiresAtUs: null, isLeft: false, isNamed: false } as const
      return { isOwn: at % 6 === 0, createdAtUs: at + 1, attachments: [90 - at], ...rest }
    }),
  )
  let statements = 0
  const changing: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    // After each statement one attachment is gone, one permission has ended, and the counters have changed.
    async transformResult({ result }) {
      // The first one reads nothing of the state.
      if (statements++ === 0) return result
      for (const table of ['attachments', 'permissions'] as const) {
        const first = tests.state.selectFrom(table).select('id').orderBy('id', 'desc').limit(1)
        await tests.commit(tests.state.deleteFrom(table).where('id', 'in', first))
      }
      await tests.commit(
        countChange(tests.state, 'attachments', userId, 1),
        countChange(tests.state, 'shared_asset_streams', userId, -1),
      )
      return result
    },
  }
  const store = attachmentStore(() => openStateForReading(tests.path).withPlugin(changing))

  const page = await attachmentIds(store, userId, { offset: 20, limit: 30 })

  expect(page).toEqual({ ids: inOrder(seen.attachments).slice(20, 50), total: 90 })
  expect(statements).toBeGreaterThan(5)
})
