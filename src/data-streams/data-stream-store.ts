import type { Clock } from '../core/clock.ts'
import { newId, type StreamId, type UserId } from '../core/ids.ts'
import type { StreamVersion } from '../pipeline/reading.ts'
import type { StateDatabase, StateWriter } from '../state/database.ts'
import {
  type StreamDefinition,
  type StreamType,
  schemaOf,
  type VersionedDefinition,
} from './definition.ts'

export interface DataStream extends StreamDefinition {
  readonly id: StreamId
  readonly ownerId: UserId
  readonly createdAtUs: number
  readonly version: number
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
  readonly #writer: StateWriter
  readonly #clock: Clock

  constructor(state: StateDatabase, writer: StateWriter, clock: Clock) {
    this.#state = state
    this.#writer = writer
    this.#clock = clock
  }

  async create(ownerId: UserId, definition: StreamDefinition): Promise<DataStream> {
    const { name, vaultId, type, source, schema, processing } = definition
    const id = newId<StreamId>()
    const createdAtUs = this.#clock.nowUs()
    const version = 1
    const versioned: VersionedDefinition = { source, schema, processing }
    await this.#writer.commit(
      this.#state.insertInto('data_streams').values({
        id,
        owner_id: ownerId,
        vault_id: vaultId,
        name,
        type,
        created_at: createdAtUs,
        version,
      }),
      this.#state.insertInto('data_stream_versions').values({
        stream_id: id,
        version,
        definition: JSON.stringify(versioned),
        created_at: createdAtUs,
      }),
    )
    return { ...definition, id, ownerId, createdAtUs, version }
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
  return { streamId: id, ownerId, version, schema: schemaOf(stream) }
}
