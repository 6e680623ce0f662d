import { afterAll, describe, expect, test } from 'vitest'
import { ReadStream } from '../support/read-stream.ts'
import { isRedisMissing, RedisServer } from '../support/redis-server.ts'

let server: RedisServer | undefined

afterAll(async () => await server?.[Symbol.asyncDispose]())

/** Longer than a consumer is waited for. */
const longMs = 11 * 60_000

async function newStream(more: Readonly<Record<string, unknown>> = {}): Promise<ReadStream> {
  server ??= await RedisServer.start()
  return await ReadStream.create(server, { group: 'vault', ...more })
}

describe.skipIf(isRedisMissing)('a member of a group of Redis', () => {
  test('begins with what is there unless it is told not to, where it makes the group', async () => {
    await using all = await newStream()
    await all.add(0, 3)
    const reader = all.reader()
    reader.start()
    await expect.poll(() => reader.entries().numbers).toEqual([0, 1, 2])
    await expect.poll(() => all.pending()).toBe(0)

    await using latest = await newStream({ startFrom: 'latest' })
    await latest.add(0, 3)
    const other = latest.reader()
    other.start()
    await expect.poll(() => other.runner.status.state).toBe('running')
    await latest.add(3, 1)
    await expect.poll(() => other.entries().numbers).toEqual([3])
  })

  test('goes on where a group that is there is, whoever has read before', async () => {
    await using stream = await newStream()
    await stream.add(0, 4)
    await stream.leaveWith('alive', 2, 0)
    const reader = stream.reader()
    reader.start()
    await expect.poll(() => reader.entries().numbers).toEqual([2, 3])
    // A reader that is alive has time for them.
    await expect.poll(() => stream.pending()).toBe(2)
  })

  test.each([true, false])(
    'takes over what a dead one has, once, though it is killed, written: %s',
    async (isWritten) => {
      await using stream = await newStream()
      await stream.add(0, 3)
      await stream.leaveWith('dead', 3, 0)
      await stream.add(3, 2)
      const reader = stream.reader()
      reader.start()
      await expect.poll(() => reader.entries().numbers).toEqual([3, 4])
      await expect.poll(() => reader.runner.status.unacknowledged).toBe(0)
      await reader.runner.stop()
      await stream.client.xgroup('SETID', stream.key, 'vault', '$')
      const held = (await stream.client.xpending(stream.key, 'vault', '-', '+', 10)) as [string][]
      const ids = held.map(([id]) => id)
      await stream.client.xclaim(stream.key, 'vault', 'dead', 0, ...ids, 'IDLE', longMs)

      const dying = reader.journal.crashIn({ after: 0, isWritten })
      reader.start()
      await dying
      await reader.kill()
      expect(await stream.pending()).toBe(3)
      reader.start()
      await expect.poll(() => stream.pending()).toBe(0)
      await stream.add(5, 1)
      await expect.poll(() => reader.entries().numbers).toEqual([3, 4, 0, 1, 2, 5])
    },
  )

  test('does not take again what it has, where somebody sets the group back', async () => {
    await using stream = await newStream()
    const reader = stream.reader()
    reader.start()
    await expect.poll(() => reader.runner.status.state).toBe('running')
    await stream.add(0, 5)
    await expect.poll(() => reader.entries().numbers).toEqual([0, 1, 2, 3, 4])
    await stream.client.xgroup('SETID', stream.key, 'vault', '0')
    await stream.add(5, 1)
    await expect.poll(() => reader.entries().numbers).toEqual([0, 1, 2, 3, 4, 5])
    await expect.poll(() => stream.pending()).toBe(0)
  })

  test('says of what was deleted that it is missing', async () => {
    await using stream = await newStream()
    const reader = stream.reader()
    reader.start()
    await expect.poll(() => reader.runner.status.state).toBe('running')
    reader.journal.hold()
    const [first] = await stream.add(0, 2)
    await expect.poll(() => stream.pending()).toBeGreaterThan(0)
    await reader.kill()
    await stream.client.xdel(stream.key, String(first))
    reader.start()
    await expect.poll(() => reader.entries().numbers).toEqual([1])
    expect(reader.entries().refused).toEqual([''])
    expect(reader.entries().sources[0]).toContain(`entry ${first} of stream ${stream.key}`)
    await expect.poll(() => stream.pending()).toBe(0)
  })

  test('goes on with a group that was dropped, at what it has', async () => {
    await using stream = await newStream()
    const reader = stream.reader()
    reader.start()
    await expect.poll(() => reader.runner.status.state).toBe('running')
    await stream.add(0, 2)
    await expect.poll(() => reader.entries().numbers).toEqual([0, 1])
    await stream.client.xgroup('DESTROY', stream.key, 'vault')
    await stream.add(2, 2)
    await expect.poll(() => reader.entries().numbers).toEqual([0, 1, 2, 3])
  })

  test('waits for entries of a stream that was deleted, and has had none since', async () => {
    await using stream = await newStream()
    const reader = stream.reader()
    reader.start()
    await expect.poll(() => reader.runner.status.state).toBe('running')
    await stream.add(0, 1)
    await expect.poll(() => reader.entries().numbers).toEqual([0])
    await stream.client.del(stream.key)
    await expect.poll(async () => await stream.client.exists(stream.key)).toBe(1)
    await reader.runner.stop()
    reader.start()
    await expect.poll(() => reader.runner.status.state).toBe('running')
    await stream.add(1, 1)
    await expect.poll(() => reader.entries().numbers).toEqual([0, 1])
  })
})
