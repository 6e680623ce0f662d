import { gzipSync, zstdCompressSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inflated, inflatedBytesMax, isCompressed } from '../../processors/content-coding.ts'

const compress = { gzip: gzipSync, zstd: zstdCompressSync } as const

describe.each(['gzip', 'zstd'] as const)('a message in %s', (coding) => {
  const other = coding === 'gzip' ? 'zstd' : 'gzip'

  function problemOf(bytes: Uint8Array): string {
    const found = inflated(bytes, coding)
    return found.ok ? '' : found.problem
  }

  test('is what was compressed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        const compressed = compress[coding](bytes)
        expect(isCompressed(compressed)).toBe(true)
        expect(inflated(compressed, coding)).toEqual({ ok: true, content: Buffer.from(bytes) })
      }),
    )
  })

  test('is refused wherever it is cut off', () => {
    const bytes = compress[coding]('{"level": 1}'.repeat(20))
    for (let length = 0; length < bytes.length; length++) {
      expect(problemOf(bytes.subarray(0, length))).toMatch(`it is not valid ${coding}: `)
    }
  })

  test('is refused with something behind it, and in another coding', () => {
    const bytes = compress[coding]('{"level": 1}')
    expect(problemOf(Buffer.concat([bytes, Buffer.from('x')]))).toMatch(`not valid ${coding}`)
    expect(problemOf(Buffer.concat([bytes, bytes]))).toMatch(`not valid ${coding}`)
    expect(problemOf(compress[other]('{"level": 1}'))).toMatch(
      `it is not valid ${coding}: it has no`,
    )
    expect(problemOf(Buffer.from('{"level": 1}'))).toMatch(`it is not valid ${coding}: it has no`)
  })

  test('becomes as long as a body over HTTP may be, and no longer', () => {
    expect(inflated(compress[coding](Buffer.alloc(inflatedBytesMax)), coding).ok).toBe(true)
    expect(problemOf(compress[coding](Buffer.alloc(inflatedBytesMax + 1)))).toBe(
      'decompressed it has more than 4194304 bytes',
    )
    expect(problemOf(compress[coding](Buffer.alloc(64 * inflatedBytesMax)))).toBe(
      'decompressed it has more than 4194304 bytes',
    )
  })
})

test('a gzip whose length or checksum is wrong is refused', () => {
  for (const back of [1, 5]) {
    const bytes = gzipSync('{"level": 1}')
    bytes[bytes.length - back] = 7 + (bytes[bytes.length - back] ?? 0)
    expect(inflated(bytes, 'gzip')).toMatchObject({
      problem: 'it is not valid gzip: its length or checksum is wrong',
    })
  }
})
