import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { amqp } from '../../connectors/amqp/amqp.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { isRabbitmqMissing, Rabbitmq } from '../support/rabbitmq.ts'
import { RecordedRun } from '../support/recorded-run.ts'

/** The definitions of docs/amqp.md, at a server that has what they name. */

const page = readFileSync(new URL('../../docs/amqp.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/```json definition\n(.*?)\n```/gs)].map(
  ([, definition = '']) => JSON.parse(definition) as { readonly name: string },
)

let server: Rabbitmq | undefined

afterAll(async () => await server?.[Symbol.asyncDispose]())

test.skipIf(isRabbitmqMissing).each(examples)('the example $name is read', async (definition) => {
  const vaultId = '01234567-89ab-4def-8123-456789abcdef'
  const { source } = parseDefinition({ vaultId, ...definition })
  server ??= await Rabbitmq.start()
  const { endpoint, credentials, port } = server
  await (await server.channel()).assertQueue('boiler')
  const here = { ...source, endpoint, credentials }
  const definitionHere = { streamId: newId<StreamId>(), source: here }
  await using run = new RecordedRun(amqp.open(definitionHere), port)
  const { exchange } = source
  const to =
    typeof exchange === 'string' ? { exchange, routingKey: 'boiler.7' } : { routingKey: 'boiler' }
  const payload = Buffer.from('{"at":"2026-03-01T12:00:00Z","temperature":81.5}')
  const publish = async () => {
    // Before the queue is bound, nobody keeps it.
    await server?.publish(to, [payload])
    return run.messages.length
  }
  await expect.poll(publish).toBeGreaterThan(0)
  expect(Buffer.from(run.messages[0]?.payload ?? [])).toEqual(payload)
})

test('there are examples', () => {
  expect(examples).toHaveLength(2)
})
