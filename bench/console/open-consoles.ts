import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { newPerson, vaultOf } from '../../test/support/people.ts'
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
import type { OpenedConsole, ToOpen } from './consoles.ts'

const consoles = 50

/** Each follows two streams of events; one user may follow 50. */
const consolesOfPerson = 10

const loadedStreams = 20
const rounds = 12
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
    const slowReadings = new SlowReadings(opened.sends)
    const rates: { readonly none: number; readonly open: number }[] = []
    await rateOf(service)
    for (let round = 0; round < rounds; round++) {
      // What comes first has the emptier service: each does in turn.
      const early = round % 2 === 0 ? await rateOf(service) : undefined
      const open = await rateBeside(service, opened.consoles)
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

/** What the consoles need, and how to send to each stream that they follow. */
interface Opened {
  readonly consoles: readonly OpenedConsole[]
  readonly sends: readonly (() => Promise<unknown>)[]
}

async function openedConsoles({ api }: StreamvaultTarget): Promise<Opened> {
  const opened: OpenedConsole[] = []
  const sends: Opened['sends'][number][] = []
  for (let person = 0; person < consoles / consolesOfPerson; person++) {
    const { token, key, ...someone } = await newPerson(api)
    const vaultId = await vaultOf(someone)
    const headers = { authorization: `Bearer ${await token()}` }
    for (let number = 0; number < consolesOfPerson; number++) {
      const body = {
        name: `followed ${number}`,
        vaultId,
        type: 'iot_sensor',
        schema: readingSchema,
      }
      const made = await api.request<{ streamId: string }>('POST', '/streams', { headers, body })
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      const { streamId } = made.body
      opened.push({ apiKey: key.apiKey, apiSecret: key.apiSecret, streamId })
      sends.push(() => {
        const reading = { timestamp: new Date().toISOString(), temperature: 20 }
        return api.request('POST', `/streams/${streamId}/data`, { headers, body: reading })
      })
    }
  }
  return { consoles: opened, sends }
}

async function rateOf(service: StreamvaultTarget): Promise<number> {
  const { perSecond } = await runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(service),
    ...flagsOf({ connections: 20, 'in-flight': 20, seconds, warmup: 1 }),
  ])
  return perSecond
}

/** In a process of their own, as browsers are; it ends when nobody listens to it any more. */
async function rateBeside(
  service: StreamvaultTarget,
  opened: readonly OpenedConsole[],
): Promise<number> {
  const people = fork('bench/console/consoles.ts')
  people.send({ http: service.http, consoles: opened } satisfies ToOpen)
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

  constructor(sends: Opened['sends']) {
    this.#done = this.#send(sends)
  }

  async #send(sends: Opened['sends']): Promise<void> {
    for (let turn = 0; !this.#abort.signal.aborted; turn++) {
      await sleep(1000 / sends.length)
      await sends[turn % sends.length]?.()
    }
  }

  async end(): Promise<void> {
    this.#abort.abort()
    await this.#done
  }
}
