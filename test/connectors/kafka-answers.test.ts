import { describe, expect, test } from 'vitest'
import { loadLibrary, readAnswer } from '../../connectors/kafka/library.ts'

/** A record without key, value and headers. */
const smallest = Buffer.from([12, 0, 0, 0, 1, 0, 0])

type Algorithm = 'gzip' | 'snappy' | 'lz4' | 'zstd'

/** What reads as many batches, each the same. */
async function batches(count: number, of: Buffer, how: Algorithm = 'gzip'): Promise<() => number> {
  const { [how]: algorithm } = (await loadLibrary()).compressionsAlgorithms
  const compressed = Buffer.from(algorithm.compressSync(of))
  return () => {
    for (let batch = 0; batch < count; batch++) algorithm.decompressSync(compressed)
    return count
  }
}

describe('one answer of a broker', () => {
  const megabyte = Buffer.concat([Buffer.from([0xfe, 0xff, 0x7f]), Buffer.alloc(1024 * 1024 - 1)])

  test('may have batches that are large, and is nothing to the next answer', async () => {
    const read = await batches(150, megabyte)
    expect(readAnswer(read)).toBe(150)
    expect(readAnswer(read)).toBe(150)
  })

  test.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)(
    'may not become more than memory has room for: %s',
    async (how) => {
      const read = await batches(300, megabyte, how)
      expect(() => readAnswer(read)).toThrow(/too large when it is decompressed/)
    },
  )

  test('may not have more messages than memory has room for', async () => {
    const small = Buffer.alloc(smallest.length * 100_000, smallest)
    expect(readAnswer(await batches(20, small))).toBe(20)
    const read = await batches(21, small)
    expect(() => readAnswer(read)).toThrow(/too many messages/)
  })
})
