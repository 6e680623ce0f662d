import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiClient } from '../test/support/api-client.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import {
  flagsOf,
  mqttFlags,
  readingSchema,
  runGenerator,
  type StreamvaultTarget,
} from './servers.ts'

/** Streams that are made in one request, at most. */
const bulk = 1_000

export interface Fleet {
  readonly streams: number
  /** They differ in a field that no reading has, so that all streams take the same readings; 1 is none. */
  readonly shapes?: number
  /** The `processing` of the streams of a shape. */
  readonly processing?: (shape: number) => object | undefined
}

/** Makes streams and returns the topics of their readings: neighbours have different shapes. */
export async function makeFleet(
  api: ApiClient,
  { streams, shapes = 1, processing = () => undefined }: Fleet,
): Promise<readonly string[]> {
  const vaultId = await api.createVault()
  const byShape: string[][] = []
  for (let shape = 0; shape < shapes; shape++) {
    const schema =
      shapes === 1 ? readingSchema : { ...readingSchema, [`shape${shape}`]: { type: 'number' } }
    const own = processing(shape)
    const definition = { vaultId, type: 'iot_sensor', source: {}, schema }
    const made: string[] = []
    const count = Math.ceil((streams - shape) / shapes)
    for (let first = 0; first < count; first += bulk) {
      const names = Array.from({ length: Math.min(bulk, count - first) }, (_, index) => ({
        name: `stream ${shape} ${first + index}`,
      }))
      const body = {
        definition: { ...definition, ...(own && { processing: own }) },
        streams: names,
      }
      const answer = await api.withToken<{ streamIds: string[] }>('POST', '/streams/bulk', body)
      if (answer.status !== 201) throw new Error(`no streams: ${JSON.stringify(answer.body)}`)
      made.push(...answer.body.streamIds)
    }
    byShape.push(made)
  }
  return Array.from({ length: streams }, (_, index) => {
    return `streams/${byShape[index % shapes]?.[Math.floor(index / shapes)]}/data`
  })
}

/** Puts readings on topics, of which there may be thousands. */
export async function loadFleet(
  target: StreamvaultTarget,
  topics: readonly string[],
  flags: Readonly<Record<string, number>>,
): Promise<MqttLoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'streamvault-bench-'))
  const file = join(folder, 'topics')
  writeFileSync(file, topics.join('\n'))
  try {
    return await runGenerator<MqttLoadResult>('mqtt-load', [
      ...mqttFlags({ ...target, topics: [] }),
      ...flagsOf({ topics: file, connections: 20, 'in-flight': 20, ...flags }),
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The first reading of a stream costs look-ups: seconds until that is behind so many. */
export function warmupOf(streams: number): number {
  return 3 + streams / 2_500
}

/** The one in the middle, or the mean of the two there. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const lower = sorted[(sorted.length - 1) >> 1] ?? Number.NaN
  const upper = sorted[sorted.length >> 1] ?? Number.NaN
  return (lower + upper) / 2
}
