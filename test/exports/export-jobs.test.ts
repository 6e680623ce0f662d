import { beforeAll, describe, expect, test } from 'vitest'
import { download, exported, type JobBody } from '../support/exports.ts'
import { newPerson, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
let streamId = ''

beforeAll(async () => {
  streamId = await service.api.createStream({
    temperature: { type: 'number' },
    mode: { type: 'string' },
  })
  const reading = { timestamp: '2026-01-31T10:00:00Z', temperature: 21.5, mode: 'eco' }
  await service.api.withToken('POST', `/streams/${streamId}/data`, reading)
  await service.api.settled(streamId, 1)
})

describe('a download', () => {
  test.each([
    ['bytes=5-9', 206, 'bytes 5-9', [5, 10]],
    ['bytes=5-', 206, 'bytes 5-', [5, undefined]],
    ['bytes=-4', 206, '', [-4, undefined]],
    ['bytes=0-0,3-4', 200, null, [0, undefined]],
    ['lines=1-2', 200, null, [0, undefined]],
  ] as const)('of %s is answered %i', async (range, status, contentRange, [from, to]) => {
    const job = await exported(service.api, { streamIds: [streamId], format: 'csv' })
    const all = Buffer.from(await (await download(service, job, job.files[0])).arrayBuffer())
    const answer = await download(service, job, job.files[0], { range })

    expect(answer.status).toBe(status)
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(all.subarray(from, to))
    if (contentRange === null) expect(answer.headers.get('content-range')).toBe(null)
    else expect(answer.headers.get('content-range')).toContain(contentRange)
  })

  test('of what lies behind the end is 416', async () => {
    const job = await exported(service.api, { streamIds: [streamId], format: 'csv' })
    const answer = await download(service, job, job.files[0], { range: `bytes=${job.bytes}-` })

    expect(answer.status).toBe(416)
    expect(await answer.json()).toMatchObject({ error: 'range_not_satisfiable' })
    expect(answer.headers.get('content-range')).toBe(`bytes */${job.bytes}`)
  })

  test('goes on only with the file that it was begun with', async () => {
    const job = await exported(service.api, { streamIds: [streamId], format: 'csv' })
    const [file] = job.files
    const same = await download(service, job, file, {
      range: 'bytes=5-',
      'if-range': `"${file?.sha256}"`,
    })
    const other = await download(service, job, file, { range: 'bytes=5-', 'if-range': '"another"' })

    expect([same.status, other.status]).toEqual([206, 200])
    await Promise.all([same.text(), other.text()])
  })
})

describe('jobs', () => {
  test('are listed to their owner, and are nobody else’s', async () => {
    const [owner, stranger] = [await newPerson(service.api), await newPerson(service.api)]
    const job = await exported(owner, { streamIds: [await streamOf(owner)], format: 'csv' })
    const listed = await owner.withToken<readonly JobBody[]>('GET', '/exports')
    const path = `/exports/${job.exportId}`
    const refused: number[] = []
    for (const [method, rest] of [
      ['GET', ''],
      ['POST', '/cancel'],
      ['POST', '/resume'],
      ['DELETE', ''],
      ['GET', `/files/${job.files[0]?.name}`],
    ] as const) {
      refused.push((await stranger.withToken(method, path + rest)).status)
    }

    expect(listed.body.map(({ exportId }) => exportId)).toEqual([job.exportId])
    expect((await stranger.withToken<readonly JobBody[]>('GET', '/exports')).body).toEqual([])
    expect(refused).toEqual([404, 404, 404, 404, 404])
  })

  test('are of one’s own streams only', async () => {
    const [owner, stranger] = [await newPerson(service.api), await newPerson(service.api)]
    const body = { streamIds: [await streamOf(owner)], format: 'csv' }

    expect((await stranger.withToken('POST', '/exports', body)).status).toBe(404)
    expect((await stranger.withToken('POST', '/exports', { format: 'csv' })).status).toBe(400)
  })

  test('are removed with their files', async () => {
    const job = await exported(service.api, { streamIds: [streamId], format: 'csv' })
    const removed = await service.api.withToken('DELETE', `/exports/${job.exportId}`)

    expect(removed.status).toBe(204)
    expect((await download(service, job, job.files[0])).status).toBe(404)
  })

  test('that have ended are not changed by a cancel or resume', async () => {
    const job = await exported(service.api, { streamIds: [streamId], format: 'csv' })
    const path = `/exports/${job.exportId}`
    await service.api.withToken('POST', `${path}/cancel`)
    await service.api.withToken('POST', `${path}/resume`)

    expect((await service.api.withToken('GET', path)).body).toEqual(job)
  })

  test.each([
    [{ format: 'xml' }, 400],
    [{ format: 'csv', start: 'yesterday' }, 400],
    [{ format: 'csv', fields: ['nothing'] }, 400],
    [{ format: 'csv', fields: ['temperature:max'] }, 400],
    [{ format: 'csv', fields: ['mode:sum'], aggregation: 'hourly' }, 422],
    [{ format: 'csv', aggregation: 'sometimes' }, 400],
    [{ format: 'csv', other: 1 }, 400],
  ])('that ask for %j are refused', async (body, status) => {
    const asked = { streamIds: [streamId], ...body }
    expect((await service.api.withToken('POST', '/exports', asked)).status).toBe(status)
  })
})
