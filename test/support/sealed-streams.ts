import { sql } from 'kysely'
import type { StreamId } from '../../src/core/ids.ts'
import type { StateDatabase } from '../../src/storage/state/database.ts'
import type { TestState } from './test-state.ts'

/** Makes a stream whose versions have these processings. Its vault does not exist. */
export async function streamWithVersions(
  tests: TestState,
  streamId: StreamId,
  versions: readonly object[],
): Promise<void> {
  const { state } = tests
  await sql`PRAGMA foreign_keys = OFF`.execute(state)
  await sql`PRAGMA synchronous = OFF`.execute(state)
  const ownerId = await tests.newUser()
  const named = { name: streamId, tags: '{}', created_at: 0 }
  await tests.commit(
    state.insertInto('data_streams').values({
      ...named,
      id: streamId,
      owner_id: ownerId,
      vault_id: streamId,
      type: 'iot_sensor',
      version: versions.length,
      name_folded: streamId,
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
        definition: JSON.stringify({
          source: {},
          schema: { value: { type: 'number' } },
          processing,
          conversions: {},
        }),
        created_by: null,
      }),
    ),
  )
}

/** The marks that are there, in a steady order. */
export async function marksIn(state: StateDatabase) {
  const rows = await state
    .selectFrom('seal_marks')
    .selectAll()
    .orderBy('stream_id')
    .orderBy('start_us')
    .orderBy('width_us')
    .execute()
  return rows.map((row) => ({
    streamId: row.stream_id,
    startUs: row.start_us,
    widthUs: row.width_us,
    endUs: row.start_us + row.width_us,
    offset: row.journal_offset,
    dueAtUs: row.due_at,
  }))
}
