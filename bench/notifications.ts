import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ApiClient } from '../test/support/api-client.ts'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import { type Figure, printFigure } from './report.ts'

/** Entries of one user, over the 30 days that they are kept. */
const entries = 1_000_000
const hours = 30 * 24

/** How often each request is made. */
const rounds = 51

/** Longest median of either, in milliseconds. */
const wantedMs = 10

/** Unread count and first page of a large inbox over HTTP: `npm run bench:notifications`. */
export async function inboxSpeed(): Promise<Figure> {
  const dataDir = newDataDir()
  const first = await startServiceProcess(dataDir)
  const userId = await new ApiClient(first.http).userId()
  await first.end('SIGTERM')
  fill(join(dataDir, 'state.db'), userId)
  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const api = new ApiClient(service.http)
  const countMs = await median(api, '/notifications/in-app/unread-count')
  const pageMs = await median(api, '/notifications/in-app')
  const { body } = await api.withKey<{ unread_count: number }>('GET', '/notifications/in-app')
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
  const unread = body.unread_count.toLocaleString('en-US')
  return {
    name: `inbox of ${entries.toLocaleString('en-US')} entries: unread count, and first page`,
    measured: `${countMs.toFixed(1)} ms and ${pageMs.toFixed(1)} ms (medians of ${rounds}; ${unread} unread)`,
    target: `under ${wantedMs} ms`,
    isMet: Math.max(countMs, pageMs) < wantedMs,
  }
}

async function median(api: ApiClient, path: string): Promise<number> {
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const beganMs = performance.now()
    const { status } = await api.withKey('GET', path)
    took.push(performance.now() - beganMs)
    if (status !== 200) throw new Error(`${path} answered ${status}`)
  }
  return took.toSorted((left, right) => left - right)[rounds >> 1] ?? 0
}

/** Writes the entries at once, every third of them read, the oldest about to expire. */
function fill(path: string, userId: string): void {
  const state = new DatabaseSync(path)
  const hourUs = 3_600_000_000
  const nowUs = Date.now() * 1_000
  const expiresAt = `${nowUs} + n * ${Math.floor((hours * hourUs) / entries)}`
  state.exec('BEGIN')
  state.exec(`INSERT INTO inbox_entries (id, owner_id, position, created_at, expires_at, hour,
      event_id, type, event_type, title, message, resource_type, resource_id, read_at, archived_at)
    WITH RECURSIVE numbers(n) AS
      (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${entries})
    SELECT 'entry ' || n, '${userId}', n, ${expiresAt} - ${hours} * ${hourUs}, ${expiresAt},
      (${expiresAt}) / ${hourUs}, 'event ' || n, 'INFO', 'vault.created', 'Vault created',
      'Vault created: boiler ' || n, 'vault', 'vault ' || n, iif(n % 3 = 0, 1, NULL), NULL
    FROM numbers`)
  state.exec(`INSERT INTO inbox_counts (owner_id, hour, listed, unread)
    SELECT owner_id, hour, count(*), count(*) - count(read_at) FROM inbox_entries
    GROUP BY owner_id, hour`)
  state.exec(`INSERT INTO inboxes (owner_id, newest, minute, written)
    VALUES ('${userId}', ${entries}, 0, 0)
    ON CONFLICT (owner_id) DO UPDATE SET newest = excluded.newest`)
  state.exec('COMMIT')
  state.close()
}

if (import.meta.main) printFigure(await inboxSpeed())
