import { setImmediate } from 'node:timers/promises'
import type { ConsumeMessage } from 'amqplib'
import { describe, expect, test } from 'vitest'
import { StreamReader } from '../../connectors/amqp/stream-reader.ts'

function delivered(offset: number, text = `message ${offset}`): ConsumeMessage {
  const properties = { headers: { 'x-stream-offset': offset } }
  return { content: Buffer.from(text), properties } as unknown as ConsumeMessage
}

/** Somebody who has read up to message 5. */
function readerFrom5(): StreamReader {
  const before = new StreamReader(undefined)
  for (let offset = 0; offset <= 5; offset++) before.passesOver(delivered(offset))
  return new StreamReader(before.position)
}

async function isFound(reader: StreamReader): Promise<boolean> {
  return await Promise.race([reader.found.then(() => true), setImmediate(false)])
}

describe('a stream that was read up to a message', () => {
  test('goes on behind that, with what its chunk has before it passed over', async () => {
    const reader = readerFrom5()
    expect([4, 5, 6].map((offset) => reader.passesOver(delivered(offset)))).toEqual([
      true,
      true,
      false,
    ])
    await reader.found
  })

  test('is not taken for found by what comes before that, and is refused when that is another', async () => {
    const reader = readerFrom5()
    for (let offset = 0; offset < 5; offset++) {
      reader.passesOver(delivered(offset, `another ${offset}`))
    }
    expect(await isFound(reader)).toBe(false)
    expect(() => reader.passesOver(delivered(5, 'another 5'))).toThrow(/made again/)
  })

  test('goes on with the oldest that is left', async () => {
    const reader = readerFrom5()
    expect(reader.passesOver(delivered(9))).toBe(false)
    await reader.found
  })
})
