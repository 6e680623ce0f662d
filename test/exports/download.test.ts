import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import Fastify from 'fastify'
import { afterAll, describe, expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { sendFile } from '../../src/reading/exports/download.ts'
import { handleError } from '../../src/requests/http/error-handler.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** Reading as much takes longer than anything else that a test reads. */
const bytes = 64 * 1024 * 1024

const folder = new TemporaryFolder()
const path = folder.file('readings.csv')
writeFileSync(path, '')
truncateSync(path, bytes)

const of = { number: 1, streamId: newId<StreamId>(), rows: 1 }
const file = { ...of, bytes, name: 'readings.csv', sha256: 'abc' }

const app = Fastify()
app.setErrorHandler(handleError)
app.get('/file', (request, reply) => sendFile({ path, file, format: 'csv' }, { request, reply }))
afterAll(async () => {
  await app.close()
  folder[Symbol.dispose]()
})

/** What this process has read so far, from files and others. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
}

async function ask(method: 'GET' | 'HEAD', headers: Readonly<Record<string, string>> = {}) {
  const {
    statusCode,
    headers: answered,
    rawPayload,
  } = await app.inject({
    method,
    url: '/file',
    headers,
  })
  const { date: _, connection: __, 'transfer-encoding': ___, ...rest } = answered
  return { statusCode, headers: rest, length: rawPayload.length }
}

describe('HEAD of a file', () => {
  test.each<[string, Readonly<Record<string, string>>, number]>([
    ['all of it', {}, 200],
    ['a part', { range: 'bytes=5-9' }, 206],
    ['its end', { range: 'bytes=-7', 'if-range': '"abc"' }, 206],
    ['another file than was begun', { range: 'bytes=5-9', 'if-range': '"other"' }, 200],
    ['what is behind its end', { range: `bytes=${bytes}-` }, 416],
  ])('has the headers that GET has: %s', async (_, headers, status) => {
    const got = await ask('GET', headers)
    const told = await ask('HEAD', headers)

    expect(got.statusCode).toBe(status)
    expect(told.statusCode).toBe(status)
    expect(told.headers).toEqual(got.headers)
    expect(told.length).toBe(0)
  })

  test('reads nothing of it', async () => {
    const before = bytesRead()
    await ask('HEAD')
    // By then what was begun before has ended, too.
    await ask('GET')

    expect(bytesRead() - before).toBeLessThan(1.5 * bytes)
  })
})
