import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const unknownId = '00000000-0000-4000-8000-000000000000'

let vaultId: string

beforeAll(async () => {
  const streamId = await service.api.createStream()
  const { body } = await service.api.withToken<Stream>('GET', `/streams/${streamId}`)
  vaultId = String(body['vaultId'])
  for (let index = 0; index < 6; index++) await create(definition({ name: `stream ${index}` }))
})

function definition(changes: object = {}): object {
  return {
    name: 'temperature',
    vaultId,
    type: 'iot_sensor',
    source: { deviceId: 'boiler-7', protocol: 'mqtt' },
    schema: { temperature: { type: 'number', unit: 'celsius', range: [-50, 150] } },
    ...changes,
  }
}

function create(body: object): Promise<Answer<Stream>> {
  return service.api.withToken('POST', '/streams', body)
}

type Stream = Readonly<Record<string, unknown>> & { readonly streamId: string }

describe('GET /streams', () => {
  test('answers an array of the streams as creating them answered, with their tags, in that order', async () => {
    const first = (await create(definition())).body
    const second = (await create(definition({ name: 'pressure', tags: { site: 'berlin' } }))).body

    const { status, body } = await service.api.withToken<Stream[]>('GET', '/streams?limit=1000')

    expect(status).toBe(200)
    expect(body.slice(-2)).toEqual([
      { ...first, tags: {} },
      { ...second, tags: { site: 'berlin' } },
    ])
  })

  test('leads from page to page by the Link header, every stream once', async () => {
    const { body: all } = await service.api.withToken<Stream[]>('GET', '/streams?limit=1000')
    const found: Stream[] = []
    let path: string | undefined = '/streams?limit=3'
    while (path !== undefined) {
      const answer: Answer<Stream[]> = await service.api.withToken('GET', path)
      found.push(...answer.body)
      path = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
    }

    expect(all.length).toBeGreaterThan(6)
    expect(found).toEqual(all)
  })

  test('calls a stream active once it has received', async () => {
    const streamId = await service.api.createStream()
    await service.api.withToken('POST', `/streams/${streamId}/data`, { temperature: 1 })
    await service.api.settled(streamId, 1)

    const { body } = await service.api.withToken<Stream[]>('GET', '/streams?limit=1000')

    expect(body.find((stream) => stream.streamId === streamId)).toMatchObject({ status: 'active' })
  })

  test.each(['limit=0', 'limit=1001', 'cursor=x', 'page=1', 'vaultId=x', 'tag.=x', 'tag.site='])(
    'refuses %s with 400, naming it',
    async (query) => {
      const { status, body } = await service.api.withToken('GET', `/streams?${query}`)

      expect(status).toBe(400)
      expect(body).toMatchObject({ details: [{ path: query.split('=')[0] }] })
    },
  )
})

describe('GET /streams/{stream_id}', () => {
  test('answers the whole definition', async () => {
    const given = definition({ processing: { frequency: '1m', validation: 'strict' } })
    const created = (await create(given)).body

    const { status, body } = await service.api.withToken('GET', `/streams/${created.streamId}`)

    expect(status).toBe(200)
    // A range comes back as the limits that it means.
    const schema = { temperature: { type: 'number', unit: 'celsius', min: -50, max: 150 } }
    expect(body).toEqual({ ...created, ...given, schema, tags: {}, version: 1 })
  })

  test('answers empty parts for what was not given', async () => {
    const streamId = await service.api.createStream()

    const { body } = await service.api.withToken('GET', `/streams/${streamId}`)

    expect(body).toMatchObject({ source: {}, processing: {}, status: 'created' })
  })

  test.each([unknownId, 'boiler-7'])('is 404 for the stream %s', async (id) => {
    const { status, body } = await service.api.withToken('GET', `/streams/${id}`)

    expect(status).toBe(404)
    expect(body).toMatchObject({ error: 'not_found' })
  })
})
