import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { redisStream } from '../../connectors/redis-stream/redis-stream.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { isRedisMissing, RedisServer } from '../support/redis-server.ts'

/** The examples of docs/redis-streams.md: a definition, what is told to Redis, and what it becomes. */

const page = readFileSync(new URL('../../docs/redis-streams.md', import.meta.url), 'utf8')
const pattern =
  /```json definition\n(.*?)\n```\s*```redis command\n(.*?)\n```\s*```json payload\n(.*?)\n```/gs
const examples = [...page.matchAll(pattern)].map(
  ([, definition = '', command = '', payload = '']) => ({
    definition: JSON.parse(definition) as Readonly<Record<string, unknown>>,
    command,
    payload: JSON.parse(payload) as unknown,
  }),
)

let server: RedisServer | undefined

afterAll(async () => await server?.[Symbol.asyncDispose]())

test.skipIf(isRedisMissing).each(examples)(
  'the example $definition.name is what it says',
  async ({ definition, command, payload }) => {
    const vaultId = '01234567-89ab-4def-8123-456789abcdef'
    const { source } = parseDefinition({ vaultId, ...definition })
    server ??= await RedisServer.start()
    const client = await server.client()
    const { endpoint } = server
    const here = { ...source, endpoint, credentials: undefined, startFrom: 'earliest' }
    const definitionHere = { streamId: newId<StreamId>(), source: here }
    await using run = new RecordedRun(redisStream.open(definitionHere), server.port)
    const [name = '', ...words] = command.split(' ')
    await client.call(name, ...words)
    await expect.poll(() => run.messages.length).toBe(1)
    expect(JSON.parse(Buffer.from(run.messages[0]?.payload ?? []).toString())).toEqual(payload)
  },
)

test('there are examples', () => {
  expect(examples).toHaveLength(2)
})
