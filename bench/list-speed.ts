import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ApiClient } from '../test/support/api-client.ts'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import type { Figure } from './report.ts'

/** Rows of each list, all of one user. */
const rows = 1_000_000

/** How often each page is asked for. */
const rounds = 15

/** Longest time of page 1 and page 1,000, in milliseconds. */
const wantedMs = 30

interface Timing {
  readonly what: string
  readonly medianMs: number
  readonly slowestMs: number
}

/** How long the pages of lists of a million rows take over HTTP: `npm run bench:lists`. */
async function main(): Promise<void> {
  const { timings, neighbour } = await measured(print)
  for (const timing of timings) {
    const { what, medianMs, slowestMs } = timing
    const verdict = isPromised(timing) ? (medianMs < wantedMs ? 'met ' : 'MISS') : 'seen'
    print(
      `${verdict} ${medianMs.toFixed(1).padStart(7)} ms  (slowest ${slowestMs.toFixed(1)})  ${what}`,
    )
    if (verdict === 'MISS') process.exitCode = 1
  }
  print(neighbour)
}

/** The figure of the report: the slowest of the pages that something is promised of. */
export async function listSpeed(): Promise<Figure> {
  const { timings } = await measured()
  const promised = slowest(timings.filter(isPromised))
  const middle = slowest(timings.filter(isInMiddle))
  return {
    name: `lists of ${rows.toLocaleString('en-US')} rows: pages 1 and 1,000, of 10 and of 100`,
    measured: `at most ${promised.medianMs.toFixed(1)} ms (median of ${rounds}; ${promised.what}); in the very middle ${middle.medianMs.toFixed(1)} ms`,
    target: `under ${wantedMs} ms`,
    isMet: promised.medianMs < wantedMs,
  }
}

function slowest(timings: readonly Timing[]): Timing {
  return timings.reduce((one, other) => (other.medianMs > one.medianMs ? other : one))
}

interface Measured {
  readonly timings: readonly Timing[]
  /** What others feel of searches: a sentence. */
  readonly neighbour: string
}

/** Builds the lists and asks for their pages. */
async function measured(report: (line: string) => void = () => undefined): Promise<Measured> {
  const dataDir = newDataDir()
  const first = await startServiceProcess(dataDir)
  const userId = await new ApiClient(first.http).userId()
  await first.end('SIGTERM')
  const beganMs = performance.now()
  fill(join(dataDir, 'state.db'), userId)
  report(`${rows} templates, vaults, attachments, asset and data streams in ${seconds(beganMs)} s`)

  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const api = new ApiClient(service.http)
  const timings: Timing[] = []
  for (const path of pagePaths()) timings.push(await time(path, () => api.withKey('GET', path)))
  for (const list of ['vaults', 'streams']) timings.push(...(await timeCursors(api, list)))
  const neighbour = await timeNeighbour(api)
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
  return { timings, neighbour }
}

/** Nothing is promised of searches, and of the middle of a list, where most is passed over. */
function isPromised({ what }: Timing): boolean {
  return !what.includes('search_term') && pageOf(what) <= 1_000
}

function isInMiddle({ what }: Timing): boolean {
  return [10, 100].some(
    (size) => what.endsWith(`page_size=${size}`) && pageOf(what) === rows / size / 2,
  )
}

function pageOf(what: string): number {
  return Number(/[?&]page=(\d+)/.exec(what)?.[1] ?? 1)
}

function pagePaths(): readonly string[] {
  const places = [10, 100].flatMap((size) =>
    [1, 1_000, rows / size / 2, rows / size, rows].map((page) => `page=${page}&page_size=${size}`),
  )
  const orders = ['sort_type=desc', 'sort_by=name', 'sort_by=name&sort_type=desc']
  const deep = 'page=1000&page_size=100'
  return [
    ...places.map((place) => `/vaults?${place}`),
    ...places.map((place) => `/streams?${place}`),
    ...places.map((place) => `/attachments?${place}`),
    ...places.map((place) => `/streams/CODE1/attachments?${place}`),
    ...places.map((place) => `/templates?${place}`),
    ...orders.map((order) => `/templates?${deep}&${order}`),
    `/templates?${deep}&public=true`,
    `/templates?${deep}&public=true&sort_by=name&sort_type=desc`,
    '/templates?search_term=number%20999999',
    '/templates?search_term=number',
    `/templates?${deep}&search_term=number&sort_by=name`,
    '/templates?search_term=nothing%20has%20this&public=true',
  ]
}

async function time(
  what: string,
  ask: () => Promise<{ readonly status: number }>,
): Promise<Timing> {
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const beganMs = performance.now()
    const { status } = await ask()
    took.push(performance.now() - beganMs)
    if (status !== 200) throw new Error(`${what} answered ${status}`)
  }
  took.sort((left, right) => left - right)
  return { what, medianMs: took[rounds >> 1] ?? 0, slowestMs: took.at(-1) ?? 0 }
}

/** Cursor pages: the first one, and one far inside, reached as a caller would. */
async function timeCursors(api: ApiClient, list: string): Promise<readonly Timing[]> {
  const timings = [
    await time(`/${list}?limit=100, first`, () => api.withToken('GET', `/${list}?limit=100`)),
  ]
  let path = `/${list}?limit=1000`
  for (let page = 1; page < 100; page++) {
    const { headers } = await api.withToken('GET', path)
    path = /^<([^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? ''
  }
  const deep = path.replace('limit=1000', 'limit=100')
  timings.push(await time(`/${list}?limit=100, page 1,000`, () => api.withToken('GET', deep)))
  return timings
}

/** What others feel of a search over everything. */
async function timeNeighbour(api: ApiClient): Promise<string> {
  const searches = { left: 10 }
  const searching = (async () => {
    for (; searches.left > 0; searches.left--) {
      await api.withKey('GET', '/templates?search_term=nothing%20has%20this')
    }
  })()
  let slowestMs = 0
  let count = 0
  while (searches.left > 0) {
    const beganMs = performance.now()
    await api.withKey('GET', '/vaults')
    slowestMs = Math.max(slowestMs, performance.now() - beganMs)
    count++
  }
  await searching
  return `during searches: ${count} other pages, the slowest in ${slowestMs.toFixed(1)} ms`
}

const uuid = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' ||
  substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2) || '-' ||
  hex(randomblob(6)))`

/** Writes the rows at once, as a million requests would have left them. */
function fill(path: string, userId: string): void {
  const state = new DatabaseSync(path)
  const numbers = `WITH RECURSIVE numbers(n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows})`
  const firstUs = 1_700_000_000_000_000
  const template = `(SELECT id FROM templates LIMIT 1)`
  const definition = JSON.stringify({ source: {}, schema: {}, processing: {} })
  state.exec('BEGIN')
  state.exec(`INSERT INTO templates (id, owner_id, created_at, name, name_folded, description,
      author, status, public, hint, required_streams) ${numbers}
    SELECT ${uuid}, '${userId}', ${firstUs} + n * 7, 'Template number ' || n,
      'template number ' || n, 'one of many', NULL, 'UPLOAD_PENDING', n % 2, 'a hint', '[]'
    FROM numbers`)
  state.exec(`INSERT INTO vaults (id, owner_id, created_at, template_id, name, name_folded, description,
      status, ledger, public, json_payload) ${numbers}
    SELECT ${uuid}, '${userId}', ${firstUs} + n * 7, ${template}, 'vault ' || n, 'vault ' || n, NULL,
      'SERVICE_RECEIVED', 'XRPL', 1, '{"hall":3}' FROM numbers`)
  state.exec(`INSERT INTO asset_streams (id, owner_id, created_at, asset_code, description, ledger,
      status, progress) ${numbers}
    SELECT ${uuid}, '${userId}', ${firstUs} + n * 7, 'CODE' || n, NULL, 'XRPL',
      'SERVICE_RECEIVED', '[["SERVICE_RECEIVED",1]]' FROM numbers`)
  // All are attached to one, with a file each.
  const firstStream = `(SELECT id FROM asset_streams WHERE asset_code = 'CODE1')`
  state.exec(`INSERT INTO attachments (id, owner_id, created_at, name, stream_id, ledger, filename,
      upload_as_zip, status, size, file_count, progress) ${numbers}
    SELECT ${uuid}, '${userId}', ${firstUs} + n * 7, 'attachment ' || n, ${firstStream}, 'XRPL',
      'a.txt', 0, 'METADATA_STORED', 1, 1, '[["SERVICE_RECEIVED",1]]' FROM numbers`)
  state.exec(`INSERT INTO contents VALUES ('bafk', 1, 'ab', 'text/plain', 'unixfs-v1-2025', 1)`)
  state.exec(`INSERT INTO files SELECT id, 0, 'a.txt', 'bafk' FROM attachments`)
  // Each vault lists two.
  for (const position of [0, 1]) {
    state.exec(`INSERT INTO vault_streams SELECT id, ${position},
        (SELECT id FROM asset_streams LIMIT 1 OFFSET ${position}) FROM vaults`)
  }
  state.exec(`INSERT INTO data_streams (id, owner_id, vault_id, name, name_folded, type, created_at,
      version)
      ${numbers}
    SELECT ${uuid}, '${userId}', (SELECT id FROM vaults LIMIT 1), 'stream ' || n, 'stream ' || n,
      'iot_sensor', ${firstUs} + n * 7, 1 FROM numbers`)
  state.exec(`INSERT INTO data_stream_versions
      (stream_id, version, name, tags, definition, created_at)
    SELECT id, 1, name, tags, '${definition}', created_at FROM data_streams`)
  state.exec(`DELETE FROM totals`)
  state.exec(`INSERT INTO totals VALUES ('templates', '${userId}', ${rows}),
    ('vaults', '${userId}', ${rows}), ('asset_streams', '${userId}', ${rows}),
    ('attachments', '${userId}', ${rows}), ('attachments_of_stream', ${firstStream}, ${rows}),
    ('public_templates', '', ${rows / 2})`)
  state.exec('COMMIT')
  state.close()
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function seconds(sinceMs: number): string {
  return ((performance.now() - sinceMs) / 1_000).toFixed(1)
}

if (import.meta.main) await main()
