import { type Compilable, sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { newId, type StreamId, type UserId, type VaultId } from '../core/ids.ts'
import type { ListCursor } from '../core/list-cursor.ts'
import type { StreamVersion } from '../pipeline/reading.ts'
import type { StateDatabase } from '../state/database.ts'
import {
  formatOf,
  type StreamDefinition,
  schemaOf,
  type VersionedDefinition,
} from './definition.ts'
import type { StreamType } from './stream-type.ts'

export interface DataStream extends StreamDefinition {
  readonly id: StreamId
  readonly ownerId: UserId
  readonly createdAtUs: number
  readonly version: number
}

/** What a list tells of a stream. */
export interface ListedStream
  extends Pick<DataStream, 'id' | 'vaultId' | 'name' | 'type' | 'createdAtUs'> {
  readonly hasReceived: boolean
}

/** What the decider has counted of a stream. */
export interface DecidedCounts {
  readonly received: number
  readonly accepted: number
  readonly quarantined: number
  readonly discarded: number
  readonly lastReceivedAtUs: number
  readonly day: number
  readonly receivedOnDay: number
}

const nothingDecided: DecidedCounts = {
  received: 0,
  accepted: 0,
  quarantined: 0,
  discarded: 0,
  lastReceivedAtUs: 0,
  day: 0,
  receivedOnDay: 0,
}

export class DataStreamStore {
  readonly #state: StateDatabase
  readonly #clock: Clock

  constructor(state: StateDatabase, clock: Clock) {
    this.#state = state
    this.#clock = clock
  }

  /**
   * A new stream, and the changes that store it. They find nothing to change when the vault is no
   * longer there.
   */
  plan(
    ownerId: UserId,
    definition: StreamDefinition,
  ): { readonly stream: DataStream; readonly changes: readonly Compilable[] } {
    const { name, vaultId, type, source, schema, processing } = definition
    const id = newId<StreamId>()
    const createdAtUs = this.#clock.nowUs()
    const version = 1
    const versioned: VersionedDefinition = { source, schema, processing }
    const insert = this.#state
      .insertInto('data_streams')
      .columns(['id', 'owner_id', 'vault_id', 'name', 'type', 'created_at', 'version'])
      .expression(
        sql`SELECT ${id}, ${ownerId}, id, ${name}, ${type}, ${createdAtUs}, ${version}
              FROM vaults WHERE id = ${vaultId} AND owner_id = ${ownerId}`,
      )
    const insertVersion = this.#state.insertInto('data_stream_versions').values({
      stream_id: id,
      version,
      definition: JSON.stringify(versioned),
      created_at: createdAtUs,
    })
    return {
      stream: { ...definition, id, ownerId, createdAtUs, version },
      changes: [insert, insertVersion],
    }
  }

  /** Streams of an owner in the order of their creation. */
  async listAfter(
    ownerId: UserId,
    after: ListCursor | undefined,
    limit: number,
  ): Promise<readonly ListedStream[]> {
    let query = this.#state
      .selectFrom('data_streams as stream')
      .leftJoin('stream_counters as counters', 'counters.stream_id', 'stream.id')
      .select(['stream.id', 'stream.vault_id', 'stream.name', 'stream.type', 'stream.created_at'])
      .select('counters.received')
      .where('stream.owner_id', '=', ownerId)
      .orderBy('stream.created_at')
      .orderBy('stream.id')
      .limit(limit)
    if (after) {
      query = query.where((where) =>
        where(
          where.refTuple('stream.created_at', 'stream.id'),
          '>',
          where.tuple(after.createdAtUs, after.id),
        ),
      )
    }
    const rows = await query.execute()
    return rows.map((row) => ({
      id: row.id as StreamId,
      vaultId: row.vault_id as VaultId,
      name: row.name,
      type: row.type as StreamType,
      createdAtUs: row.created_at,
      hasReceived: (row.received ?? 0) > 0,
    }))
  }

  /** A stream of this owner: somebody else's is as good as none (D5). */
  async find(ownerId: UserId, id: StreamId): Promise<DataStream | undefined> {
    const stream = await this.load(id)
    return stream?.ownerId === ownerId ? stream : undefined
  }

  /** Any stream, for parts of the service that have checked rights in another way. */
  async load(id: StreamId): Promise<DataStream | undefined> {
    const row = await this.#state
      .selectFrom('data_streams as stream')
      .innerJoin('data_stream_versions as version', (join) =>
        join
          .onRef('version.stream_id', '=', 'stream.id')
          .onRef('version.version', '=', 'stream.version'),
      )
      .select([
        'stream.id',
        'stream.owner_id',
        'stream.vault_id',
        'stream.name',
        'stream.type',
        'stream.created_at',
        'stream.version',
        'version.definition',
      ])
      .where('stream.id', '=', id)
      .executeTakeFirst()
    if (!row) return undefined
    return {
      ...(JSON.parse(row.definition) as VersionedDefinition),
      id,
      ownerId: row.owner_id as UserId,
      vaultId: row.vault_id as DataStream['vaultId'],
      name: row.name,
      type: row.type as StreamType,
      createdAtUs: row.created_at,
      version: row.version,
    }
  }

  async counts(id: StreamId): Promise<DecidedCounts> {
    const row = await this.#state
      .selectFrom('stream_counters')
      .selectAll()
      .where('stream_id', '=', id)
      .executeTakeFirst()
    if (!row) return nothingDecided
    return {
      received: row.received,
      accepted: row.accepted,
      quarantined: row.quarantined,
      discarded: row.discarded,
      lastReceivedAtUs: row.last_received_at,
      day: row.day,
      receivedOnDay: row.received_on_day,
    }
  }
}

/** What intake needs of a stream. */
export function streamVersionOf(stream: DataStream): StreamVersion {
  const { id, ownerId, version } = stream
  return { streamId: id, ownerId, version, schema: schemaOf(stream), format: formatOf(stream) }
}
