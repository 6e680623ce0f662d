import { describe, expect, test } from 'vitest'
import { imageTypeOf } from '../../src/files/content/image-type.ts'

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')

/** A box of an ISO base media file: its length, `ftyp`, and the brands. */
function brands(brand: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, 0, 0, 24]),
    Buffer.from(`ftyp${brand}\0\0\0\0${brand}mif1`),
  ])
}

describe('an image', () => {
  test.each([
    ['image/png', png],
    ['image/jpeg', Buffer.from('ffd8ffe000104a46494600010100', 'hex')],
    ['image/webp', Buffer.from('RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0')],
    ['image/gif', Buffer.from('GIF89a\x01\0\x01\0')],
    ['image/avif', brands('avif')],
    ['image/avif', brands('avis')],
  ])('is %s by its bytes', async (mediaType, bytes) => {
    expect(await imageTypeOf(bytes)).toMatchObject({ mediaType })
  })

  test.each([
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['SVG as XML', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['a page', '<!doctype html><html><script>alert(1)</script></html>'],
    ['a page behind the name of an image', 'GIF<html>'],
    ['TIFF', 'II*\0\x10\0\0\0'],
    ['BMP', 'BM\x10\0\0\0'],
    ['HEIC', brands('heic')],
    ['PDF', '%PDF-1.7\n'],
    ['nothing', ''],
  ])('is not %s', async (_, bytes) => {
    await expect(imageTypeOf(Buffer.from(bytes))).rejects.toMatchObject({
      code: 'file_rejected',
      message: expect.stringMatching(/PNG, JPEG, WebP, GIF or AVIF/),
    })
  })
})
