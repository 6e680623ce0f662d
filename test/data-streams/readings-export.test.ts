import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { newId, type UserId } from '../../src/core/ids.ts'
import type { ReadingsCursor } from '../../src/storage/time-series/readings-query.ts'
import { type Chunk, ReadingsExports } from '../../src/streams/data-streams/readings-export.ts'

/** Chunks of one reading each, without an end. */
async function endless(): Promise<Chunk<ReadingsCursor>> {
  return { bytes: new Uint8Array([120]), rows: 1, next: { timestampUs: 0, digest: 0n } }
}

function open(exports: ReadingsExports, userId: UserId, read = endless): Promise<Readable> {
  return exports.open({ userId, head: '', limit: Number.MAX_SAFE_INTEGER, read })
}

async function closed(stream: Readable): Promise<void> {
  stream.destroy()
  await once(stream, 'close')
}

describe('an export', () => {
  test('that fails on the way is destroyed, and does not look complete', async () => {
    const exports = new ReadingsExports()
    let reads = 0
    const stream = await open(exports, newId<UserId>(), async () => {
      if (++reads === 3) throw new Error('the disk is gone')
      return await endless()
    })
    const received: unknown[] = []

    const reading = async () => {
      for await (const chunk of stream) received.push(chunk)
    }
    await expect(reading()).rejects.toThrow('the disk is gone')

    expect(received).toHaveLength(2)
    expect(stream.readableEnded).toBe(false)
    expect(exports.running).toBe(0)
  })

  test('that fails at once has no place any more', async () => {
    const exports = new ReadingsExports()
    const failing = open(exports, newId<UserId>(), () => Promise.reject(new Error('no store')))

    await expect(failing).rejects.toThrow('no store')
    expect(exports.running).toBe(0)
  })

  test('leaves its place when nobody has begun to read it', async () => {
    const exports = new ReadingsExports()
    const stream = await open(exports, newId<UserId>())
    expect(exports.running).toBe(1)

    await closed(stream)
    expect(exports.running).toBe(0)
  })

  test('ends at its limit, with the head first', async () => {
    const stream = await new ReadingsExports().open({
      userId: newId<UserId>(),
      head: 'head ',
      limit: 3,
      read: endless,
    })
    expect(Buffer.concat(await stream.toArray()).toString()).toBe('head xxx')
  })
})

describe('places', () => {
  test('are four for one user, and those of others are not touched', async () => {
    const exports = new ReadingsExports()
    const [ada, bob] = [newId<UserId>(), newId<UserId>()]
    const streams = await Promise.all([1, 2, 3, 4].map(() => open(exports, ada)))

    await expect(open(exports, ada)).rejects.toMatchObject({ code: 'rate_limited' })
    streams.push(await open(exports, bob))
    expect(exports).toMatchObject({ running: 5, refused: 1 })

    await Promise.all(streams.splice(0, 1).map(closed))
    streams.push(await open(exports, ada))
    await Promise.all(streams.map(closed))
    expect(exports.running).toBe(0)
  })

  test('are 32 in all', async () => {
    const exports = new ReadingsExports()
    const users = Array.from({ length: 8 }, () => newId<UserId>())
    const streams = await Promise.all(
      users.flatMap((user) => [1, 2, 3, 4].map(() => open(exports, user))),
    )

    await expect(open(exports, newId<UserId>())).rejects.toMatchObject({ code: 'overloaded' })
    await Promise.all(streams.map(closed))
  })
})

test('no more than two chunks are read at a time, in the order of asking', async () => {
  const exports = new ReadingsExports()
  const begun: number[] = []
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  const opening = gates.map((gate, index) =>
    open(exports, newId<UserId>(), async () => {
      begun.push(index)
      await gate.promise
      return { ...(await endless()), next: undefined }
    }),
  )

  await Promise.resolve()
  expect(begun).toEqual([0, 1])
  gates[1]?.resolve()
  await opening[1]
  expect(begun).toEqual([0, 1, 2])

  for (const gate of gates) gate.resolve()
  for (const stream of await Promise.all(opening)) await closed(stream)
  expect(begun).toEqual([0, 1, 2, 3])
})
