import { type KyselyPlugin, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { AgeClock } from '../../src/core/age-clock.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { StateDecisionStore } from '../../src/ingest/pipeline/decision-store.ts'
import { hideKeys } from '../../src/requests/idempotency/keys-in-clear.ts'
import type { StateDatabase } from '../../src/storage/state/database.ts'
import { totalOf } from '../../src/storage/state/totals.ts'
import { StreamRemains } from '../../src/streams/data-streams/stream-remains.ts'
import { removeStreams } from '../../src/streams/data-streams/stream-removal.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { ship, storedReading } from '../support/stored-readings.ts'
import { TestState } from '../support/test-state.ts'

/** Tables that may name a stream that is gone, and why. */
const mayName: Readonly<Record<string, string>> = {
  data_stream_deletions: 'the note of its end, for 30 days',
  events: 'kept as long as deliveries',
  inbox_entries: 'inboxes keep 30 days',
  coalesced_events: 'told within a second, and gone a second later',
  export_files: 'files that an export has made, for 7 days',
  import_jobs: 'jobs that are kept, for 7 days',
  vault_streams: 'names asset streams',
  assets: 'is issued for asset streams',
  attachments: 'names asset streams',
}

const dayUs = 86_400_000_000

describe('the removal of streams', () => {
  test('leaves rows of them in no table, however often it is cut off, and what was counted in the totals', async () => {
    await using world = await World.open()
    const [first, second, other] = [await world.addStream(), await world.addStream(), newStreamId()]
    await world.addStream(other)
    const before = await world.totals()
    await world.delete(first, 7)
    await world.delete(second, 7)

    let cut = 0
    while (!(await world.remove([first, second], cut))) cut++

    expect(cut).toBeGreaterThan(15)
    expect(await world.tablesNaming(first)).toEqual([])
    expect(await world.tablesNaming(second)).toEqual([])
    expect((await world.tablesNaming(other)).length).toBeGreaterThan(10)
    expect(await world.totals()).toEqual(before)
    expect(await world.noteOf(first)).toMatchObject({ removed_readings: 1, removed_quarantine: 1 })
    expect(await totalOf(world.state, 'receipts', world.ownerId)).toBe(1)
  })

  test('waits for a consumer that has entries of them ahead', async () => {
    await using world = await World.open()
    const [passed, ahead] = [await world.addStream(), await world.addStream()]
    await world.delete(passed, 7)
    await world.delete(ahead, 8)

    expect(await world.remove([passed, ahead], Number.POSITIVE_INFINITY, 7)).toBe(1)

    expect(await world.tablesNaming(passed)).toEqual([])
    expect((await world.noteOf(ahead))?.removed_at).toBeNull()
  })
})

describe('remains of streams', () => {
  test('that an earlier version has left are removed, and nothing of others', async () => {
    await using world = await World.open()
    const [there, leaving, gone, forgotten] = [
      await world.addStream(),
      await world.addStream(),
      await world.addStream(),
      await world.addStream(),
    ]
    const before = await world.totals()
    await world.delete(leaving, 7)
    await world.delete(gone, 7, systemClock.nowUs())
    // As the version before has left it: only the store knows what was received of it.
    const own = await world.takeCounters(gone)
    await world.delete(forgotten, 7, systemClock.nowUs() - 31 * dayUs)

    await world.removeRemains()

    expect(await world.tablesNaming(gone)).toEqual([])
    expect(await world.noteOf(gone)).toBeDefined()
    expect(await world.tablesNaming(forgotten)).toEqual([])
    expect(await world.noteOf(forgotten)).toBeUndefined()
    expect((await world.tablesNaming(leaving)).length).toBeGreaterThan(10)
    expect((await world.tablesNaming(there)).length).toBeGreaterThan(10)
    expect(world.store.streamIds().toSorted()).toEqual([there, leaving].toSorted())
    expect(await world.totals()).toEqual({
      ...before,
      received: before.received - own.received + 1,
      filtered: before.filtered - own.filtered,
      refused: before.refused - own.quarantined - own.discarded,
    })
  })

  test('are no readings of a state that somebody has lost, and may bring back', async () => {
    await using world = await World.open()
    const [lost, emptied] = [newStreamId(), newStreamId()]
    const { store } = world
    await ship(store, [storedReading({ streamId: lost }), storedReading({ streamId: emptied })])
    const [from, all] = [store.position(), { startUs: 0, endUs: Number.MAX_SAFE_INTEGER }]
    await store.remove({ streamId: emptied, ...all, from, nextOffset: from + 1 })

    await world.removeRemains()
    await world.removeRemains()

    expect(store.streamIds()).toEqual([lost])
    const { readings } = await store.latest({ streamIds: [lost], bytesMax: 1e6 })
    expect(readings).toHaveLength(1)
  })

  test('stay for as long as a backup is made', async () => {
    await using world = await World.open()
    const gone = await world.addStream()
    await world.delete(gone, 7, systemClock.nowUs())

    await world.removeRemains(async () => undefined)

    expect((await world.tablesNaming(gone)).length).toBeGreaterThan(10)
    expect(world.store.streamIds()).toEqual([gone])
  })
})

function newStreamId(): StreamId {
  return newId<StreamId>()
}

/** A state in which every table that knows streams has a row of each, and a store with a reading of each. */
class World implements AsyncDisposable {
  readonly ownerId: UserId
  readonly #real: TestState
  readonly #opened: Awaited<ReturnType<typeof openDuckDbStore>>
  #rows = 0

  static async open(): Promise<World> {
    const real = await TestState.open()
    await sql.raw('PRAGMA foreign_keys = OFF').execute(real.state)
    // A start does so before anything else, and takes away the tables that it was made for.
    await hideKeys({ state: real.state, writer: real, digests: new MasterKey(Buffer.alloc(32, 7)) })
    return new World(real, await openDuckDbStore(), await real.newUser())
  }

  private constructor(
    real: TestState,
    opened: Awaited<ReturnType<typeof openDuckDbStore>>,
    ownerId: UserId,
  ) {
    this.#real = real
    this.#opened = opened
    this.ownerId = ownerId
  }

  get state(): StateDatabase {
    return this.#real.state
  }

  get store() {
    return this.#opened.store
  }

  async addStream(id = newStreamId()): Promise<StreamId> {
    for (const [table, columns] of await this.#tables()) {
      if (table === 'data_stream_deletions') continue
      const column = table === 'data_streams' ? 'id' : 'stream_id'
      if (columns.some(({ name }) => name === column)) await this.#insert(table, columns, id)
    }
    await this.#real.commit(
      this.state
        .insertInto('totals')
        .values({ list: 'receipts', owner_id: this.ownerId, total: 1 })
        .onConflict((conflict) => conflict.doUpdateSet({ total: sql<number>`totals.total + 1` })),
    )
    await ship(this.store, [storedReading({ streamId: id })])
    return id
  }

  /** As the request of somebody does, and when all of it had been removed, if so. */
  async delete(id: StreamId, offset: number, removedAtUs: number | null = null): Promise<void> {
    await this.#real.commit(
      this.state.deleteFrom('data_streams').where('id', '=', id),
      this.state.insertInto('data_stream_deletions').values({
        stream_id: id,
        owner_id: this.ownerId,
        name: 'boiler',
        deleted_at: 0,
        journal_offset: offset,
        removed_at: removedAtUs,
        removed_readings: 0,
        removed_quarantine: 0,
      }),
    )
  }

  /** Undefined when it was cut off at the statement of this number. */
  async remove(
    ids: readonly StreamId[],
    failing: number,
    position = 8,
  ): Promise<number | undefined> {
    const consumer = { position: () => position }
    const needs = {
      state: this.state.withPlugin(new FailingAt(failing)),
      store: this.store,
      shipper: consumer,
      decider: consumer,
      clock: systemClock,
      logger,
      forget: nothing,
    }
    const offsets = new Map<string, number>()
    for (const id of ids) offsets.set(id, (await this.noteOf(id))?.journal_offset ?? 0)
    const streams = ids.map((streamId) => ({ streamId, offset: offsets.get(streamId) ?? 0 }))
    try {
      return await removeStreams(needs, streams)
    } catch (error) {
      if ((error as Error).message !== cutOff) throw error
      return undefined
    }
  }

  async removeRemains(
    pass: <Result>(work: () => Promise<Result>) => Promise<Result | undefined> = (work) => work(),
  ): Promise<void> {
    const { state, store } = this
    const clock = systemClock
    const times = { clock, ages: new AgeClock(clock) }
    const needs = { state, store, removeOwners: resolved, forget: nothing, pass, logger }
    await new StreamRemains({ ...needs, ...times }).removeAll()
  }

  async takeCounters(id: StreamId) {
    return await this.state
      .deleteFrom('stream_counters')
      .where('stream_id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
  }

  async noteOf(id: StreamId) {
    return await this.state
      .selectFrom('data_stream_deletions')
      .selectAll()
      .where('stream_id', '=', id)
      .executeTakeFirst()
  }

  /** Tables that have a text with the id in it, but for those that may. */
  async tablesNaming(id: StreamId): Promise<readonly string[]> {
    const naming: string[] = []
    for (const [table, columns] of await this.#tables()) {
      if (Object.hasOwn(mayName, table)) continue
      const conditions = columns.map(({ name }) => sql`instr(${sql.ref(name)}, ${id}) > 0`)
      const found = await sql`
        SELECT 1 FROM ${sql.table(table)} WHERE ${sql.join(conditions, sql` OR `)} LIMIT 1`.execute(
        this.state,
      )
      if (found.rows.length > 0) naming.push(table)
    }
    return naming
  }

  /** Received, and what became of it: of the quarantine what is left of it is discarded. */
  async totals() {
    const decisions = new StateDecisionStore({ state: this.state, onDiscard: () => undefined })
    const { received, filtered, quarantined, discarded } = await decisions.totals()
    const stored = this.store.totals()
    return {
      received,
      filtered,
      refused: quarantined + discarded,
      stored: stored.stored,
      shipped: stored.received,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]()
    await this.#real[Symbol.asyncDispose]()
  }

  async #tables() {
    const found = await sql<Column>`
      SELECT t.name AS "table", c.name AS name, c.type AS type FROM sqlite_schema t
      JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`.execute(this.state)
    return Map.groupBy(found.rows, ({ table }) => table)
  }

  /** A row like no other. */
  async #insert(table: string, columns: readonly Column[], id: StreamId): Promise<void> {
    const number = ++this.#rows
    const values = columns.map(({ name, type }) => {
      if (name === 'stream_id' || (table === 'data_streams' && name === 'id')) return id
      if (name === 'owner_id' || name === 'user_id') return this.ownerId
      if (/INT/.test(type)) return number
      return type === 'BLOB' ? new Uint8Array(1) : `${name} ${number}`
    })
    const names = columns.map(({ name }) => sql.ref(name))
    await sql`
      INSERT INTO ${sql.table(table)} (${sql.join(names)}) VALUES (${sql.join(values)})`.execute(
      this.state,
    )
  }
}

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
}

function nothing(): void {}

async function resolved(): Promise<void> {}

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

const cutOff = 'the process was killed'

/** Lets the statement of a number fail, counted from 0, and all after it: as if the process had ended. */
class FailingAt implements KyselyPlugin {
  readonly #failing: number
  #statements = 0

  constructor(failing: number) {
    this.#failing = failing
  }

  transformQuery({ node }: Parameters<KyselyPlugin['transformQuery']>[0]) {
    if (this.#statements++ >= this.#failing) throw new Error(cutOff)
    return node
  }

  async transformResult({ result }: Parameters<KyselyPlugin['transformResult']>[0]) {
    return result
  }
}
