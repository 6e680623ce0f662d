import { setTimeout as sleep } from 'node:timers/promises'
import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import type {
  FetchConnector,
  FetchedSource,
  FetchRun,
} from '../../src/contracts/fetch-connector.ts'
import { aborted } from '../../src/core/aborted.ts'
import { race } from '../../src/core/race.ts'
import { keepByteOrderMarksOfLog } from '../byte-order-marks.ts'
import { parseAddress } from '../database/options.ts'
import { ChangePages } from './change-pages.ts'
import { LogFollower } from './log-follower.ts'
import { formatLsn, type LogPosition, readPosition, writePosition } from './log-position.ts'
import { type PostgresLogOptions, postgresLogOptions } from './options.ts'
import { ensurePublication } from './publication.ts'
import { describeFailure } from './refusals.ts'
import { ReplicationConnection } from './replication-connection.ts'
import { dropSlot, findStart } from './slot.ts'
import { postgresLogSource } from './source.ts'
import { identifier, literal } from './sql-text.ts'
import { tryTable } from './trial.ts'

/** How long what is on its way to the disk is waited for when a run is told to end. */
const finishMs = 2_000

/** Types of one database that stand for others. */
const domainsMax = 10_000

/** Changes of a table of PostgreSQL, as its server writes them into its log: logical replication. */
export const postgresLog: FetchConnector = {
  takes: (source) => isOfKind(postgresLogSource, source),
  destinationOf: ({ endpoint }) => parseAddress('postgres', endpoint as string),
  open: (definition) => new PostgresLogSource(postgresLogOptions(definition)),
  // The slot may be that of a source that is running.
  forTrial: (source) => ({ ...source, slot: undefined, isTrial: true }),
}

class PostgresLogSource implements FetchedSource {
  readonly identity: string
  readonly #options: PostgresLogOptions

  constructor(options: PostgresLogOptions) {
    const { host, port, database, schema, table, publication, slot } = options
    const name = [host, port, database, schema, table, publication, slot]
    this.identity = JSON.stringify(['postgres log', ...name])
    this.#options = options
  }

  async run(run: FetchRun): Promise<void> {
    try {
      await this.#connect(run)
    } catch (error) {
      if (!run.signal.aborted) throw describeFailure(error)
    }
  }

  async release(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<void> {
    if (this.#options.isTrial) return
    const connection = await this.#open(run)
    try {
      await dropSlot(connection, this.#options)
    } catch (error) {
      throw describeFailure(error)
    } finally {
      await connection.end()
    }
  }

  async #open(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<ReplicationConnection> {
    return await ReplicationConnection.open(this.#options, run)
  }

  async #connect(run: FetchRun): Promise<void> {
    const { signal } = run
    const connection = await this.#open(run)
    const giveUp = () => connection.destroy()
    signal.addEventListener('abort', giveUp)
    let follower: LogFollower | undefined
    try {
      if (this.#options.isTrial) return await this.#try(connection, run)
      const position = await this.#prepare(connection, run)
      follower = await this.#follow(connection, { run, position })
      signal.removeEventListener('abort', giveUp)
      run.onRunning()
      await race([connection.ended, aborted(signal)])
      await race([follower.close(), sleep(finishMs, undefined, { ref: false })])
    } finally {
      signal.removeEventListener('abort', giveUp)
      await connection.end()
      // What becomes durable after the next run has begun would be read twice.
      await follower?.close()
    }
  }

  async #try(connection: ReplicationConnection, run: FetchRun): Promise<void> {
    const baseTypes = await readBaseTypes(connection)
    const sample = await tryTable(connection, this.#options, {
      baseTypes,
      source: this.#sourceText,
    })
    run.onRunning()
    if (sample.length > 0) await run.accept(sample)
    await aborted(run.signal)
  }

  /** Where a row came from, for a person. */
  get #sourceText(): string {
    const { host, port, database, schema, table } = this.#options
    return `table ${schema}.${table} of ${host}:${port}/${database}`
  }

  /** The beginning of a slot is durable before anything is read: that it was there is known then. */
  async #prepare(connection: ReplicationConnection, run: FetchRun): Promise<LogPosition> {
    const before = readPosition(run.position)
    await ensurePublication(connection, this.#options, before === undefined)
    const position = await findStart(connection, this.#options, { ...run, position: before })
    if (before === undefined) await run.accept([], writePosition(position))
    return position
  }

  async #follow(
    connection: ReplicationConnection,
    { run, position }: { readonly run: FetchRun; readonly position: LogPosition },
  ): Promise<LogFollower> {
    const { slot, publication } = this.#options
    const source = this.#sourceText
    const baseTypes = await readBaseTypes(connection)
    // Loaded when it is needed: most services follow no log.
    const { PgoutputPlugin } = await import('pg-logical-replication')
    keepByteOrderMarksOfLog()
    const parser = new PgoutputPlugin({ protoVersion: 1, publicationNames: [] })
    const pages = new ChangePages({ ...this.#options, parser, baseTypes, source, position })
    const follower = new LogFollower({ connection, pages, run, durable: position.lsn })
    const place = `SLOT ${identifier(slot)} LOGICAL ${formatLsn(position.lsn)}`
    const how = `proto_version '1', publication_names ${literal(identifier(publication))}`
    try {
      await connection.follow(`START_REPLICATION ${place} (${how})`, follower)
      return follower
    } catch (error) {
      await connection.end()
      await follower.close()
      throw error
    }
  }
}

/** A domain is sent like the type that it restricts. */
async function readBaseTypes(
  connection: ReplicationConnection,
): Promise<ReadonlyMap<number, number>> {
  const rows = await connection.query(
    `WITH RECURSIVE bases AS (
       SELECT oid AS domain, typbasetype AS base FROM pg_type WHERE typtype = 'd'
       UNION ALL
       SELECT domain, t.typbasetype FROM bases JOIN pg_type t ON t.oid = base WHERE t.typtype = 'd'
     )
     SELECT domain::text, base::text FROM bases JOIN pg_type t ON t.oid = base
      WHERE t.typtype <> 'd' LIMIT ${domainsMax}`,
  )
  return new Map(rows.map(({ domain, base }) => [Number(domain), Number(base)]))
}
