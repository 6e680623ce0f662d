import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { filesIn } from '../../src/config/data-folder.ts'
import { openStateForReading, openStateForWriting } from '../../src/storage/state/database.ts'
import { ApiClient } from '../support/api-client.ts'
import { newPerson, vaultOf } from '../support/people.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()
const count = 150

/** How many permissions are left, how many the owner is counted to have, and how often ends were told and logged. */
async function figures(folder: string, ownerId: string) {
  const state = openStateForReading(filesIn(folder).state)
  try {
    const { rows } = await sql<Record<'left' | 'total' | 'told' | 'once' | 'logged', number>>`
      SELECT (SELECT count(*) FROM permissions) AS "left",
        (SELECT total FROM totals WHERE list = 'permissions' AND owner_id = ${ownerId}) AS total,
        count(*) AS told, count(DISTINCT resource_id) AS once,
        (SELECT count(*) FROM audit_log WHERE action = 'permission.ended') AS logged
      FROM events WHERE owner_id = ${ownerId} AND type = 'vault.permission.revoked'`.execute(state)
    const [row] = rows
    if (row === undefined) throw new Error('nothing is counted')
    return row
  } finally {
    await state.destroy()
  }
}

/** Permissions that have ended while no service runs: nobody was told of it. */
async function leaveEnded(folder: string, ownerId: string, vaultId: string): Promise<void> {
  const state = await openStateForWriting(filesIn(folder).state)
  await sql`INSERT INTO permissions (id, resource_type, resource_id, resource_created_at, owner_id,
      user_id, role, granted_by, created_at, expires_at)
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT 'permission ' || n, 'vault', ${vaultId}, 1, ${ownerId}, 'user ' || n, 'READ', ${ownerId},
      1, n FROM numbers`.execute(state)
  await sql`INSERT INTO totals (list, owner_id, total) VALUES ('permissions', ${ownerId}, ${count})`.execute(
    state,
  )
  await state.destroy()
}

test('permissions end once each, although the service is killed between the portions', async () => {
  const folder = services.newFolder()
  const first = await services.launch(folder)
  const owner = await newPerson(new ApiClient((await first.listening()).http))
  const vaultId = await vaultOf(owner)
  first.signal('SIGKILL')
  await first.exited
  await leaveEnded(folder, owner.userId, vaultId)

  const leftAfter: number[] = []
  for (let left = count; left > 0; ) {
    const service = await services.launch(folder)
    const before = left
    await expect
      .poll(async () => (await figures(folder, owner.userId)).left, { interval: 5 })
      .toBeLessThan(before)
    service.signal('SIGKILL')
    await service.exited
    const now = await figures(folder, owner.userId)
    left = now.left
    leftAfter.push(left)
    const ended = count - left
    expect(now).toEqual({ left, total: left, told: ended, once: ended, logged: ended })
  }

  expect(leftAfter.length).toBeGreaterThan(1)
})
