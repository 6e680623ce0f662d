import type { StreamId } from '../../src/core/ids.ts'
import type { StateDatabase } from '../../src/storage/state/database.ts'
import { insertStream, withoutVaults } from './inserted-stream.ts'
import type { TestState } from './test-state.ts'

/** Makes a stream whose versions have these processings. Its vault does not exist. */
export async function streamWithVersions(
  tests: TestState,
  streamId: StreamId,
  versions: readonly object[],
): Promise<void> {
  await withoutVaults(tests)
  const schema = { value: { type: 'number' } }
  const ownerId = await tests.newUser()
  await insertStream(tests, { streamId, ownerId, name: streamId, schema, versions })
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
