import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { readOwner } from '../src/config/folder-owner.ts'
import { systemClock } from '../src/core/clock.ts'
import type { UserId, VaultId } from '../src/core/ids.ts'
import { LocalStateWriter, openStateForReading } from '../src/storage/state/database.ts'
import { AttachmentStore } from '../src/twins/attachments/attachment-store.ts'
import { VaultStore } from '../src/twins/vaults/vault-store.ts'
import { ApiClient } from '../test/support/api-client.ts'
import { newPerson } from '../test/support/people.ts'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import { cpuSecondsOf } from './process-cpu.ts'

/** Vaults of the user who lists; asset streams, each with an attachment; and what of each is shared with this user. */
const ownVaults = 1_000_000
const ownStreams = 100_000
const sharedRows = 100_000

/** What is attached to each asset stream that is shared. */
const attachedToShared = 2

/** How often each page is asked for; and each that is put together in turns. */
const rounds = 15
const longRounds = 3

/** What one statement may take of the processor, in milliseconds: nobody else has a turn meanwhile. */
const statementMs = 20

/** Longest time of page 1 and page 1,000, in milliseconds. */
const wantedMs = 30

/** What a check of a permission may cost a request, in microseconds of the processor, and how many are measured. */
const wantedUs = 50
const checks = 20_000

/** How long lists take that others share much of, and what rights cost a request: `npm run bench:sharing`. */
async function main(): Promise<void> {
  const dataDir = newDataDir()
  const path = join(dataDir, 'state.db')
  const first = await startServiceProcess(dataDir)
  const userId = await new ApiClient(first.http).userId()
  const { userId: ownerId } = await newPerson(new ApiClient(first.http))
  await first.end('SIGTERM')
  fill(path, { userId, ownerId })

  for (const [what, sql] of plansOf(userId)) printPlan(path, what, sql)
  await timePages(path, userId as UserId)
  await timeAttachments(path, userId as UserId)
  await timeChecks(path, userId as UserId)
  await timeLists(dataDir)
  rmSync(dataDir, { recursive: true })
}

/** How long pages take over HTTP, and what they cost the processor, which says the same whatever else a machine does. */
async function timeLists(dataDir: string): Promise<void> {
  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const api = new ApiClient(service.http)
  const pid = readOwner(dataDir)?.pid ?? 0
  const time = async (ask: () => Promise<Answer>, path: string, isPromised: boolean) => {
    const { tookMs, cpuMs } = await timed(ask, { pid, times: isPromised ? rounds : longRounds })
    const figures = `${tookMs.toFixed(1)} ms, ${cpuMs.toFixed(1)} ms of the processor`
    report(isPromised ? tookMs < wantedMs : undefined, `${figures}  ${path}`)
  }
  for (const [list, rows] of [
    ['vaults', ownVaults + sharedRows],
    ['streams', ownStreams + sharedRows],
  ] as const) {
    for (const size of [10, 100]) {
      for (const page of [1, 1_000, Math.floor(rows / size / 2), rows / size]) {
        const path = `/${list}?page=${page}&page_size=${size}`
        await time(() => api.withKey('GET', path), path, page <= 1_000)
      }
    }
  }
  for (const path of ['/attachments?page=1&page_size=10', '/attachments?page=1000&page_size=100']) {
    await time(() => api.withKey('GET', path), path, false)
  }
  for (const query of ['limit=100', 'limit=100&contains=vault%2099']) {
    const path = `/vaults?${query}`
    await time(() => api.withToken('GET', path), path, !query.includes('contains'))
  }
  await service.end('SIGTERM')
}

type Answer = { readonly status: number }

/** The median of some requests, after one that warms up, and what the service took for each. */
async function timed(
  ask: () => Promise<Answer>,
  { pid, times }: { readonly pid: number; readonly times: number },
): Promise<{ readonly tookMs: number; readonly cpuMs: number }> {
  await ask()
  const took: number[] = []
  const before = cpuSecondsOf(pid)
  for (let round = 0; round < times; round++) {
    const beganMs = performance.now()
    const { status } = await ask()
    took.push(performance.now() - beganMs)
    if (status !== 200) throw new Error(`answered ${status}`)
  }
  const cpuMs = (1_000 * (cpuSecondsOf(pid) - before)) / times
  return { tookMs: median(took), cpuMs }
}

/** What the pages of a list cost the processor, which says the same whatever else a machine does. */
async function timePages(path: string, userId: UserId): Promise<void> {
  const state = openStateForReading(path)
  const writer = new LocalStateWriter(state, async () => () => undefined)
  const vaults = new VaultStore({ state, writer, clock: systemClock })
  for (const limit of [10, 100]) {
    for (const page of [1, 1_000]) {
      const took: number[] = []
      for (let round = 0; round < rounds; round++) {
        const before = process.cpuUsage()
        await vaults.listPage(userId, { offset: (page - 1) * limit, limit })
        const { user, system } = process.cpuUsage(before)
        took.push((user + system) / 1_000)
      }
      const tookMs = median(took)
      const what = `page ${page} of ${limit} vaults, on the processor`
      report(tookMs < wantedMs, `${tookMs.toFixed(1)} ms  ${what}`)
    }
  }
  await state.destroy()
}

/** What the longest statement of a page of attachments takes, which are put into order in turns. */
async function timeAttachments(path: string, userId: UserId): Promise<void> {
  const state = openStateForReading(path)
  const openView = () => openStateForReading(path)
  const writer = new LocalStateWriter(state, async () => () => undefined)
  const needs = { state, writer, clock: systemClock, openView, uploadWaitUs: 1 }
  const attachments = new AttachmentStore({ ...needs, removedWith: () => [] })
  const statements = timeStatements()
  for (const offset of [0, 99_900, ownStreams]) {
    statements.length = 0
    const { total } = await attachments.listPage(userId, { offset, limit: 100 })
    const longest = Math.max(...statements)
    const all = statements.reduce((sum, ms) => sum + ms, 0)
    report(
      longest < statementMs,
      `${longest.toFixed(1)} ms  the longest of ${statements.length} statements for 100 of ${total} attachments from ${offset} on (${all.toFixed(0)} in all)`,
    )
  }
  await state.destroy()
}

/** What each statement takes of the processor from here on, in milliseconds. */
function timeStatements(): number[] {
  const took: number[] = []
  for (const method of ['all', 'run'] as const) {
    const real = StatementSync.prototype[method] as (...values: unknown[]) => never
    StatementSync.prototype[method] = function measured(...values: unknown[]) {
      const before = process.threadCpuUsage()
      const result = real.apply(this, values)
      const { user, system } = process.threadCpuUsage(before)
      took.push((user + system) / 1_000)
      return result
    }
  }
  return took
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0
}

/** What reading a vault costs for the sake of rights: beside the same without a question for any. */
async function timeChecks(path: string, userId: UserId): Promise<void> {
  const state = openStateForReading(path)
  const writer = new LocalStateWriter(state, async () => () => undefined)
  const vaults = new VaultStore({ state, writer, clock: systemClock })
  const table = state.selectFrom('vaults').select('id')
  const own = await table.where('owner_id', '=', userId).limit(checks).execute()
  const shared = await table.where('owner_id', '<>', userId).limit(checks).execute()
  const unknown = own.map(({ id }) => ({ id: `0${id.slice(1, -4)}0000` }))
  for (const [what, rows] of Object.entries({ own, shared, unknown })) {
    const alone = await eachUs(rows, (id) => vaults.load(id))
    const seen = await eachUs(rows, (id) => vaults.findVisible(userId, id as VaultId))
    const costs = seen - alone
    report(
      costs < wantedUs,
      `${costs.toFixed(1)} us  the right to a vault that is ${what} (${seen.toFixed(1)} with its record)`,
    )
  }
  await state.destroy()
}

async function eachUs(
  rows: readonly { readonly id: string }[],
  read: (id: string) => Promise<unknown>,
): Promise<number> {
  for (const { id } of rows.slice(0, 2_000)) await read(id)
  const before = process.cpuUsage()
  for (const { id } of rows) await read(id)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / rows.length
}

const uuid = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' ||
  substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2) || '-' ||
  hex(randomblob(6)))`

/** The numbers from 1 on, for the statement that follows. */
function upTo(count: number): string {
  return `WITH RECURSIVE numbers(n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`
}

/** Writes the rows at once, those that are shared between one's own. */
function fill(path: string, { userId, ownerId }: { userId: string; ownerId: string }): void {
  const state = new DatabaseSync(path)
  // Nothing of it has to outlive anything, and ids come in no order.
  state.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -400000')
  const template = `(SELECT id FROM templates LIMIT 1)`
  const firstUs = 1_700_000_000_000_000
  state.exec('BEGIN')
  state.exec(`INSERT INTO templates (id, owner_id, created_at, name, name_folded, description,
      author, status, public, hint, required_streams)
    VALUES (${uuid}, '${ownerId}', 1, 'boiler', 'boiler', 'a boiler', NULL, 'UPLOAD_PENDING', 1, '', '[]')`)
  for (const [owner, vaults, streams, stepUs, attached] of [
    [userId, ownVaults, ownStreams, 7, 1],
    [ownerId, sharedRows, sharedRows, 71, attachedToShared],
  ] as const) {
    state.exec(`INSERT INTO vaults (id, owner_id, created_at, template_id, name, name_folded, description,
        status, ledger, public, json_payload) ${upTo(vaults)}
      SELECT ${uuid}, '${owner}', ${firstUs} + n * ${stepUs}, ${template}, 'vault ' || n, 'vault ' || n, NULL,
        'SERVICE_RECEIVED', 'XRPL', 0, '{"hall":3}' FROM numbers`)
    state.exec(`INSERT INTO asset_streams (id, owner_id, created_at, asset_code, description, ledger,
        status, progress) ${upTo(streams)}
      SELECT ${uuid}, '${owner}', ${firstUs} + n * ${stepUs}, 'CODE' || n, NULL, 'XRPL',
        'SERVICE_RECEIVED', '[["SERVICE_RECEIVED",1]]' FROM numbers`)
    state.exec(`INSERT INTO attachments (id, owner_id, created_at, name, stream_id, ledger, filename,
        upload_as_zip, status, size, file_count, progress) ${upTo(attached)}
      SELECT ${uuid}, owner_id, created_at + 1, 'attachment', id, 'XRPL',
        'a.txt', 0, 'METADATA_STORED', 1, 1, '[["SERVICE_RECEIVED",1]]'
      FROM asset_streams CROSS JOIN numbers WHERE owner_id = '${owner}'`)
    state.exec(`INSERT OR REPLACE INTO totals VALUES ('vaults', '${owner}', ${vaults}),
      ('asset_streams', '${owner}', ${streams}), ('attachments', '${owner}', ${streams * attached})`)
    state.exec(`INSERT INTO totals
      SELECT 'attachments_of_stream', id, ${attached} FROM asset_streams WHERE owner_id = '${owner}'`)
  }
  state.exec(`INSERT INTO totals VALUES ('shared_vaults', '${userId}', ${sharedRows}),
    ('shared_asset_streams', '${userId}', ${sharedRows})`)
  for (const [type, table] of [
    ['vault', 'vaults'],
    ['asset_stream', 'asset_streams'],
  ] as const) {
    state.exec(`INSERT INTO permissions
      SELECT ${uuid}, '${type}', id, created_at, owner_id, '${userId}',
        CASE abs(random()) % 2 WHEN 0 THEN 'READ' ELSE 'WRITE' END, owner_id, created_at,
        CASE abs(random()) % 2 WHEN 0 THEN 4000000000000000 END, NULL
      FROM ${table} WHERE owner_id = '${ownerId}'`)
  }
  state.exec('COMMIT')
  state.close()
}

function plansOf(userId: string): readonly (readonly [what: string, sql: string])[] {
  const inForce = `(permissions.expires_at IS NULL OR permissions.expires_at > 1)
    AND NOT EXISTS (SELECT 1 FROM departed_users WHERE departed_users.user_id = permissions.owner_id)`
  const shared = `FROM permissions WHERE user_id = '${userId}' AND resource_type = 'vault' AND ${inForce}`
  return [
    [
      'the right to a vault',
      `SELECT vaults.*, (SELECT role FROM permissions WHERE permissions.resource_id = 'v'
        AND permissions.user_id = '${userId}' AND ${inForce}) AS role FROM vaults
        WHERE id = 'v' AND (owner_id = '${userId}' OR public = 1 OR role IS NOT NULL)`,
    ],
    [
      'how many are shared and over',
      `SELECT count(*) FROM permissions
        WHERE user_id = '${userId}' AND resource_type = 'vault' AND expires_at <= 1`,
    ],
    [
      'the ids of a page',
      `SELECT id FROM (SELECT created_at AS place, id FROM vaults WHERE owner_id = '${userId}'
        UNION ALL SELECT resource_created_at AS place, resource_id AS id ${shared}
        ORDER BY place, id LIMIT 100 OFFSET 99900)`,
    ],
  ]
}

function printPlan(path: string, what: string, sql: string): void {
  const state = new DatabaseSync(path, { readOnly: true })
  const plan = state.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[]
  state.close()
  print(`plan of ${what}:\n${plan.map(({ detail }) => `    ${detail}`).join('\n')}`)
}

function report(isMet: boolean | undefined, line: string): void {
  const verdict = isMet === undefined ? 'seen' : isMet ? 'met ' : 'MISS'
  print(`${verdict} ${line}`)
  if (isMet === false) process.exitCode = 1
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

if (import.meta.main) await main()
