import type { Client } from 'aedes'
import { expect, test } from 'vitest'
import { Exchanges } from '../../connectors/mqtt-broker/exchanges.ts'

/** Packets with QoS 2 of some clients, and which of them were answered. */
class Answers {
  readonly #exchanges = new Exchanges()
  readonly given: string[] = []

  async take(client: Client, messageId: number, acting: Promise<void>): Promise<void> {
    const answer = this.#exchanges.once(client, { qos: 2, messageId }, () => acting)
    await answer.then(
      () => this.given.push(`${messageId}`),
      () => this.given.push(`${messageId} failed`),
    )
  }
}

function newClient(): Client {
  return {} as Client
}

test('answers go out in the order of the packets, whichever is taken first', async () => {
  const answers = new Answers()
  const client = newClient()
  const first = Promise.withResolvers<void>()
  const all = [
    answers.take(client, 1, first.promise),
    answers.take(client, 2, Promise.resolve()),
    answers.take(client, 3, Promise.reject(new Error('the disk is full'))),
    answers.take(client, 4, Promise.resolve()),
  ]
  await answers.take(newClient(), 5, Promise.resolve())
  expect(answers.given).toEqual(['5'])
  first.resolve()
  await Promise.all(all)
  expect(answers.given).toEqual(['5', '1', '2', '3 failed', '4'])
})

test('a packet that fails holds up none of those behind it', async () => {
  const answers = new Answers()
  const client = newClient()
  const first = Promise.withResolvers<void>()
  const failing = answers.take(client, 1, first.promise)
  const second = answers.take(client, 2, Promise.resolve())
  first.reject(new Error('the disk is full'))
  await Promise.all([failing, second])
  expect(answers.given).toEqual(['1 failed', '2'])
})

test('a packet that is sent again shares the end of the first', async () => {
  const exchanges = new Exchanges()
  const client = newClient()
  let taken = 0
  const act = async () => {
    taken++
  }
  const packet = { qos: 2, messageId: 7 } as const
  await Promise.all([exchanges.once(client, packet, act), exchanges.once(client, packet, act)])
  expect(taken).toBe(1)
  await exchanges.once(client, packet, act)
  expect(taken).toBe(2)
})
