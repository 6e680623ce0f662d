import { sql } from 'kysely'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import type { TestState } from './test-state.ts'

/** A stream as rows: its versions differ in their processing alone. */
export interface InsertedStream {
  readonly streamId: StreamId
  readonly ownerId: UserId
  readonly name: string
  readonly schema: object
  readonly versions: readonly object[]
}

/** Lets streams be in vaults that do not exist. No test that uses this cuts the power. */
export async function withoutVaults({ state }: TestState): Promise<void> {
  await sql`PRAGMA foreign_keys = OFF`.execute(state)
  await sql`PRAGMA synchronous = OFF`.execute(state)
}

/** Writes the rows of a stream, without the checks of definitions. */
export async function insertStream(
  tests: TestState,
  { streamId, ownerId, name, schema, versions }: InsertedStream,
): Promise<void> {
  const { state } = tests
  const named = { name, tags: '{}', created_at: 0 }
  await tests.commit(
    state.insertInto('data_streams').values({
      ...named,
      id: streamId,
      owner_id: ownerId,
      vault_id: streamId,
      type: 'iot_sensor',
      version: versions.length,
      name_folded: name,
      paused_at: null,
      last_event_at: null,
      kept_raw: null,
      kept_aggregated: null,
    }),
    ...versions.map((processing, index) =>
      state.insertInto('data_stream_versions').values({
        ...named,
        stream_id: streamId,
        version: index + 1,
        definition: JSON.stringify({ source: {}, schema, processing, conversions: {} }),
        created_by: null,
      }),
    ),
  )
}
