import { describe, expect, test } from 'vitest'
import { mediaTypeOf } from '../../src/files/content/media-type.ts'

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')

describe('the type of a file', () => {
  test.each([
    ['image/png', png, 'readings.csv'],
    ['application/pdf', Buffer.from('%PDF-1.7\n\x00'), 'report'],
    ['application/zip', Buffer.from('504b0506000000000000000000000000', 'hex'), 'a.txt'],
  ])('is %s by its bytes', async (type, bytes, name) => {
    expect(await mediaTypeOf(bytes, name)).toBe(type)
  })

  test.each([
    ['text/csv', 'Readings.CSV', 'time,value\n1,2\n'],
    ['text/csv', 'cars.csv', 'BMW,price\n'],
    ['application/json', 'a.json', '{}'],
    ['text/plain', 'folder/notes.txt', '%PDF is a format'],
    ['text/markdown', 'README.md', '# é'],
    ['application/xml', 'logo.svg', '<svg/>'],
    ['text/html', 'index.html', '<img src=x>'],
    ['application/octet-stream', 'unknown', 'some text'],
    ['application/octet-stream', 'a.exe.unknown', 'some text'],
  ])('is %s by its name %s', async (type, name, text) => {
    expect(await mediaTypeOf(Buffer.from(text), name)).toBe(type)
  })

  test('is that of a text though its last character is cut', async () => {
    const text = Buffer.from('BMé').subarray(0, -1)

    expect(await mediaTypeOf(text, 'a.txt')).toBe('text/plain')
  })

  test.each(['<svg xmlns="http://www.w3.org/2000/svg"/>', '<html>', '<?xml version="1.0"?><svg/>'])(
    'is no image for %s, whatever its name',
    async (text) => {
      for (const name of ['a.svg', 'a.png', 'a', 'a.html', 'a.xml']) {
        expect(await mediaTypeOf(Buffer.from(text), name)).not.toMatch(/^image/)
      }
    },
  )
})
