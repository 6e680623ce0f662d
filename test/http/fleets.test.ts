import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface ShownFleet {
  readonly fleetId: string
  readonly name: string
  readonly vaultId: string
  readonly definition: object
  readonly tags: Readonly<Record<string, string>>
  readonly streamsMax: number
  readonly streams: number
  readonly version: number
  readonly change: object | null
}

let vaultId = ''

beforeAll(async () => {
  const streamId = await service.api.createStream()
  const { body } = await service.api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)
  vaultId = body.vaultId
})

const schema = { temperature: { type: 'number' } }

function wanted(changes: object = {}): object {
  const name = `fleet ${randomUUID()}`
  const source = { topic: `tele-${name.slice(6, 14)}/{device}/SENSOR` }
  return { name, vaultId, definition: { type: 'iot_sensor', source, schema }, ...changes }
}

function make(changes: object = {}) {
  return service.api.withToken<ShownFleet>('POST', '/fleets', wanted(changes))
}

async function refused(
  changes: object,
): Promise<{ status: number; error: string; paths: unknown }> {
  const { status, body } = await service.api.withToken<ErrorBody>(
    'POST',
    '/fleets',
    wanted(changes),
  )
  return { status, error: body.error, paths: body.details?.map(({ path }) => path) }
}

describe('POST /fleets', () => {
  test('answers 201 with the fleet as it can be read from then on', async () => {
    const definition = {
      type: 'iot_sensor',
      source: { topic: 'tele/{device}/SENSOR', deviceField: 'host' },
      schema,
    }

    const { status, body } = await make({ name: 'Boilers', definition, tags: { site: 'berlin' } })

    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'Boilers',
      vaultId,
      tags: { site: 'berlin' },
      streamsMax: 10_000,
      streams: 0,
      version: 1,
      change: null,
      definition: { ...definition, processing: {} },
    })
    const read = await service.api.withToken<ShownFleet>('GET', `/fleets/${body.fleetId}`)
    expect(read.body).toEqual(body)
    expect(read.headers.get('etag')).toBe('"1"')
  })

  test('needs neither a topic nor a field', async () => {
    const { status } = await make({ definition: { type: 'iot_sensor', schema } })

    expect(status).toBe(201)
  })

  test('is 409 for a name that another fleet has, in any case', async () => {
    const name = `Twice ${randomUUID()}`
    await make({ name })

    const { status, error } = await refused({ name: name.toUpperCase() })

    expect({ status, error }).toEqual({ status: 409, error: 'conflict' })
  })

  test('is 404 for a vault that does not exist', async () => {
    expect(await refused({ vaultId: randomUUID() })).toMatchObject({ status: 404 })
  })

  test.each([
    ['a topic without the device', { source: { topic: 'tele/+/SENSOR' } }, 'source.topic'],
    ['a part of a level', { source: { topic: 'tele/x{device}/SENSOR' } }, 'source.topic'],
    ['two devices', { source: { topic: '{device}/{device}' } }, 'source.topic'],
    [
      'a field outside of the reading',
      { source: { deviceField: '$topic[1]' } },
      'source.deviceField',
    ],
    ['another name of a level', { source: { topic: 'a/{device}/{room}' } }, 'source.topic'],
    ['a topic of the service', { source: { topic: 'streams/{device}/data' } }, 'source.topic'],
    ['a topic of the broker', { source: { topic: '$SYS/{device}' } }, 'source.topic'],
    ['an unknown key', { sources: {} }, 'sources'],
    ['an unknown key of the source', { source: { topick: '{device}' } }, 'source.topick'],
    ['an empty field', { source: { deviceField: '' } }, 'source.deviceField'],
    ['a long field', { source: { deviceField: 'a'.repeat(10_000) } }, 'source.deviceField'],
    ['the field __proto__', { source: { deviceField: '__proto__' } }, 'source.deviceField'],
    ['__proto__ in a path', { source: { deviceField: 'a.__proto__.b' } }, 'source.deviceField'],
    ['a field that is no text', { source: { deviceField: 3 } }, 'source.deviceField'],
    ['a name', { name: 'one' }, 'name'],
    ['tags', { tags: { a: 'b' } }, 'tags'],
    ['a wrong schema', { schema: { t: { type: 'float' } } }, 'schema.t.type'],
    [
      'unknown units',
      {
        schema: { t: { type: 'number' } },
        processing: { transform: [{ convert: { field: 't', from: 'x1', to: 'x2' } }] },
      },
      'processing.transform.0.convert',
    ],
  ])('names what is wrong with a definition that has %s', async (_, part, path) => {
    const definition = { type: 'iot_sensor', schema, ...part }

    expect(await refused({ definition })).toEqual({
      status: 400,
      error: 'invalid_request',
      paths: [`definition.${path}`],
    })
  })

  test.each([0, -1, 1.5, 1e9, '10', true, null])(
    'is 400 for %j as streamsMax',
    async (streamsMax) => {
      expect(await refused({ streamsMax })).toEqual({
        status: 400,
        error: 'invalid_request',
        paths: ['streamsMax'],
      })
    },
  )

  test('names all that is wrong', async () => {
    const found = await refused({ name: '', streamsMax: 0, definition: 1, tags: { device: 'x' } })

    expect(found.paths).toEqual(['name', 'streamsMax', 'tags.device', 'definition'])
  })

  test.each([
    ['fetched from a broker', { source: { endpoint: 'mqtt://broker.example', topic: 'a' } }],
    ['sent by webhooks', { type: 'event_stream', source: { protocol: 'webhook' } }],
    ['the events of the service', { type: 'service', schema: undefined }],
  ])('is unsupported for what is %s', async (_, part) => {
    const definition = { type: 'iot_sensor', schema, ...part }

    const { status, error } = await refused({ definition })

    expect({ status, error }).toEqual({ status: 422, error: 'unsupported_definition' })
  })
})

describe('GET /fleets', () => {
  test('lists fleets by name, page by page', async () => {
    const mark = randomUUID().slice(0, 8)
    for (const name of ['c', 'A', 'b']) await make({ name: `${mark} ${name}` })
    const names: string[] = []

    let path: string | undefined = '/fleets?limit=2'
    while (path !== undefined) {
      const { body, headers }: { body: readonly ShownFleet[]; headers: Headers } =
        await service.api.withToken<readonly ShownFleet[]>('GET', path)
      names.push(...body.map(({ name }) => name))
      path = /<(.+)>/.exec(headers.get('link') ?? '')?.[1]
    }

    const own = names.filter((name) => name.startsWith(mark))
    expect(own).toEqual([`${mark} A`, `${mark} b`, `${mark} c`])
    expect(new Set(names).size).toBe(names.length)
  })

  test('finds those of a vault', async () => {
    const { body } = await service.api.withToken<readonly ShownFleet[]>(
      'GET',
      `/fleets?vaultId=${randomUUID()}`,
    )

    expect(body).toEqual([])
  })

  test('is 400 for a cursor that we have not made', async () => {
    const { status } = await service.api.withToken('GET', '/fleets?cursor=%20')

    expect(status).toBe(400)
  })
})

test('GET /fleets/{fleetId} is 404 for an id that does not exist', async () => {
  const { status } = await service.api.withToken('GET', `/fleets/${randomUUID()}`)

  expect(status).toBe(404)
})
