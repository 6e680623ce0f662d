import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Rows of a fleet whose devices have these streams, by their names, in the state of a running service. */
export function addFleet(
  dataDir: string,
  devices: Readonly<Record<string, string | null>>,
): string {
  using state = new DatabaseSync(join(dataDir, 'state.db'), { timeout: 10_000 })
  const id = randomUUID()
  const [anyStream] = Object.values(devices).filter((streamId) => streamId !== null)
  state
    .prepare(
      `INSERT INTO fleets (id, owner_id, vault_id, name, name_folded, definition, tags, version,
         settled_version, streams_max, created_at, created_by, changed_at, changed_by)
       SELECT ?, owner_id, vault_id, ?, ?, '{}', '{}', 1, 1, 100, 0, '', 0, ''
       FROM data_streams WHERE id = ?`,
    )
    .run(id, id, id, anyStream ?? '')
  const device = state.prepare(
    `INSERT INTO fleet_devices (fleet_id, name, stream_id, version, created_at)
     VALUES (?, ?, ?, 1, 0)`,
  )
  for (const [name, streamId] of Object.entries(devices)) device.run(id, name, streamId)
  return id
}
