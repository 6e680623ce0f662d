import { afterAll, expect, test } from 'vitest'
import { redisStream } from '../../connectors/redis-stream/redis-stream.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { ReadStream } from '../support/read-stream.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { isRedisMissing, RedisServer } from '../support/redis-server.ts'

let server: RedisServer | undefined

afterAll(async () => await server?.[Symbol.asyncDispose]())

const small = 200
const large = 25

test.skipIf(isRedisMissing)(
  'large entries behind small ones are read in the end, in smaller pages',
  async () => {
    server ??= await RedisServer.start()
    await using stream = await ReadStream.create(server, { startFrom: 'earliest' })
    await stream.add(0, small)
    const text = 'x'.repeat(3 * 1024 * 1024)
    for (let count = 0; count < large; count++) await stream.client.xadd(stream.key, '*', 'a', text)
    const source = redisStream.open({ streamId: newId<StreamId>(), source: stream.source })
    let read = 0
    let position: RecordedRun['position']
    let failures = 0
    while (read < small + large) {
      await using run = new RecordedRun(source, server.port, position)
      const isDone = () => read + run.messages.length >= small + large
      const failure = run.ended.then((error) => String(error))
      const ending = await Promise.race([failure, expect.poll(isDone).toBe(true)])
      if (!isDone()) expect(ending).toMatch(/too much at once/)
      failures++
      read += run.messages.length
      position = run.position
    }
    expect(read).toBe(small + large)
    expect(failures).toBeGreaterThan(1)
    expect(failures).toBeLessThan(8)
  },
)
