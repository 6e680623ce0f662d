import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { attachmentAsItIs, attachmentOf, upload } from '../support/uploads.ts'
import { zipArchive } from '../support/zip-archive.ts'

const bytesMax = 1024 * 1024

const service = runningService({
  STREAMVAULT_UPLOAD_MAX: String(bytesMax),
  STREAMVAULT_FILES_MAX: String(3 * bytesMax),
})

/** What has arrived and is not looked at. */
function staged(): readonly string[] {
  return readdirSync(join(service.process.dataDir, 'files', 'staged'))
}

function contents(): readonly string[] {
  const folder = join(service.process.dataDir, 'files', 'content')
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).toSorted()
}

const refused = { error: 'upload_refused', statusCode: 403 }

describe('the address of an upload', () => {
  test('takes a file once', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    const first = await upload(service.api, url, 'first')

    const second = await upload(service.api, url, 'second')

    expect(first.status).toBe(200)
    expect([second.status, second.body]).toMatchObject([403, refused])
    expect((await attachmentAsItIs(service.api, id)).size).toBe(5)
  })

  test.each([
    ['another resource', (url: string) => url.replace(/attachment\.[^.]+/, otherAttachment)],
    ['another turn', (url: string) => url.replace('.1?', '.2?')],
    ['another purpose', (url: string) => url.replace('/attachment.', '/vault-image.')],
    ['a later end', (url: string) => url.replace(/expires=(\d+)/, 'expires=9$1')],
    ['a larger limit', (url: string) => url.replace(/limit=(\d+)/, 'limit=9$1')],
    ['no limit', (url: string) => url.replace(/&limit=\d+/, '')],
    ['another signature', (url: string) => url.replace(/signature=./, 'signature=g')],
    ['no signature', (url: string) => url.replace(/&signature=.*/, '')],
    ['two signatures', (url: string) => `${url}&signature=0`],
    ['a name that no upload has', (url: string) => url.replace(/uploads\/[^?]+/, 'uploads/x')],
  ])('is refused with %s', async (_, change) => {
    const { id, presigned_url: url } = await attachmentOf(service.api)

    const { status, body } = await upload(service.api, change(url), 'hello')

    expect([status, body]).toMatchObject([403, refused])
    expect((await attachmentAsItIs(service.api, id)).status).toBe('UPLOAD_PENDING')
  })

  const otherAttachment = 'attachment.00000000-0000-4000-8000-000000000000'

  test.each(['GET', 'POST', 'PATCH', 'DELETE'])('takes no %s', async (method) => {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    const body = method === 'GET' || method === 'DELETE' ? null : 'hello'

    const answer = await upload(service.api, url, '', { method, body })

    expect([answer.status, answer.body]).toMatchObject([403, refused])
    expect((await attachmentAsItIs(service.api, id)).status).toBe('UPLOAD_PENDING')
  })

  test('is refused with an answer, however much is on its way', async () => {
    const { presigned_url: url } = await attachmentOf(service.api)
    const changed = url.replace('.1?', '.2?')
    const bytes = Buffer.alloc(8 * bytesMax)

    const answers = await Promise.all(
      Array.from({ length: 30 }, () => upload(service.api, changed, bytes)),
    )

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]))
  })

  test('is over with its attachment', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    await service.api.withKey('DELETE', `/attachments/${id}`)

    expect((await upload(service.api, url, 'hello')).status).toBe(403)
  })

  test('needs no content type, and takes any', async () => {
    const types = ['', 'text/plain; charset=latin1', 'application/json', 'a/b', 'nonsense']
    for (const type of types) {
      const { id, presigned_url: url } = await attachmentOf(service.api)
      const body = new Blob(['{not json'])
      const headers = type === '' ? {} : { 'content-type': type }

      const { status } = await upload(service.api, url, '', { body, headers })

      expect([type, status]).toEqual([type, 200])
      expect((await attachmentAsItIs(service.api, id)).size).toBe(9)
    }
  })
})

describe('a file that is too large', () => {
  const tooLarge = { error: 'body_too_large', statusCode: 413 }

  test('is refused by its length, and leaves nothing', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)

    const { status, body, headers } = await upload(service.api, url, Buffer.alloc(bytesMax + 1))

    expect([status, body]).toMatchObject([413, tooLarge])
    expect(headers.get('connection')).toBe('close')
    expect(staged()).toEqual([])
    expect((await attachmentAsItIs(service.api, id)).status).toBe('UPLOAD_PENDING')
  })

  test('is refused as soon as it is, where its length is not said', async () => {
    const { presigned_url: url } = await attachmentOf(service.api)
    const socket = await chunkedPut(url)
    for (let sent = 0; sent <= bytesMax; sent += 65_536) sendChunk(socket, 65_536)

    const [answer] = (await once(socket, 'data')) as [Buffer]

    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer.toString().toLowerCase()).toContain('connection: close')
    socket.destroy()
    await expect.poll(staged).toEqual([])
  })

  test('of just the size that is allowed is taken', async () => {
    const { presigned_url: url } = await attachmentOf(service.api)

    expect((await upload(service.api, url, Buffer.alloc(bytesMax))).status).toBe(200)
  })
})

describe('an upload that breaks off', () => {
  test('leaves nothing, and can be made again at the same address', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    const socket = await chunkedPut(url)
    sendChunk(socket, 65_536)
    await expect.poll(() => staged().length).toBe(1)
    socket.resetAndDestroy()
    await expect.poll(staged).toEqual([])

    const { status } = await upload(service.api, url, 'hello')

    expect(status).toBe(200)
    expect((await attachmentAsItIs(service.api, id)).size).toBe(5)
  })

  test('need not be noticed before it is made again', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    const silent = await chunkedPut(url)
    sendChunk(silent, 65_536)
    await expect.poll(() => staged().length).toBe(1)

    const { status } = await upload(service.api, url, 'hello')

    expect(status).toBe(200)
    expect((await attachmentAsItIs(service.api, id)).size).toBe(5)
    silent.destroy()
  })
})

describe('an archive that is not taken', () => {
  const many = Array.from({ length: 600 }, (_, at) => fileOf(`a${at}`, 100))
  const broken = { name: 'z', content: 'z', crc: 1 }

  test.each([
    ['is broken at its end', 422, [...many, broken]],
    [
      'has more bytes than its user may have',
      507,
      ['a', 'b', 'c', 'd'].map((name) => fileOf(name, 900_000)),
    ],
  ])('because it %s leaves no contents', async (_, expected, entries) => {
    const before = contents()
    const { presigned_url: url } = await attachmentOf(service.api, { upload_as_zip: true })

    const { status } = await upload(service.api, url, Buffer.from(zipArchive(entries)))

    expect(status).toBe(expected)
    await expect.poll(contents).toEqual(before)
  })
})

describe('the files of a user', () => {
  test('have so many bytes together, and no more', async () => {
    const owner = await newPerson(service.api)
    const answers: unknown[] = []
    for (let file = 0; file < 4; file++) {
      const { presigned_url: url } = await attachmentOf(owner)
      const { status, body } = await upload(service.api, url, Buffer.alloc(bytesMax, file))
      answers.push(body['error'] ?? status)
    }

    expect(answers).toEqual([200, 200, 200, 'files_full'])
  })

  test('give their room back when they are deleted', async () => {
    const owner = await newPerson(service.api)
    for (let file = 0; file < 5; file++) {
      const { id, presigned_url: url } = await attachmentOf(owner)
      const { status } = await upload(service.api, url, Buffer.alloc(bytesMax, file))
      expect(status).toBe(200)
      await owner.withKey('DELETE', `/attachments/${id}`)
    }
  })
})

/** What begins as a GIF, which is all that is looked at. */
function imageOf(bytes: number, fill: number): Buffer<ArrayBuffer> {
  return Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(bytes - 6, fill)])
}

describe('an image', () => {
  test('gives its room to the one that takes its place', async () => {
    const owner = await newPerson(service.api)
    const statuses: number[] = []
    for (let turn = 0; turn < 3; turn++) {
      const { body } = await owner.withKey<{ image_upload_url: string }>('GET', '/users')
      const image = imageOf(2 * bytesMax, turn)
      statuses.push((await upload(service.api, body.image_upload_url, image)).status)
    }
    const { presigned_url: url } = await attachmentOf(owner)
    const { status } = await upload(service.api, url, Buffer.alloc(bytesMax))

    expect([...statuses, status]).toEqual([200, 200, 200, 200])
  })

  test('is refused where it does not fit beside all else', async () => {
    const owner = await newPerson(service.api)
    const { body } = await owner.withKey<{ image_upload_url: string }>('GET', '/users')

    const answer = await upload(service.api, body.image_upload_url, imageOf(3 * bytesMax + 1, 0))

    expect([answer.status, answer.body['error']]).toEqual([507, 'files_full'])
  })
})

describe('downloads', () => {
  test('are the bytes that were uploaded, as an attachment with the CID as ETag', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api, { filename: 'hällo.txt' })
    const { body: taken } = await upload(service.api, url, 'hello world')

    const answer = await download(`/attachments/${id}/content`)

    expect(await answer.text()).toBe('hello world')
    expect(answer.headers.get('etag')).toBe(`"${String(taken['cid'])}"`)
    expect(answer.headers.get('content-type')).toBe('text/plain')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="h_llo.txt"; filename*=UTF-8''h%C3%A4llo.txt`,
    )
  })

  test('can be had in parts, and need not be had twice', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    const { body: taken } = await upload(service.api, url, 'hello world')
    const path = `/attachments/${id}/files/0`

    const part = await download(path, { range: 'bytes=6-' })
    const known = await download(path, { 'if-none-match': `"${String(taken['cid'])}"` })
    const beyond = await download(path, { range: 'bytes=11-' })

    expect([part.status, await part.text()]).toEqual([206, 'world'])
    expect(part.headers.get('content-range')).toBe('bytes 6-10/11')
    expect([known.status, beyond.status]).toEqual([304, 416])
  })

  test.each(['1', '-1', 'x', '0x0', '99999999999'])('are not there of file %s', async (index) => {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    await upload(service.api, url, 'hello')

    expect((await download(`/attachments/${id}/files/${index}`)).status).toBe(404)
  })

  test('are not there for anybody else', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    await upload(service.api, url, 'hello')
    const other = await newPerson(service.api)

    const answer = await other.withKey('GET', `/attachments/${id}/content`)

    expect(answer.status).toBe(404)
  })
})

/** A file that packs well, and is no other file. */
function fileOf(name: string, bytes: number) {
  const content = Buffer.concat([randomBytes(bytes / 50), Buffer.alloc(bytes)])
  return { name, content, method: 8 }
}

async function download(path: string, headers: Readonly<Record<string, string>> = {}) {
  const authorization = `Bearer ${await service.api.token()}`
  return await fetch(service.api.base + path, { headers: { authorization, ...headers } })
}

async function chunkedPut(url: string): Promise<Socket> {
  const { pathname, search } = new URL(url)
  const socket = connect(Number(new URL(service.process.http).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
  return socket
}

function sendChunk(socket: Socket, length: number): void {
  socket.write(`${length.toString(16)}\r\n${' '.repeat(length)}\r\n`)
}
