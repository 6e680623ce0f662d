import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient } from '../test/support/api-client.ts'
import { preload } from '../test/support/preload.ts'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import type { Figure } from './report.ts'
import { flagsOf, mqttFlags, mqttTargetOf, readMetrics, runGenerator } from './servers.ts'

const rate = 5_000
const seconds = 15
const schema = { temperature: { type: 'number' }, mode: { type: 'string' } }
const startUs = Date.UTC(2025, 0, 1) * 1_000

/** A backup has a `status`, and an export a `state`. */
interface Job {
  readonly status?: string
  readonly state?: string
}

/** The time to the acknowledgement beside backups, exports, and the removal of what is too old. */
export async function backgroundWork(rows: number): Promise<Figure[]> {
  const dataDir = newDataDir()
  const streamIds = await preload(dataDir, {
    streams: 2,
    schema,
    fields: { temperature: 'i / 7', mode: `'mode ' || i % 10` },
    rows,
    startUs,
    stepUs: 200,
  })
  const [old = ''] = streamIds
  const places = mkdtempSync(join(tmpdir(), 'streamvault-bench-'))
  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const api = new ApiClient(service.http)
  const target = await api.createStream(schema)
  const load = async () => {
    const result = await runGenerator<MqttLoadResult>('mqtt-load', [
      ...mqttFlags(mqttTargetOf(service, [target])),
      ...flagsOf({ rate, seconds, warmup: 3 }),
    ])
    return result.latencyUs.p99 / 1_000
  }
  const quiet = await load()
  const backups = await beside(load, async (index) => {
    const { body } = await api.withToken<{ backupId: string }>('POST', '/backups', {
      to: join(places, String(index)),
    })
    await endOf(api, `/backups/${body.backupId}`)
  })
  const exports = await beside(load, async (index) => {
    const body = { streamIds, format: index % 2 === 0 ? 'csv' : 'parquet' }
    const made = await api.withToken<{ exportId: string }>('POST', '/exports', body)
    await endOf(api, `/exports/${made.body.exportId}`)
  })
  // One of the two streams in each month goes: so rows are deleted, and no table is dropped.
  await api.withToken('PUT', `/streams/${old}`, { processing: { retention: { raw: '1d' } } })
  const expired = async () => (await readMetrics(service.http)).get('readings_expired_total') ?? 0
  const before = await expired()
  const retention = await load()
  const gone = (await expired()) - before
  await service.end('SIGTERM')
  for (const folder of [dataDir, places]) rmSync(folder, { recursive: true })
  const compared = (name: string, p99: number, done: string): Figure => ({
    name: `p99 of acknowledgements at ${rate}/s beside ${name}`,
    measured: `${p99.toFixed(1)} ms, ${quiet.toFixed(1)} ms without: ${(p99 / quiet).toFixed(1)} times; ${done}`,
    target: 'below twice',
    isMet: p99 < 2 * quiet,
  })
  return [
    compared(`backups of ${million(rows)} readings`, backups.p99, `${backups.done} backups`),
    compared(`exports of ${million(rows)} readings`, exports.p99, `${exports.done} exports`),
    compared('retention', retention, `${million(gone)} readings removed`),
  ]
}

function million(count: number): string {
  return `${(count / 1e6).toFixed(1)} million`
}

/** Does something again and again while there is load. */
async function beside(
  load: () => Promise<number>,
  work: (index: number) => Promise<void>,
): Promise<{ readonly p99: number; readonly done: number }> {
  const state = { isOver: false, done: 0 }
  const working = async () => {
    while (!state.isOver) await work(state.done++)
  }
  const ended = working()
  const p99 = await load()
  state.isOver = true
  await ended
  return { p99, done: state.done }
}

async function endOf(api: ApiClient, path: string): Promise<void> {
  for (;;) {
    const { body } = await api.withToken<Job>('GET', path)
    const state = body.state ?? body.status ?? ''
    if (state === 'completed') return
    if (!['queued', 'running'].includes(state))
      throw new Error(`${path} is ${JSON.stringify(body)}`)
    await sleep(200)
  }
}
