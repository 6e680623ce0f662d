import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOwner } from '../src/config/folder-owner.ts'
import { textsIn } from '../test/support/anchor-facts.ts'
import { ApiClient } from '../test/support/api-client.ts'
import {
  newDataDir,
  publicAddress,
  type ServiceProcess,
  startServiceProcess,
} from '../test/support/service-process.ts'
import { assetStreamOf, attachmentOf, upload } from '../test/support/uploads.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import { type Figure, measureAll } from './report.ts'
import { flagsOf, mqttFlags, mqttTargetOf, runGenerator } from './servers.ts'

const vaultsMany = 10_000

/** Requests at once. */
const lanes = 32

/** Uploads at once: one user may have eight. */
const uploadLanes = 4

/** Readings beside it. */
const rate = 20_000
const seconds = 30

/** How fast what is made gets onto the sandbox: `npm run bench:anchors`. */
async function main(): Promise<void> {
  await measureAll({ latency, many, attachments, memory }, process.argv.slice(2))
}

/** From a vault's creation to COMPLETED, as its progress says. */
async function latency(): Promise<Figure> {
  return await withService({}, async ({ api }) => {
    const templateId = await templateOf(api)
    const tookMs: number[] = []
    for (let index = 0; index < 300; index++) {
      const id = await vaultOf(api, templateId)
      tookMs.push(await completedMs(api, id))
    }
    const p99 = percentile(tookMs, 0.99)
    return {
      name: 'a vault, from created to completed',
      measured: `p50 ${percentile(tookMs, 0.5).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
      target: 'p99 under 500 ms',
      isMet: p99 < 500,
    }
  })
}

/** Very many vaults in one go, alone and beside readings. */
async function many(): Promise<readonly Figure[]> {
  return await withService({}, async ({ api, service }) => {
    const alone = await manyVaults(api, service)
    const streamId = await api.createStream({ temperature: { type: 'number' } })
    const load = async () =>
      await runGenerator<MqttLoadResult>('mqtt-load', [
        ...mqttFlags(mqttTargetOf(service, [streamId])),
        ...flagsOf({ rate, seconds, warmup: 3 }),
      ])
    const quiet = await load()
    const beside = manyVaults(api, service)
    const loaded = await load()
    const took = await beside
    await api.settled(streamId)
    const share = loaded.perSecond / quiet.perSecond
    return [
      {
        name: `${vaultsMany.toLocaleString('en')} vaults in one go, made and completed`,
        measured: `${alone.toFixed(1)} s`,
        target: 'within 30 s',
        isMet: alone <= 30,
      },
      {
        name: `readings at ${rate.toLocaleString('en')}/s beside ${vaultsMany.toLocaleString('en')} vaults`,
        measured: `${loaded.perSecond.toFixed(0)}/s, ${quiet.perSecond.toFixed(0)}/s without: ${share.toFixed(2)}; the vaults took ${took.toFixed(1)} s`,
        target: 'at least 0.9 of the rate',
        isMet: share >= 0.9,
      },
    ]
  })
}

/** Files that are uploaded within the wait of a batch. */
async function attachments(): Promise<Figure> {
  return await withService({ STREAMVAULT_ANCHOR_BATCH_WAIT: '30s' }, async ({ api, service }) => {
    const streamId = await assetStreamOf(api)
    const count = 1_000
    await inLanes(count, uploadLanes, async (index) => {
      const { presigned_url: url } = await attachmentOf(api, { stream_id: streamId })
      const { status } = await upload(api, url, `file ${index}`)
      if (status !== 200) throw new Error(`the upload was answered ${status}`)
    })
    const completed = () =>
      textsIn(service.dataDir, "id AS text FROM attachments WHERE status = 'COMPLETED'").length
    while (completed() < count) await sleep(200)
    const roots = textsIn(
      service.dataDir,
      "DISTINCT transaction_hash AS text FROM anchors WHERE kind = 'root'",
    ).length
    return {
      name: `transactions for ${count.toLocaleString('en')} attachments`,
      measured: String(roots),
      target: '1',
      isMet: roots === 1,
    }
  })
}

/** What a service takes that anchors, over one that does not. */
async function memory(): Promise<Figure> {
  const off = await restingMb('off', false)
  const idle = await restingMb('on', false)
  const one = await restingMb('on', true)
  return {
    name: 'memory of a service at rest, with anchoring and no network configured',
    measured: `${(idle - off).toFixed(0)} MB more than without; ${(one - off).toFixed(0)} MB more once a vault was made`,
    target: 'at most 10 MB more',
    isMet: idle - off <= 10,
  }
}

async function restingMb(anchoring: string, makesOne: boolean): Promise<number> {
  return await withService({ STREAMVAULT_ANCHORING: anchoring }, async ({ api, service }) => {
    if (makesOne) await vaultOf(api, await templateOf(api))
    await sleep(5_000)
    return residentMb(service)
  })
}

/** Resolves with the seconds until all are completed. */
async function manyVaults(api: ApiClient, service: ServiceProcess): Promise<number> {
  const templateId = await templateOf(api)
  const left = () =>
    textsIn(
      service.dataDir,
      `id AS text FROM vaults WHERE template_id = '${templateId}' AND status <> 'COMPLETED' LIMIT 1`,
    ).length
  const beganMs = performance.now()
  await inLanes(vaultsMany, lanes, async () => {
    await vaultOf(api, templateId)
  })
  const madeMs = performance.now()
  while (left() > 0) await sleep(500)
  process.stdout.write(`     made in ${((madeMs - beganMs) / 1_000).toFixed(1)} s\n`)
  return (performance.now() - beganMs) / 1_000
}

async function inLanes(
  count: number,
  width: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

async function templateOf(api: ApiClient): Promise<string> {
  const body = { name: 'boiler', hint: '', required_streams: [] }
  return (await api.withKey<{ id: string }>('POST', '/templates', body)).body.id
}

async function vaultOf(api: ApiClient, templateId: string): Promise<string> {
  const body = { name: 'boiler 7', template_id: templateId, json_payload: '{"serial": 7}' }
  const answer = await api.withKey<{ id: string }>('POST', '/vaults', body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}

async function completedMs(api: ApiClient, id: string): Promise<number> {
  for (;;) {
    const { body } = await api.withKey<{
      readonly progress: readonly { readonly status: string; readonly completed_at: string }[]
    }>('GET', `/vaults/${id}`)
    const done = body.progress.find(({ status }) => status === 'COMPLETED')
    const [first] = body.progress
    if (done && first) return Date.parse(done.completed_at) - Date.parse(first.completed_at)
    await sleep(10)
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

interface Running {
  readonly api: ApiClient
  readonly service: ServiceProcess
}

async function withService<Result>(
  settings: Readonly<Record<string, string>>,
  work: (running: Running) => Promise<Result>,
): Promise<Result> {
  const service = await startServiceProcess(newDataDir(), {
    STREAMVAULT_CHECK_ANSWERS: 'off',
    STREAMVAULT_ANCHORING: 'on',
    ...(await publicAddress()),
    ...settings,
  })
  try {
    return await work({ api: new ApiClient(service.http), service })
  } finally {
    await service.end('SIGTERM')
    rmSync(service.dataDir, { recursive: true })
  }
}

function residentMb({ dataDir }: ServiceProcess): number {
  const pid = readOwner(dataDir)?.pid ?? 0
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024
}

if (import.meta.main) await main()
