import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { type Bucket, openBucket } from '../../src/egress/object-store/bucket.ts'
import { parseS3Address } from '../../src/egress/object-store/s3-address.ts'

interface TestedBucket extends AsyncDisposable {
  readonly bucket: Bucket
  /** Requests so far. */
  readonly requests: () => number
}

/** A bucket of a server that answers as a test says. */
async function bucketOf(listener: RequestListener): Promise<TestedBucket> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  let requests = 0
  server.on('request', () => requests++)
  const { port } = server.address() as AddressInfo
  const address = parseS3Address(`s3://bucket/x?endpoint=http://127.0.0.1:${port}`, 'to')
  const bucket = await openBucket(address, { egressAllowed: undefined, silenceMs: 100 })
  return {
    bucket,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      bucket.close()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'tester')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2')
})

afterAll(() => {
  vi.unstubAllEnvs()
})

const unavailable = { code: 'store_unavailable', retryAfter: 5 }

describe('a bucket', () => {
  test('that is silent is asked some times, and is unavailable then', async () => {
    await using tested = await bucketOf(() => undefined)
    await expect(tested.bucket.isEmpty()).rejects.toMatchObject(unavailable)
    expect(tested.requests()).toBe(6)
  })

  test.each([
    ['falls silent', false],
    ['is cut off', true],
  ])('that %s within an object is unavailable', async (_, isCutOff) => {
    await using tested = await bucketOf((_request, response) => {
      response.writeHead(200, { 'content-length': 1_000 }).write('some', () => {
        if (isCutOff) response.destroy()
      })
    })
    await expect(buffer(tested.bucket.read('a'))).rejects.toMatchObject(unavailable)
  })

  test.each([500, 503, 429])('that answers %i is unavailable', async (status) => {
    await using tested = await bucketOf((_, response) => response.writeHead(status).end())
    await expect(tested.bucket.isEmpty()).rejects.toMatchObject(unavailable)
  })

  test.each([400, 403, 409])('that answers %i has a problem that does not pass', async (status) => {
    await using tested = await bucketOf((_, response) => response.writeHead(status).end())
    const failure = await tested.bucket.isEmpty().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(failure).not.toBeInstanceOf(DomainError)
    expect(String(failure)).toContain('s3://bucket/x/')
    expect(String(failure)).not.toContain('hunter2')
    expect(tested.requests()).toBe(1)
  })

  test('is left in the middle of an object by who has given up', async () => {
    await using tested = await bucketOf((_, response) => {
      response.writeHead(200, { 'content-length': 1_000 }).write('some')
    })
    const giving = new AbortController()
    const reason = new Error('given up')
    const reading = async () => {
      for await (const _ of tested.bucket.read('a', { signal: giving.signal })) giving.abort(reason)
    }
    await expect(reading()).rejects.toBe(reason)
  })

  test('that fails lets go of what was being written', async () => {
    await using tested = await bucketOf((_, response) => response.writeHead(403).end())
    let isLeft = false
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(1024 * 1024)
      } finally {
        isLeft = true
      }
    }
    await expect(tested.bucket.write('a', endless(), 1)).rejects.toThrow('s3://bucket/x/')
    await expect.poll(() => isLeft).toBe(true)
  })

  test('that fails is not blamed for what fails on our side', async () => {
    await using tested = await bucketOf((_, response) => response.writeHead(503).end())
    const ours = Object.assign(new Error('the disk'), { code: 'EIO' })
    async function* broken() {
      yield Buffer.from('some')
      throw ours
    }
    await expect(tested.bucket.write('a', broken(), 1)).rejects.toBe(ours)
  })
})
