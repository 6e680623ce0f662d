import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { expect } from 'vitest'
import { postgresLog } from '../../connectors/postgres-log/postgres-log.ts'
import { FetchingSource } from './fetching-source.ts'
import type { Postgres } from './postgres.ts'

const columns = 'number bigint PRIMARY KEY, timestamp timestamptz NOT NULL'

/** A slot of this name notes what was committed, in its order, by another plugin. */
const noteSlot = 'notes_of_the_test'

/** A table of a real server, in a database of its own, whose changes are followed. */
export class FollowedTable implements AsyncDisposable {
  readonly server: Postgres
  readonly database: string
  /** The client of a superuser. */
  readonly client: Client
  readonly source: Readonly<Record<string, unknown>>

  static async create(
    server: Postgres,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<FollowedTable> {
    const database = await server.newDatabase()
    const client = await server.client(database)
    await client.query(`CREATE TABLE readings (${columns})`)
    return new FollowedTable(server, { database, client, more })
  }

  private constructor(
    server: Postgres,
    needs: Pick<FollowedTable, 'database' | 'client'> & { readonly more: object },
  ) {
    this.server = server
    this.database = needs.database
    this.client = needs.client
    this.source = {
      protocol: 'postgres',
      follow: 'log',
      endpoint: server.endpoint(needs.database),
      credentials: server.credentials,
      table: 'public.readings',
      ...needs.more,
    }
  }

  /** Somebody who follows it, and does not yet. */
  follower(port = this.server.port): FetchingSource {
    const source = { ...this.source, endpoint: `127.0.0.1:${port}/${this.database}` }
    return new FetchingSource({ connector: postgresLog, source, ports: [port] })
  }

  /** In one transaction. */
  async insert(first: number, count: number, client = this.client): Promise<void> {
    await client.query(
      `INSERT INTO readings SELECT n, ${timeOf} FROM generate_series($1::int, $2::int) n`,
      [first, first + count - 1],
    )
  }

  /** Rows given as JSON, in their order. */
  async publish(payloads: readonly Uint8Array[]): Promise<void> {
    const client = await this.server.client(this.database)
    const texts = payloads.map((payload) => Buffer.from(payload).toString())
    await client.query(
      `INSERT INTO readings
       SELECT (row->>'number')::bigint, (row->>'timestamp')::timestamptz
         FROM unnest($1::json[]) WITH ORDINALITY AS rows (row, place) ORDER BY place`,
      [texts],
    )
    await client.end()
  }

  async slots(): Promise<readonly Slot[]> {
    const { rows } = await this.client.query<Slot>(
      `SELECT slot_name AS name, active, confirmed_flush_lsn - '0/0' AS confirmed
         FROM pg_replication_slots WHERE database = current_database() AND slot_name <> '${noteSlot}'`,
    )
    return rows
  }

  /** The numbers of all that is committed from now on can be asked for. */
  async takeNotes(): Promise<void> {
    await this.client.query(
      `SELECT pg_create_logical_replication_slot('${noteSlot}', 'test_decoding')`,
    )
  }

  /** Numbers of rows in the order of their commits, as the server itself sees it. */
  async notes(): Promise<readonly number[]> {
    const { rows } = await this.client.query<{ data: string }>(
      `SELECT data FROM pg_logical_slot_peek_changes('${noteSlot}', NULL, NULL)`,
    )
    return rows.flatMap(({ data }) => {
      const number = /: (?:INSERT|UPDATE): number\[bigint\]:(\d+)/.exec(data)?.[1]
      return number === undefined ? [] : [Number(number)]
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const slots = await this.slots().catch(() => [])
    for (const { name } of slots) await this.drop(name).catch(() => undefined)
    await this.drop(noteSlot).catch(() => undefined)
    await this.client.end().catch(() => undefined)
  }

  /** Drops a slot that nobody uses, as soon as the server knows that. */
  async drop(slot: string): Promise<void> {
    const isActive = async () => {
      const query = 'SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active'
      return (await this.client.query(query, [slot])).rowCount !== 0
    }
    while (await isActive()) await sleep(20)
    await this.client.query('SELECT pg_drop_replication_slot($1)', [slot])
  }
}

/** The time of the row with a number. */
const timeOf = `timestamptz '2026-03-01 00:00:00+00' + n * interval '1 second'`

interface Slot {
  readonly name: string
  readonly active: boolean
  /** Bytes since the beginning of the log. */
  readonly confirmed: string
}

/** Ends a follower before its table, whose slot is in use till then. */
export function both(table: FollowedTable, follower: AsyncDisposable): AsyncDisposable {
  const stack = new AsyncDisposableStack()
  stack.use(table)
  stack.use(follower)
  return stack
}

/** Resolves when what is followed is read. */
export async function reached(follower: FetchingSource): Promise<void> {
  await expect
    .poll(() => follower.runner.status, { timeout: 60_000, interval: 20 })
    .toMatchObject({ state: 'running' })
}
