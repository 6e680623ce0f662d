import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { plantFile } from '../support/plant-protobuf.ts'
import { base64, descriptorOf } from '../support/protobuf-messages.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.0/8' })
let owner: Person
let vaultId: string

beforeAll(async () => {
  owner = await newPerson(service.api)
  vaultId = await vaultOf(owner)
})

interface Given {
  readonly type?: string
  readonly source: object
  readonly schema?: object
  readonly processing?: object
}

interface Made extends ErrorBody {
  readonly streamId: string
  readonly warnings?: readonly string[]
}

const plantDescriptor = base64(descriptorOf(plantFile))

const temperature = { temperature: { type: 'number' } }

async function defined({ type = 'iot_sensor', schema = temperature, ...rest }: Given) {
  const body = { name: 'boiler', vaultId, type, schema, ...rest }
  return await owner.withToken<Made>('POST', '/streams', body)
}

/** What is refused of a definition, or its status. */
async function refused(given: Given): Promise<unknown> {
  const { status, body } = await defined(given)
  return status === 400 ? body.details?.map(({ path }) => path) : status
}

const broker = { protocol: 'mqtt', endpoint: 'mqtt://127.0.0.1:1', topic: 'a' }
const time = { type: 'datetime' }

describe('a time field that no message can have is refused', () => {
  test.each<[string, Given]>([
    [
      'within a number',
      {
        source: { timestampField: 'params.ts', timestampFormat: 'epoch_s' },
        schema: { params: { type: 'number' } },
      },
    ],
    [
      'within a list, by a name',
      { source: { timestampField: 'list.ts' }, schema: { list: { type: 'array' } } },
    ],
    ['that is the reading itself', { source: { timestampField: '$' } }],
    ['around a reading that is a message', { source: { timestampField: '$parent.ts' } }],
    [
      'further out than there are items',
      { source: { items: 'data', timestampField: '$parent.$parent.ts' } },
    ],
    [
      'that no column of rows has',
      {
        source: {
          items: { path: 'rows', as: 'rows', columns: ['time', 'temperature'] },
          timestampField: 'at',
        },
      },
    ],
    ['that is the key of a message which has none', { source: { timestampField: '$key' } }],
    ['that is in no header of a broker', { source: { ...broker, timestampField: '$event' } }],
    ['that is no path', { source: { timestampField: 'a[' } }],
    [
      'within a column',
      {
        source: {
          ...broker,
          format: 'csv',
          columns: ['temperature', 'at'],
          timestampField: 'at.ts',
        },
        schema: { ...temperature, at: { type: 'string' } },
      },
    ],
    [
      'with a slip of the pen',
      {
        source: { timestampField: 'mesured_at' },
        schema: { ...temperature, measured_at: time },
      },
    ],
    [
      'in another case',
      { source: { timestampField: 'Ts' }, schema: { ...temperature, ts: { type: 'string' } } },
    ],
    [
      'that no column of a broker has',
      { source: { ...broker, format: 'csv', columns: ['temperature'], timestampField: 'at' } },
    ],
    [
      'where a payload is the value of another field',
      { source: { ...broker, format: 'plain', field: 'temperature', timestampField: 'at' } },
    ],
    [
      'that is in no message of Protobuf',
      {
        source: {
          ...broker,
          format: 'protobuf',
          protobuf: { descriptor: plantDescriptor, message: 'plant.Reading' },
          timestampField: 'nowhere',
        },
      },
    ],
    [
      'that is no register',
      {
        type: 'manufacturing',
        source: {
          protocol: 'modbus',
          endpoint: 'modbus://127.0.0.1',
          schedule: '* * * * *',
          registers: [{ field: 'temperature', address: 0, type: 'uint16' }],
          timestampField: 'clock',
        },
      },
    ],
  ])('%s', async (_, given) => {
    expect(await refused(given)).toEqual(['source.timestampField'])
  })
})

describe('a time field that is not declared', () => {
  const source = { timestampField: 'at' }

  test.each(['lenient', 'strict'])('is warned of where it may come, %s', async (validation) => {
    const { status, body } = await defined({ source, processing: { validation } })
    expect([status, body.warnings]).toEqual([
      201,
      [
        'source.timestampField: the schema has no field at; readings that come without it are refused, unless timestampOptional is true',
      ],
    ])
    const path = `/streams/${body.streamId}`
    const shown = await owner.withToken<Made>('GET', path)
    expect(shown.body.warnings).toEqual(body.warnings)
    const changed = await owner.withToken<Made>('PUT', path, { schema: { at: time } })
    expect([changed.status, changed.body.warnings]).toEqual([200, undefined])
  })

  test('is said nothing of where it is declared, or the usual one', async () => {
    const declared = await defined({ source, schema: { ...temperature, at: time } })
    const usual = await defined({ source: {} })
    expect([declared.body.warnings, usual.body.warnings]).toEqual([undefined, undefined])
  })
})

describe('a key that has no effect with the format is refused', () => {
  const names = { 'urn:a': 'temperature' }
  const protobuf = { descriptor: plantDescriptor, message: 'plant.Reading' }

  test.each<[string, object, string]>([
    ['names of JSON', { format: 'json', names }, 'names'],
    ['names of what is fetched as JSON', { ...broker, names }, 'names'],
    ['names of CSV', { format: 'csv', columns: ['temperature'], names }, 'names'],
    ['columns of JSON', { format: 'json', columns: ['temperature'] }, 'columns'],
    ['a delimiter of NDJSON', { format: 'ndjson', delimiter: ';' }, 'delimiter'],
    ['a field of CBOR', { format: 'cbor', field: 'temperature' }, 'field'],
    ['a message of Protobuf in MessagePack', { format: 'msgpack', protobuf }, 'protobuf'],
  ])('%s', async (_, source, key) => {
    expect(await refused({ source })).toEqual([`source.${key}`])
  })

  test('but not where the content type of what is pushed may be the one that it is for', async () => {
    const { status, body } = await defined({ source: { names } })
    expect(status).toBe(201)
    const sent = await fetch(`${service.process.http}/streams/${body.streamId}/data`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await owner.token()}`,
        'content-type': 'application/senml+json',
      },
      body: '[{"n": "urn:a", "v": 21.5}]',
    })
    expect(sent.status).toBe(202)
  })
})
