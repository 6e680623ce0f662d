import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { metricOf } from '../support/metrics.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { attachmentAsItIs, attachmentOf, upload } from '../support/uploads.ts'

/** Files of one user that may arrive at once. */
const atOnce = 8

describe('a user with as many uploads as there may be', () => {
  const service = runningService()

  test('is told to come again, and others are not kept waiting', async () => {
    const [busy, other] = [await newPerson(service.api), await newPerson(service.api)]
    const sockets: Socket[] = []
    for (let count = 0; count < atOnce; count++) {
      const { presigned_url: url } = await attachmentOf(busy)
      sockets.push(await begunPut(service.api.base, url))
    }
    const next = await attachmentOf(busy)
    const sent = () => upload(service.api, next.presigned_url, 'hello')

    await expect.poll(() => metricOf(service.process, 'uploads_running')).toBe(atOnce)
    const { status, body, headers } = await sent()
    const { presigned_url: url } = await attachmentOf(other)
    const ofOther = await upload(service.api, url, 'hello')

    expect([status, body]).toMatchObject([429, { error: 'rate_limited', retryAfter: 5 }])
    expect(headers.get('retry-after')).toBe('5')
    expect(ofOther.status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await expect.poll(async () => (await sent()).status).toBe(200)
  })
})

describe('a disk without room', () => {
  const service = runningService({ STREAMVAULT_DISK_MIN: '1000TiB' })

  test('takes no files, and the attachment goes on waiting', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)

    const { status, body } = await upload(service.api, url, 'hello')

    expect([status, body['error']]).toEqual([507, 'disk_full'])
    expect((await attachmentAsItIs(service.api, id)).status).toBe('UPLOAD_PENDING')
  })
})

/** An upload of which the first bytes have been sent. */
async function begunPut(base: string, url: string): Promise<Socket> {
  const { pathname, search } = new URL(url)
  const socket = connect(Number(new URL(base).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(
    `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nsome`,
  )
  return socket
}
