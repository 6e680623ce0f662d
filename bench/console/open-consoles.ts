import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKey } from '../../test/support/people.ts'
import { medianOf } from '../fleet.ts'
import type { MqttLoadResult } from '../mqtt-load.ts'
import type { Figure } from '../report.ts'
import {
  flagsOf,
  mqttFlags,
  readingSchema,
  runGenerator,
  type StreamvaultTarget,
  startStreamvault,
} from '../servers.ts'
import type { OpenedConsoles } from './consoles.ts'

const consoles = 50

/** As many sessions as one key may have are more than this. */
const consolesOfKey = 10

const loadedStreams = 20
const rounds = 8
const seconds = 5
const ratioMin = 0.97

/**
 * Acknowledgements while people look: each console follows the inbox and a stream of a reading a second, and asks
 * for the overview as its page does. Rounds with them and without, in turns on one service.
 */
export async function openConsoles(): Promise<Figure> {
  const service = await startStreamvault(loadedStreams)
  try {
    const opened = await openedConsoles(service)
    const slowReadings = new SlowReadings(service, opened.streamIds)
    const rates: { readonly none: number; readonly open: number }[] = []
    await rateOf(service)
    for (let round = 0; round < rounds; round++) {
      // What comes first has the emptier service: each does in turn.
      const early = round % 2 === 0 ? await rateOf(service) : undefined
      const open = await rateBeside(service, opened)
      rates.push({ open, none: early ?? (await rateOf(service)) })
    }
    await slowReadings.end()
    const ratio = medianOf(rates.map(({ open, none }) => open / none))
    const shown = rates.map(({ open, none }) => (open / none).toFixed(2)).join(', ')
    return {
      name: `${consoles} consoles open: acknowledgements a second, against none`,
      measured: `${ratio.toFixed(3)} (${shown}; ${medianOf(rates.map(({ none }) => none)).toFixed(0)}/s)`,
      target: `${ratioMin}`,
      isMet: ratio >= ratioMin,
    }
  } finally {
    await service.stop()
  }
}

async function openedConsoles({ http, api }: StreamvaultTarget): Promise<OpenedConsoles> {
  const vaultId = await api.createVault()
  const made = await api.withToken<object>('POST', '/streams/bulk', {
    definition: { vaultId, type: 'iot_sensor', schema: readingSchema },
    streams: Array.from({ length: consoles }, (_, at) => ({ name: `followed ${at}` })),
  })
  if (made.status >= 300) throw new Error(JSON.stringify(made.body))
  const listed = await api.withToken<readonly { readonly streamId: string }[]>(
    'GET',
    `/streams?vaultId=${vaultId}&limit=${consoles}`,
  )
  const keys = []
  for (let key = 0; key < consoles / consolesOfKey; key++) {
    const { apiKey, apiSecret } = await createKey(api)
    keys.push({ apiKey, apiSecret })
  }
  return { http, keys, streamIds: listed.body.map(({ streamId }) => streamId) }
}

async function rateOf(service: StreamvaultTarget): Promise<number> {
  const { perSecond } = await runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(service),
    ...flagsOf({ connections: 20, 'in-flight': 20, seconds, warmup: 1 }),
  ])
  return perSecond
}

/** In a process of their own, as browsers are; it ends when nobody listens to it any more. */
async function rateBeside(service: StreamvaultTarget, opened: OpenedConsoles): Promise<number> {
  const people = fork('bench/console/consoles.ts')
  people.send(opened)
  await once(people, 'message')
  const rate = await rateOf(service)
  people.disconnect()
  await once(people, 'exit')
  return rate
}

/** A reading a second for each stream that somebody follows, also while nobody does. */
class SlowReadings {
  readonly #abort = new AbortController()
  readonly #done: Promise<void>

  constructor(service: StreamvaultTarget, streamIds: readonly string[]) {
    this.#done = this.#send(service, streamIds)
  }

  async #send({ api }: StreamvaultTarget, streamIds: readonly string[]): Promise<void> {
    for (let turn = 0; !this.#abort.signal.aborted; turn++) {
      await sleep(1000 / streamIds.length)
      const reading = { timestamp: new Date().toISOString(), temperature: turn % 40 }
      await api.withToken('POST', `/streams/${streamIds[turn % streamIds.length]}/data`, reading)
    }
  }

  async end(): Promise<void> {
    this.#abort.abort()
    await this.#done
  }
}
