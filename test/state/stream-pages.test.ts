import * as fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId, type StreamId, type UserId, type VaultId } from '../../src/core/ids.ts'
import { listFilter } from '../../src/streams/data-streams/stream-filter.ts'
import { countedMax } from '../../src/streams/data-streams/stream-list.ts'
import {
  placedSorts,
  rankedSorts,
  type StreamSort,
} from '../../src/streams/data-streams/stream-order.ts'
import { type PageWish, pageOfStreams } from '../../src/streams/data-streams/stream-page.ts'
import { streamProblems } from '../../src/streams/data-streams/stream-standing.ts'
import { stateOf, streamStates } from '../../src/streams/data-streams/stream-state.ts'
import { insertStream, insertVaults, removeStream, type StreamRow } from '../support/stream-rows.ts'
import { TestState } from '../support/test-state.ts'

let own: TestState

beforeAll(async () => {
  own = await TestState.open()
  // Thousands of rows that nobody needs after this.
  await sql`PRAGMA synchronous = OFF`.execute(own.state)
})

afterAll(async () => {
  await own[Symbol.asyncDispose]()
})

const nowUs = 2_000_000_000
const silentAfterUs = 60_000_000

/** Names that differ by as little as something may get wrong. */
const letters = ['a', 'A', 'b', 'é', 'É', '%', '_', '*', '\\', '\u0000', ' ', '😀', 'Σ', 'ς']
const text = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength })

interface Drawn extends Omit<StreamRow, 'id' | 'ownerId' | 'vaultId'> {
  readonly isOwn: boolean
  readonly vault: number
  readonly isFailing: boolean
  /** 0: receives nothing. */
  readonly rate: number
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  isOwn: fc.integer({ min: 0, max: 3 }).map((number) => number > 0),
  vault: fc.nat(1),
  name: fc.oneof(text(1), text(4)),
  createdAtUs: fc.nat(3),
  tags: fc.dictionary(fc.constantFrom('site', 'line'), fc.constantFrom('x', 'y'), { maxKeys: 2 }),
  isPaused: fc.boolean(),
  isFailing: fc.boolean(),
  rate: fc.nat(2),
  counters: fc.option(
    fc.record({
      received: fc.nat(1),
      lastReceivedAtUs: fc.constantFrom(0, nowUs - silentAfterUs, nowUs - silentAfterUs + 1, nowUs),
      quarantined: fc.nat(2),
    }),
    { nil: undefined },
  ),
  alerts: fc.array(
    fc.record({
      state: fc.constantFrom('pending', 'firing', 'acknowledged', 'cleared'),
      severity: fc.constantFrom('info', 'warning', 'critical'),
    }),
    { maxLength: 2 },
  ),
})

const some = (values: readonly string[]) =>
  fc.subarray([...values], { minLength: 1 }).map((list) => list.join(','))

const parameters = {
  vault: fc.nat(1),
  name: fc.oneof(
    text(2),
    text(1).map((start) => `${start}*`),
  ),
  contains: text(2),
  state: some(streamStates),
  problem: some([...streamProblems, 'any']),
  'tag.site': fc.constantFrom('x', 'y'),
}

type Query = Partial<{
  readonly [Name in keyof typeof parameters]: (typeof parameters)[Name] extends fc.Arbitrary<
    infer Value
  >
    ? Value
    : never
}>

/** Two parameters at most: nothing meets all of them, and an order of nothing is never wrong. */
const query: fc.Arbitrary<Query> = fc
  .tuple(
    fc.record(parameters),
    fc.subarray(Object.keys(parameters) as (keyof typeof parameters)[], { maxLength: 2 }),
  )
  .map(([all, asked]) => Object.fromEntries(asked.map((name) => [name, all[name]])))

interface Stream extends StreamRow, Pick<Drawn, 'isFailing' | 'rate' | 'vault'> {}

/** What a stream has to be to meet the query, in other words than those of the service. */
function meets(stream: Stream, { vault, name, contains, state, problem, ...tags }: Query): boolean {
  const { isPaused, isFailing, counters, alerts } = stream
  const folded = stream.name.toLowerCase()
  const hasReceived = (counters?.received ?? 0) > 0
  const isSilent =
    hasReceived && !isPaused && (counters?.lastReceivedAtUs ?? 0) <= nowUs - silentAfterUs
  const problems = [
    ...(isSilent ? ['silent', 'any'] : []),
    ...((counters?.quarantined ?? 0) > 0 ? ['quarantined', 'any'] : []),
    ...(alerts.some((alert) => alert.state === 'firing') ? ['firing', 'any'] : []),
    ...(isFailing && !isPaused ? ['failing', 'any'] : []),
  ]
  return (
    (vault === undefined || stream.vault === vault) &&
    (name === undefined || isNamed(folded, name.toLowerCase())) &&
    (contains === undefined || anySigma(folded).includes(anySigma(contains.toLowerCase()))) &&
    (state === undefined ||
      state.split(',').includes(stateOf({ isPaused, hasReceived, isFailing }))) &&
    (problem === undefined || problem.split(',').some((one) => problems.includes(one))) &&
    (tags['tag.site'] === undefined || stream.tags['site'] === tags['tag.site'])
  )
}

/** What is written differently at the end of a word is the same letter. */
function anySigma(folded: string): string {
  return folded.replaceAll('ς', 'σ')
}

function isNamed(folded: string, name: string): boolean {
  return name.endsWith('*') ? folded.startsWith(name.slice(0, -1)) : folded === name
}

function bytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

/** Below 0 where one stands before the other. */
function compare(one: Stream, other: Stream, sort: StreamSort): number {
  const way = sort.startsWith('-') ? -1 : 1
  const byCreation = one.createdAtUs - other.createdAtUs || bytes(one.id, other.id)
  switch (sort.replace('-', '')) {
    case 'created':
      return way * byCreation
    case 'name':
      return (
        way * (bytes(one.name.toLowerCase(), other.name.toLowerCase()) || bytes(one.id, other.id))
      )
    case 'rate':
      return way * (one.rate - other.rate) || byCreation
    case 'quarantined':
      return (
        way * ((one.counters?.quarantined ?? 0) - (other.counters?.quarantined ?? 0)) || byCreation
      )
    default:
      return (
        way * ((one.counters?.lastReceivedAtUs ?? 0) - (other.counters?.lastReceivedAtUs ?? 0)) ||
        byCreation
      )
  }
}

/** A user with streams, among those of somebody else. */
class Owner {
  readonly id = newId<UserId>()
  readonly #other = newId<UserId>()
  readonly #vaults = [0, 1].map(() => newId<VaultId>())
  readonly #othersVault = newId<VaultId>()
  readonly streams = new Map<StreamId, Stream>()

  async arrive(): Promise<void> {
    const mine = this.#vaults.map((id) => ({ ownerId: this.id, id }))
    const others = { ownerId: this.#other, id: this.#othersVault }
    await insertVaults(own.state, [...mine, others])
  }

  async make({ isOwn, ...given }: Drawn): Promise<void> {
    const id = newId<StreamId>()
    const mine = { ownerId: this.id, vaultId: this.#vaults[given.vault] as VaultId }
    const place = isOwn ? mine : { ownerId: this.#other, vaultId: this.#othersVault }
    const stream = { ...given, id, ...place }
    await insertStream(own.state, stream)
    if (isOwn) this.streams.set(id, stream)
  }

  async remove(id: StreamId): Promise<void> {
    this.streams.delete(id)
    await removeStream(own.state, id)
  }

  /** Ids of those that meet a query, in an order. */
  wanted(asked: Query, sort: StreamSort): readonly StreamId[] {
    return [...this.streams.values()]
      .filter((stream) => meets(stream, asked))
      .toSorted((one, other) => compare(one, other, sort))
      .map(({ id }) => id)
  }

  wish({ vault, ...asked }: Query): Pick<PageWish, 'filter'> {
    const failing = [...this.streams.values()].filter((one) => one.isFailing).map(({ id }) => id)
    const place = vault === undefined ? {} : { vaultId: this.#vaults[vault] as string }
    const sources = { failing: () => failing }
    const given = { ...asked, ...place, silentAfter: '1m' }
    return { filter: listFilter(given, { sources, nowUs: () => nowUs }) }
  }

  async page(wish: PageWish) {
    const busiest = [...this.streams.values()].filter(({ rate }) => rate > 0)
    const activity = {
      of: async () => new Map(),
      busiest: async () => new Map(busiest.map(({ id, rate }) => [id, rate])),
    }
    return await pageOfStreams({ state: own.state, activity }, this.id, wish)
  }

  /** What a walk from page to page meets, with something that happens before each next page. */
  async walk(
    wish: Omit<PageWish, 'cursor'>,
    between: () => Promise<void> = () => Promise.resolve(),
  ): Promise<{ readonly met: readonly StreamId[]; readonly totals: readonly unknown[] }> {
    const met: StreamId[] = []
    const totals: unknown[] = []
    for (let cursor: PageWish['cursor']; ; await between()) {
      const { streams, total, next } = await this.page({ ...wish, cursor })
      met.push(...streams.map(({ id }) => id))
      totals.push(total)
      expect(streams.length).toBeLessThanOrEqual(wish.limit)
      if (next === undefined) return { met, totals }
      expect(streams).toHaveLength(wish.limit)
      cursor = next
    }
  }
}

test('a walk meets each stream that meets the filter once, in order, and its number is told', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawn, { maxLength: 14 }),
      fc.array(
        fc.tuple(
          query,
          fc.constantFrom(...placedSorts, ...rankedSorts),
          fc.integer({ min: 1, max: 5 }),
        ),
        {
          minLength: 1,
          maxLength: 12,
        },
      ),
      async (streams, questions) => {
        const owner = new Owner()
        await owner.arrive()
        for (const one of streams) await owner.make(one)
        for (const [asked, sort, limit] of questions) {
          const { met, totals } = await owner.walk({ ...owner.wish(asked), sort, limit })

          const wanted = owner.wanted(asked, sort)
          expect(met).toEqual(wanted)
          expect(new Set(totals)).toEqual(new Set([wanted.length]))
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('while others are made and deleted, those that stay are met once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawn, { minLength: 4, maxLength: 14 }),
      fc.array(fc.oneof(drawn, fc.nat(20)), { maxLength: 10 }),
      fc.tuple(query, fc.constantFrom(...placedSorts), fc.integer({ min: 1, max: 3 })),
      async (streams, changes, [asked, sort, limit]) => {
        const owner = new Owner()
        await owner.arrive()
        for (const one of streams) await owner.make(one)
        const before = owner.wanted(asked, sort)
        const waiting = [...changes]
        const { met } = await owner.walk({ ...owner.wish(asked), sort, limit }, async () => {
          const change = waiting.shift()
          const ids = [...owner.streams.keys()]
          if (typeof change === 'object') await owner.make(change)
          else if (change !== undefined) {
            const id = ids[change % ids.length]
            if (id !== undefined) await owner.remove(id)
          }
        })

        const stayed = before.filter((id) => owner.streams.has(id))
        const known = new Set(before)
        expect(met.filter((id) => owner.streams.has(id) && known.has(id))).toEqual(stayed)
        expect(new Set(met).size).toBe(met.length)
      },
    ),
    { numRuns: 300 },
  )
})

test('of more streams than are counted, those are listed whose place an index knows', async () => {
  const ownerId = newId<UserId>()
  const id = newId<VaultId>()
  await insertVaults(own.state, [{ ownerId, id }])
  await sql`INSERT INTO data_streams (id, owner_id, vault_id, name, name_folded, type, created_at,
      version)
    WITH RECURSIVE numbers(n) AS
      (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n <= ${countedMax})
    SELECT ${ownerId} || n, ${ownerId}, ${id}, 'pump ' || n, 'pump ' || n, 'iot_sensor', n, 1
    FROM numbers`.execute(own.state)
  const activity = { of: async () => new Map(), busiest: async () => new Map() }
  const ask = (asked: object, sort: StreamSort) => {
    const filter = listFilter(asked, { sources: { failing: () => [] }, nowUs: () => nowUs })
    const wish = { filter, sort, cursor: undefined, limit: 1 }
    return pageOfStreams({ state: own.state, activity }, ownerId, wish)
  }

  expect((await ask({}, 'created')).total).toBeUndefined()
  expect((await ask({ name: 'pump 12345' }, '-quarantined')).total).toBe(1)
  expect((await ask({ name: 'pump 1*', state: 'created' }, 'name')).total).toBe(11_113)
  for (const [asked, sort] of [
    [{}, '-rate'],
    [{ state: 'created' }, 'created'],
    [{ problem: 'silent', contains: 'pump' }, 'name'],
  ] as const) {
    await expect(ask(asked, sort)).rejects.toMatchObject({ code: 'unsupported_query' })
  }
})

test('a stream is found by the beginning of its id, and not by its middle', async () => {
  const owner = new Owner()
  await owner.arrive()
  const plain = {
    name: 'pump',
    createdAtUs: 1,
    tags: {},
    isPaused: false,
    isFailing: false,
    rate: 0,
  }
  for (const name of ['pump', 'valve']) {
    await owner.make({ ...plain, name, isOwn: true, vault: 0, counters: undefined, alerts: [] })
  }
  const [id = ''] = owner.streams.keys()
  const find = async (contains: string) => {
    const wish = { ...owner.wish({ contains }), sort: 'created', limit: 10 } as const
    return (await owner.walk(wish)).met
  }

  for (const length of [4, 8, 9, 18, 36]) {
    expect(await find(id.slice(0, length).toUpperCase())).toEqual([id])
  }
  expect(await find(id.slice(1, 12))).toEqual([])
  expect(await find(id.slice(0, 3))).toEqual([])
  expect(await find(`${id}0`)).toEqual([])
})
