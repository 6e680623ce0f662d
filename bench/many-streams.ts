import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ApiClient } from '../test/support/api-client.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import {
  flagsOf,
  mqttFlags,
  readingSchema,
  runGenerator,
  type StreamvaultTarget,
  startStreamvault,
} from './servers.ts'

const shapes = 100

/** What each tenth stream does with its readings. */
const transform = [
  { scale: { field: 'temperature', factor: 1.8, offset: 32 } },
  { derive: { field: 'isWarm', type: 'boolean', expression: 'temperature > 80.0' } },
]

/**
 * Acknowledgements of ten streams and of ten thousand in a hundred shapes, a tenth of them with
 * transforms: pairs of runs, in turn, by the same load.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      streams: { type: 'string', default: '10000' },
    },
  })
  const ratios: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const few = await rateOf(10, Number(values.seconds))
    const many = await rateOf(Number(values.streams), Number(values.seconds))
    ratios.push(many / few)
    process.stdout.write(`10 streams ${few}/s, ${values.streams} streams ${many}/s\n`)
  }
  const sorted = ratios.toSorted((left, right) => left - right)
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  process.stdout.write(`ratio ${median.toFixed(2)} (wanted: 0.8)\n`)
}

async function rateOf(count: number, seconds: number): Promise<number> {
  const target = await startStreamvault(0)
  const topics = await topicsOf(target, count)
  const folder = mkdtempSync(join(tmpdir(), 'streamvault-bench-'))
  const file = join(folder, 'topics')
  writeFileSync(file, topics.join('\n'))
  // The first reading of a stream costs a look-up: that is not what is compared.
  const warmup = 3 + count / 2_500
  const result = await runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags({ ...target, topics: [] }),
    ...flagsOf({ topics: file, connections: 20, 'in-flight': 20, seconds, warmup }),
  ])
  await target.stop()
  rmSync(folder, { recursive: true })
  return Math.round(result.perSecond)
}

async function topicsOf({ api }: StreamvaultTarget, count: number): Promise<string[]> {
  const vaultId = await api.createVault()
  const topics: string[] = []
  for (let first = 0; first < count; first += 20) {
    const some = Array.from({ length: Math.min(20, count - first) }, (_, index) => first + index)
    const ids = await Promise.all(some.map((index) => createStream(api, vaultId, index)))
    topics.push(...ids.map((id) => `streams/${id}/data`))
  }
  return topics
}

/** The shapes differ in a field that no reading has, so that all streams take the same readings. */
async function createStream(api: ApiClient, vaultId: string, index: number): Promise<string> {
  const { status, body } = await api.withToken<{ streamId: string }>('POST', '/streams', {
    name: `stream ${index}`,
    vaultId,
    type: 'iot_sensor',
    source: {},
    schema: { ...readingSchema, [`shape${index % shapes}`]: { type: 'number' } },
    ...(index % 10 === 9 && { processing: { transform } }),
  })
  if (status !== 201) throw new Error(`no stream: ${JSON.stringify(body)}`)
  return body.streamId
}

await main()
