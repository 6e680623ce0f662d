import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Made {
  readonly streamIds: readonly string[]
  readonly streams: readonly { readonly streamId: string; readonly name: string }[]
}

interface Listed {
  readonly streamId: string
  readonly name: string
  readonly tags: Readonly<Record<string, string>>
}

let vaultId = ''

beforeAll(async () => {
  const streamId = await service.api.createStream()
  const { body } = await service.api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)
  vaultId = body.vaultId
})

function definition(changes: object = {}): object {
  return { vaultId, type: 'iot_sensor', schema: { temperature: { type: 'number' } }, ...changes }
}

function converting(to: string): object {
  const convert = { field: 'temperature', from: 'degC', to }
  return definition({ name: 'hot', processing: { transform: [{ convert }] } })
}

function createAll<Body = Made>(body: unknown, key?: string): Promise<Answer<Body>> {
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  return service.api.withToken<Body>('POST', '/streams/bulk', body, headers)
}

async function list(query: string): Promise<readonly Listed[]> {
  const { status, body } = await service.api.withToken<Listed[]>('GET', `/streams?${query}`)
  expect(status).toBe(200)
  return body
}

function namesOf(streams: readonly { readonly name: string }[]): string[] {
  return streams.map(({ name }) => name)
}

function pathsOf({ body }: Answer<ErrorBody>): string[] {
  return (body.details ?? []).map(({ path }) => path).toSorted()
}

describe('POST /streams/bulk', () => {
  test('makes a thousand streams of one definition, in order', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `pump ${index}`)
    const streams = names.map((name, index) => ({ name, tags: { line: String(index % 4) } }))

    const { status, body } = await createAll({
      definition: definition({ tags: { site: 'oslo', line: 'x' } }),
      streams,
    })

    expect(status).toBe(201)
    expect(namesOf(body.streams)).toEqual(names)
    expect(body.streamIds).toEqual(body.streams.map(({ streamId }) => streamId))
    const found = await list('tag.site=oslo&tag.line=3&limit=1000')
    expect(namesOf(found)).toEqual(names.filter((_, index) => index % 4 === 3))
    expect(found[0]?.tags).toEqual({ site: 'oslo', line: '3' })
  })

  test('refuses to multiply a long definition without end', async () => {
    const values = Array.from({ length: 256 }, (_, index) => String(index).padEnd(200, 'x'))
    const { status, body } = await createAll<ErrorBody>({
      definition: definition({ schema: { mode: { type: 'string', enum: values } } }),
      streams: Array.from({ length: 1_000 }, (_, index) => ({ name: `long ${index}` })),
    })

    expect(status).toBe(400)
    expect(body.details).toEqual([
      { path: 'streams', message: expect.stringMatching(/^at most 3\d\d of so long a definition/) },
    ])
  })

  test('makes streams of a definition each', async () => {
    const { status, body } = await createAll({
      definitions: [
        definition({ name: 'one' }),
        definition({ name: 'two', type: 'occupancy', schema: { people: { type: 'integer' } } }),
      ],
    })

    expect(status).toBe(201)
    expect(body.streams).toMatchObject([
      { name: 'one', type: 'iot_sensor' },
      { name: 'two', type: 'occupancy' },
    ])
  })

  test('makes them once under one key', async () => {
    const key = randomUUID()
    const body = { definition: definition(), streams: [{ name: 'once 1' }, { name: 'once 2' }] }

    const first = await createAll(body, key)
    const again = await createAll(body, key)

    expect(again.body).toEqual(first.body)
    expect(await list('name=once*')).toHaveLength(2)
  })

  test('makes none when one is wrong, and names its place', async () => {
    const answer = await createAll<ErrorBody>({
      definitions: [
        definition({ name: 'lonely' }),
        definition({ name: '' }),
        definition({ name: 'x', schema: { a: { type: 'float' } } }),
      ],
    })

    expect(answer.status).toBe(400)
    expect(pathsOf(answer)).toEqual(['definitions.1.name', 'definitions.2.schema.a.type'])
    expect(await list('name=lonely')).toEqual([])
  })

  test('names the places of units that do not fit', async () => {
    const each = [converting('K'), converting('kPa'), converting('W')]
    const path = 'processing.transform.0.convert'

    const answer = await createAll<ErrorBody>({ definitions: each })
    expect([answer.status, pathsOf(answer)]).toEqual([
      400,
      [`definitions.1.${path}`, `definitions.2.${path}`],
    ])
    const streams = [{ name: 'a' }, { name: 'b' }]
    const shared = await createAll<ErrorBody>({ definition: each[1], streams })
    expect([shared.status, pathsOf(shared)]).toEqual([400, [`definition.${path}`]])
    expect((await createAll({ definition: each[0], streams })).status).toBe(201)
    expect(await list('name=hot')).toEqual([])
  })

  test('names what is wrong with what they share once', async () => {
    const answer = await createAll<ErrorBody>({
      definition: definition({ schema: {} }),
      streams: [{ name: 'a' }, { name: 'b' }],
    })

    expect([answer.status, pathsOf(answer)]).toEqual([400, ['definition.schema']])
  })

  test.each([
    ['nothing', {}, ['definitions']],
    ['no streams', { definitions: [] }, ['definitions']],
    ['too many', { definitions: Array.from({ length: 1_001 }, () => ({})) }, ['definitions']],
    ['both ways at once', { definition: {}, definitions: [], streams: [{}] }, ['definitions']],
    ['an unknown key', { definitions: [{}], colour: 1 }, ['colour']],
  ])('refuses %s with 400', async (_, body, paths) => {
    const answer = await createAll<ErrorBody>(body)

    expect([answer.status, pathsOf(answer)]).toEqual([400, paths])
  })

  test.each([
    ['a name that is missing', { tags: {} }, 'streams.0.name'],
    ['a key that is not its own', { name: 'a', type: 'occupancy' }, 'streams.0.type'],
    ['tags that are none', { name: 'a', tags: { floor: 2 } }, 'streams.0.tags.floor'],
  ])('refuses %s with 400', async (_, stream, path) => {
    const answer = await createAll<ErrorBody>({ definition: definition(), streams: [stream] })

    expect([answer.status, pathsOf(answer)]).toEqual([400, [path]])
  })

  test('is 404, and makes none, when a vault is not there', async () => {
    const answer = await createAll<ErrorBody>({
      definitions: [
        definition({ name: 'widow' }),
        definition({ name: 'b', vaultId: randomUUID() }),
      ],
    })

    expect(answer.status).toBe(404)
    expect(await list('name=widow')).toEqual([])
  })
})

describe('the list of streams', () => {
  test('is searched by the whole name or its beginning, in any case, as it is written', async () => {
    await createAll({
      definition: definition(),
      streams: [{ name: 'Ölkessel 1' }, { name: 'ölkessel 2' }, { name: 'a%b' }, { name: 'axb' }],
    })

    expect(namesOf(await list(`name=${encodeURIComponent('ÖLKESSEL*')}`))).toEqual([
      'Ölkessel 1',
      'ölkessel 2',
    ])
    expect(namesOf(await list(`name=${encodeURIComponent('ölkessel 1')}`))).toEqual(['Ölkessel 1'])
    expect(namesOf(await list('name=a%25*'))).toEqual(['a%b'])
  })

  test('is searched by vault, and follows changes of tags', async () => {
    const streamId = await service.api.createStream()
    const path = `/streams/${streamId}`
    const { body } = await service.api.withToken<{ vaultId: string }>('GET', path)
    await service.api.withToken('PUT', path, { tags: { hall: 'a', gate: '1' } })
    await service.api.withToken('PUT', path, { tags: { hall: 'b' } })

    const inVault = (query: string) => list(`vaultId=${body.vaultId}${query}`)

    expect(await inVault('')).toMatchObject([{ streamId, tags: { hall: 'b', gate: '1' } }])
    expect(await inVault('&tag.hall=b&tag.gate=1')).toHaveLength(1)
    expect(await inVault('&tag.hall=a')).toEqual([])
    expect(await inVault('&tag.hall=b&name=x*')).toEqual([])
  })

  test('leads on with its filters', async () => {
    await createAll({
      definition: definition({ tags: { page: 'p' } }),
      streams: Array.from({ length: 5 }, (_, index) => ({ name: `page ${index}` })),
    })

    const first = await service.api.withToken<Listed[]>('GET', '/streams?tag.page=p&limit=3')
    const next = /^<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const second = await service.api.withToken<Listed[]>('GET', next)

    expect(namesOf([...first.body, ...second.body])).toEqual(
      [0, 1, 2, 3, 4].map((n) => `page ${n}`),
    )
  })
})

describe('POST /streams/infer', () => {
  test('proposes what POST /streams takes, and the stream takes the samples', async () => {
    const samples = [
      { ts: 1_767_225_600, temperature: 21.5, mode: 'eco' },
      { ts: 1_767_225_660, temperature: 22, mode: 'eco', doors: [{ open: true }] },
    ]
    const { status, body } = await service.api.withToken<{ proposal: object; misfits: unknown[] }>(
      'POST',
      '/streams/infer',
      { samples },
    )
    const made = await service.api.withToken<{ streamId: string }>('POST', '/streams', {
      ...body.proposal,
      name: 'inferred',
      vaultId,
    })
    const { streamId } = made.body
    const pushed = await service.api.withToken('POST', `/streams/${streamId}/data`, samples)

    expect([status, body.misfits, made.status, pushed.status]).toEqual([200, [], 201, 202])
    expect(pushed.body).toEqual({ accepted: 2, rejected: [] })
    await service.api.settled(streamId, 2)
    expect((await service.api.readAll(streamId))[0]).toMatchObject({
      timestamp: '2026-01-01T00:00:00.000000Z',
      temperature: 21.5,
    })
  })

  test.each([[{}], [{ samples: [] }], [{ samples: Array.from({ length: 1_001 }, () => ({})) }]])(
    'refuses what are no samples with 400',
    async (body) => {
      const answer = await service.api.withToken<ErrorBody>('POST', '/streams/infer', body)

      expect([answer.status, pathsOf(answer)]).toEqual([400, ['samples']])
    },
  )
})
