import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ContentCoding, inflate } from '../../src/requests/http/content-coding.ts'

const bytesMax = 1024 * 1024
const text = Buffer.from('{"temperature": 21.5}'.repeat(50))

function inflated(coding: ContentCoding, bytes: Uint8Array): Promise<Buffer> {
  return inflate({ coding, bytes: Buffer.from(bytes), bytesMax })
}

/** A zstd frame that does not say how long its content is, as programs write it that do not know. */
function zstdWithoutLength(content: Uint8Array): Buffer {
  return zstdCompressSync(content, { params: { [constants.ZSTD_c_contentSizeFlag]: 0 } })
}

/** As `gzip -N` writes it: with a name, a comment, an extra field and a checksum of the header. */
function gzipWithFullHeader(content: Uint8Array): Buffer {
  const member = gzipSync(content)
  const more = Buffer.from('\x03\x00abcname\0comment\0\x12\x34', 'latin1')
  return Buffer.concat([
    member.subarray(0, 3),
    Buffer.of(30),
    member.subarray(4, 10),
    more,
    member.subarray(10),
  ])
}

/** With another value in its last four bytes, which are its length. */
function gzipThatClaims(content: Uint8Array, length: number): Buffer {
  const member = gzipSync(content)
  member.writeUInt32LE(length, member.length - 4)
  return member
}

const compressors = [
  ['gzip', 'gzip', gzipSync],
  ['gzip with all that a header may have', 'gzip', gzipWithFullHeader],
  ['zstd', 'zstd', (content: Uint8Array) => zstdCompressSync(content)],
  ['zstd without its length', 'zstd', zstdWithoutLength],
] as const

describe.each(compressors)('%s', (_, coding, compress) => {
  test('gives back any content, up to the limit', async () => {
    const contents = fc.oneof(
      fc.uint8Array({ maxLength: 3_000 }),
      fc.nat(bytesMax).map((length) => Buffer.alloc(length, 'ab')),
      fc.constantFrom(Buffer.alloc(0), Buffer.alloc(bytesMax)),
    )
    const comesBack = fc.asyncProperty(contents, async (content) => {
      expect((await inflated(coding, compress(content))).equals(content)).toBe(true)
    })
    await fc.assert(comesBack, { numRuns: 50 })
  })

  test('is body_too_large when one byte more would come out of it', async () => {
    await expect(inflated(coding, compress(Buffer.alloc(bytesMax + 1)))).rejects.toMatchObject({
      code: 'body_too_large',
    })
  })

  test('is malformed when it is cut off, wherever it is', async () => {
    const whole = compress(text)
    for (let length = 0; length < whole.length; length++) {
      await expect(inflated(coding, whole.subarray(0, length))).rejects.toMatchObject({
        code: 'malformed_body',
      })
    }
  })

  test.each([
    ['itself', compress(text)],
    ['an empty one', compress(Buffer.alloc(0))],
    ['anything', Buffer.from('x')],
    ['zeros', Buffer.alloc(512)],
  ])('is malformed when %s follows it', async (_name, rest) => {
    await expect(inflated(coding, Buffer.concat([compress(text), rest]))).rejects.toMatchObject({
      code: 'malformed_body',
    })
  })

  test('is malformed when it follows an empty one', async () => {
    const both = Buffer.concat([compress(Buffer.alloc(0)), compress(text)])

    await expect(inflated(coding, both)).rejects.toMatchObject({ code: 'malformed_body' })
  })

  test('with one bit changed is the same, or refused', async () => {
    const whole = compress(text)
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const changed = Buffer.from(whole)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const outcome = await inflated(coding, changed).catch((error: { code: string }) => error.code)

      if (typeof outcome === 'string')
        expect(['malformed_body', 'body_too_large']).toContain(outcome)
      else expect(coding === 'zstd' || outcome.equals(text)).toBe(true)
    }
  })
})

describe('a length that is wrong', () => {
  test.each([0, 1, text.length - 1, text.length + 1, bytesMax, 4_000_000_000])(
    'of gzip (%i) is malformed',
    async (length) => {
      await expect(inflated('gzip', gzipThatClaims(text, length))).rejects.toMatchObject({
        code: 'malformed_body',
      })
    },
  )

  test('of a bomb that claims to be small is malformed', async () => {
    const bomb = gzipThatClaims(Buffer.alloc(64 * bytesMax), 100)

    await expect(inflated('gzip', bomb)).rejects.toMatchObject({
      code: 'malformed_body',
      message: expect.stringContaining('longer than it says') as string,
    })
  })
})

test.each([
  ['gzip', 'no compression at all'],
  ['gzip', zstdCompressSync(text)],
  ['zstd', gzipSync(text)],
  ['zstd', 'no compression at all'],
  ['gzip', Buffer.concat([Buffer.of(0x1f, 0x8b, 8, 0xe0), gzipSync(text).subarray(4)])],
] as const)('what is no %s is malformed', async (coding, bytes) => {
  await expect(inflated(coding, Buffer.from(bytes))).rejects.toMatchObject({
    code: 'malformed_body',
  })
})
