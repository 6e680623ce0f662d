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
      `INSERT INTO fleets SELECT ?, owner_id, vault_id, ?, ?, NULL, '{}', '{}', 1, 100, 0, '', 0, ''
       FROM data_streams WHERE id = ?`,
    )
    .run(id, id, id, anyStream ?? '')
  const device = state.prepare('INSERT INTO fleet_devices VALUES (?, ?, ?, 1, 0, NULL)')
  for (const [name, streamId] of Object.entries(devices)) device.run(id, name, streamId)
  return id
}
