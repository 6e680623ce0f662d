import { rmSync } from 'node:fs'
import { ApiClient } from '../test/support/api-client.ts'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import type { Figure } from './report.ts'

/** Readings of the stream that receipts are asked of, a second apart; each thousandth raises an alert. */
const readings = 100_000
const perRequest = 1_000
const receipts = 1_000
const wantedMs = 100

const beganMs = Date.UTC(2026, 0, 31)

/**
 * How long a receipt takes: of random readings of a stream with windows, alerts and seals, one after the other, on a
 * service that has just received all of them. Its journal holds them all, so the first receipt goes through it.
 */
export async function measureReceipts(): Promise<readonly Figure[]> {
  const dataDir = newDataDir()
  const service = await startServiceProcess(dataDir, {
    STREAMVAULT_CHECK_ANSWERS: 'off',
    STREAMVAULT_ANCHORING: 'on',
    STREAMVAULT_SEAL_GRACE: '1s',
  })
  const api = new ApiClient(service.http)
  const streamId = await filled(api)
  await sealed(api, streamId)
  const first = await took(api, streamId, 0)
  const all: number[] = []
  for (let round = 0; round < receipts; round++) {
    all.push(await took(api, streamId, Math.floor(Math.random() * readings)))
  }
  all.sort((left, right) => left - right)
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
  const [median, p99] = [all[receipts >> 1] ?? 0, all[Math.floor(receipts * 0.99)] ?? 0]
  const slowest = (all.at(-1) ?? 0).toFixed(1)
  return [
    {
      name: `receipts of ${receipts} random readings, of ${readings} that are sealed, one after the other`,
      measured: `p99 ${p99.toFixed(1)} ms (median ${median.toFixed(1)} ms, slowest ${slowest} ms, the first of all ${first.toFixed(1)} ms)`,
      target: `${wantedMs} ms`,
      isMet: p99 < wantedMs,
    },
  ]
}

async function filled(api: ApiClient): Promise<string> {
  const schema = { temperature: { type: 'number' }, pressure: { type: 'number' } }
  const processing = {
    seal: '15m',
    frequency: '15m',
    aggregation: 'average',
    alerting: [{ id: 'hot', field: 'temperature', operator: '>', threshold: 80 }],
  }
  const streamId = await api.createStream(schema, { processing })
  for (let from = 0; from < readings; from += perRequest) {
    const body = Array.from({ length: perRequest }, (_, index) => ({
      timestamp: timeOf(from + index),
      temperature: index === 0 ? 90 : 20 + index / perRequest,
      pressure: 1_000 + Math.random(),
    }))
    const { status } = await api.withToken('POST', `/streams/${streamId}/data`, body)
    if (status !== 202) throw new Error(`readings were answered ${status}`)
  }
  await api.settled(streamId, readings)
  return streamId
}

/** Resolves when nothing waits to be sealed. */
async function sealed(api: ApiClient, streamId: string): Promise<void> {
  for (;;) {
    const path = `/streams/${streamId}/seals?limit=1`
    const { body } = await api.withToken<{ waiting: unknown[]; seals: { status: string }[] }>(
      'GET',
      path,
    )
    if (body.waiting.length === 0 && body.seals[0]?.status === 'COMPLETED') return
  }
}

async function took(api: ApiClient, streamId: string, number: number): Promise<number> {
  const began = performance.now()
  const path = `/streams/${streamId}/receipts?timestamp=${timeOf(number)}`
  const { status, body } = await api.withToken<{ readings: { seal: { path: unknown } | null }[] }>(
    'GET',
    path,
  )
  const tookMs = performance.now() - began
  if (status !== 200 || !body.readings[0]?.seal?.path) {
    throw new Error(`the receipt of ${timeOf(number)} was answered ${status}, or has no path`)
  }
  return tookMs
}

function timeOf(number: number): string {
  return new Date(beganMs + number * 1_000).toISOString()
}
