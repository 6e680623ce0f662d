import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ApiClient } from '../test/support/api-client.ts'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import { medianOf } from './fleet.ts'

/** Data streams of one user: as many as a fleet has, or the first argument. */
const fleetSize = Number(process.argv[2] ?? 10_000)

/** How often each page is asked for. */
const rounds = 31

/** Longest time of a page, in milliseconds. */
const wantedMs = 50

/** How much longer the plain page may take with the health of its streams. */
const healthFactorMax = 2

const pages = [
  'limit=100',
  'limit=100&include=health',
  'limit=1000',
  'name=pump%2012*',
  'contains=pump',
  'contains=9999',
  'contains=nothing%20has%20this',
  'tag.site=s3&contains=7',
  'state=active',
  'state=created',
  'state=error',
  'problem=silent',
  'problem=any',
  'problem=firing&include=health',
  'sort=-created',
  'sort=name',
  'sort=-name&contains=99',
  'sort=-lastReading',
  'sort=-rate',
  'sort=-quarantined&include=health',
] as const

/** How long pages of a list of data streams take over HTTP: `npm run bench:stream-lists`. */
async function main(): Promise<void> {
  const dataDir = newDataDir()
  const first = await startServiceProcess(dataDir)
  const userId = await new ApiClient(first.http).userId()
  const vaultId = await new ApiClient(first.http).createVault()
  await first.end('SIGTERM')
  fillStreams(join(dataDir, 'state.db'), { userId, vaultId, streams: fleetSize })
  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const api = new ApiClient(service.http)
  const medians = new Map<string, number>()
  for (const page of pages) medians.set(page, await time(api, page))
  const [plain, healthy] = await timeBoth(api)
  verdict('include=health against the plain page', healthy / plain, healthFactorMax)
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
}

async function time(api: ApiClient, query: string): Promise<number> {
  let total = ''
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const beganMs = performance.now()
    const { status, headers } = await api.withToken('GET', `/streams?${query}`)
    took.push(performance.now() - beganMs)
    if (status !== 200) throw new Error(`${query} answered ${status}`)
    total = headers.get('x-total-count') ?? 'many'
  }
  const median = medianOf(took)
  verdict(`${query} (of ${total}), ms`, median, wantedMs)
  return median
}

/** One after the other, so that what else the machine does is the same for both. */
export async function timeBoth(api: ApiClient): Promise<readonly [plain: number, healthy: number]> {
  const took = { plain: [] as number[], healthy: [] as number[] }
  const ask = async (into: number[], query: string) => {
    const beganMs = performance.now()
    await api.withToken('GET', `/streams?limit=100${query}`)
    into.push(performance.now() - beganMs)
  }
  for (let round = 0; round < rounds * 4; round++) {
    await ask(took.plain, '')
    await ask(took.healthy, '&include=health')
  }
  return [medianOf(took.plain), medianOf(took.healthy)]
}

function verdict(what: string, figure: number, most: number): void {
  const isMet = figure <= most
  process.stdout.write(`${isMet ? 'met ' : 'MISS'} ${figure.toFixed(1).padStart(7)}  ${what}\n`)
  if (!isMet) process.exitCode = 1
}

const uuid = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' ||
  substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2) || '-' ||
  hex(randomblob(6)))`

export interface FilledStreams {
  readonly userId: string
  readonly vaultId: string
  readonly streams: number
}

/** Writes streams with four fields each, `Pump 0` and so on; most have received, some are in trouble. */
export function fillStreams(path: string, { userId, vaultId, streams }: FilledStreams): void {
  const state = new DatabaseSync(path)
  const field = { type: 'number', unit: 'degC' }
  const schema = { temperature: field, pressure: field, flow: field, mode: { type: 'string' } }
  const definition = JSON.stringify({ source: {}, schema, processing: {}, rules: 2 })
  const nowUs = Date.now() * 1_000
  state.exec(`BEGIN;
    INSERT INTO data_streams (id, owner_id, vault_id, name, name_folded, tags, type, created_at,
        version)
      WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${streams})
      SELECT ${uuid}, '${userId}', '${vaultId}', 'Pump ' || (n * 7919 % ${streams}),
        'pump ' || (n * 7919 % ${streams}), '{"site":"s' || (n % 10) || '"}', 'iot_sensor',
        1700000000000000 + n * 7, 1 FROM numbers;
    INSERT INTO data_stream_versions (stream_id, version, name, tags, definition, created_at)
      SELECT id, 1, name, tags, '${definition}', created_at FROM data_streams;
    INSERT INTO data_stream_tags
      SELECT id, owner_id, 'site', json_extract(tags, '$.site') FROM data_streams;
    INSERT INTO stream_counters (stream_id, received, accepted, filtered, quarantined, discarded,
        quarantine_bytes, is_discarding, last_received_at, day, received_on_day)
      SELECT id, 1000, 1000, 0, iif(rowid % 100 = 7, rowid % 40, 0), 0, 0, 0,
        ${nowUs} - (rowid % 1000) * 1000000, 0, 0
      FROM data_streams WHERE rowid % 10 > 0;
    INSERT INTO alerts (id, stream_id, owner_id, vault_id, rule_id, rule, severity, state, value,
        threshold, created_at, is_flapping, steps)
      SELECT 'alert ' || rowid, id, owner_id, vault_id, 'hot', '{}', 'warning', 'firing', '1', '1',
        created_at, 0, 1
      FROM data_streams WHERE rowid % 100 = 3;
    COMMIT`)
  state.close()
}

if (import.meta.main) await main()
