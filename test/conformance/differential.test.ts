import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Mosquitto } from '../support/mosquitto.ts'
import { connectPacket, RawMqtt, unsubscribePacket } from '../support/raw-mqtt.ts'
import type { Delivered } from '../support/raw-mqtt-reader.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { clean, history, type Step, type Wanted } from './histories.ts'
import {
  drain,
  leave,
  newPacketId,
  publish,
  retainedFor,
  type TestedBroker,
  testedBroker,
} from './tested-broker.ts'

/**
 * One history on this broker and on mosquitto: every client is sent the same, step by step.
 *
 * Where several filters of a client match, the standard leaves it to the broker whether each of them
 * brings a copy (section 3.3.5), and mosquitto does not always give it the highest QoS: of these
 * messages only the fact is compared.
 */
const broker = testedBroker()
let mosquitto: Mosquitto | undefined
let roots = 0

beforeAll(async () => {
  mosquitto = await Mosquitto.start(['max_inflight_messages 0'])
})

afterAll(async () => {
  await mosquitto?.[Symbol.asyncDispose]()
})

type Opener = Pick<TestedBroker, 'newRoot'> & {
  /** Opens a connection of one of the clients. */
  readonly enter: (clientId: string, isClean: boolean) => Promise<RawMqtt>
}

function ours(): Opener {
  return {
    newRoot: broker.newRoot,
    enter: (clientId, isClean) => broker.connect({ clientId, clean: isClean }),
  }
}

function theirs(): Opener {
  return {
    newRoot: () => `root/${process.pid}/${++roots}`,
    async enter(clientId, isClean) {
      const client = await RawMqtt.open(mosquitto?.port ?? 0)
      client.send(connectPacket({ clientId, clean: isClean }))
      await client.next()
      return client
    },
  }
}

/** Plays a history, and tells what each client was sent by each step. */
async function play(steps: readonly Step[], name: string, opener: Opener): Promise<string[][]> {
  const root = opener.newRoot()
  const idOf = (client: number) => `${name}-${client}`
  const clients = await Promise.all(
    clean.map((isClean, index) => opener.enter(idOf(index), isClean)),
  )
  const wanted = clean.map(() => new Map<string, number>())
  const isHere = clean.map(() => true)
  const publisher = await opener.enter(`${name}-publisher`, true)
  const told: string[][] = []
  for (const step of steps) {
    const { client: index } = step
    const client = clients[index] as RawMqtt
    const filters = wanted[index] as Map<string, number>
    let early: Delivered[] = []
    if (step.does === 'leave') {
      isHere[index] = false
      if (clean[index]) filters.clear()
      await leave(client)
    } else if (step.does === 'return') {
      isHere[index] = true
      clients[index] = await opener.enter(idOf(index), clean[index] ?? true)
    } else if (step.does === 'subscribe') {
      for (const [filter, qos] of step.filters) filters.set(filter, qos)
      const below = step.filters.map(([filter, qos]): Wanted => [`${root}/${filter}`, qos])
      early = await retainedFor(opener, client, publisher, below)
    } else if (step.does === 'unsubscribe') {
      filters.delete(step.filter)
      client.send(unsubscribePacket(newPacketId(), `${root}/${step.filter}`))
      early = (await client.before('unsuback')) as Delivered[]
    } else if (step.does === 'publish') {
      await publish(publisher, { ...step, topic: `${root}/${step.topic}` })
    }
    for (const [at, one] of clients.entries()) {
      if (!isHere[at]) continue
      const before = at === index ? early : []
      const delivered = [...before, ...(await drain(opener, one, publisher))]
      told.push(
        delivered.map((message) => textOf(message, root, wanted[at] as Map<string, number>)),
      )
    }
  }
  return told.map((messages) => [...new Set(messages)].sort())
}

/** A message, with its QoS where only one filter matches. */
function textOf(message: Delivered, root: string, wanted: ReadonlyMap<string, number>): string {
  const topic = message.topic.slice(root.length + 1)
  const matching = [...wanted.keys()].filter((filter) => matches(filter, topic))
  const qos = matching.length === 1 ? ` qos ${message.qos}` : ''
  return `${topic}: '${message.payload}'${message.retain ? ' retained' : ''}${qos}`
}

/** Section 4.7, for filters without a $. */
function matches(filter: string, topic: string): boolean {
  const [wanted, levels] = [filter.split('/'), topic.split('/')]
  const depth = wanted.indexOf('#')
  const compared = depth === -1 ? wanted : wanted.slice(0, depth)
  if (depth === -1 ? wanted.length !== levels.length : levels.length < depth) return false
  return compared.every((level, index) => level === '+' || level === levels[index])
}

describe('any history is told like mosquitto tells it', () => {
  test.each([1, 2, 3, 4, 5, 6])('seed %i', async (seed) => {
    const steps = history(new SeededRandom(seed), 60)

    const [here, there] = await Promise.all([
      play(steps, `seed-${seed}`, ours()),
      play(steps, `seed-${seed}`, theirs()),
    ])

    expect(here).toEqual(there)
    expect(here.flat().length).toBeGreaterThan(20)
  })
})
