import { gzipSync } from 'node:zlib'
import { encode as inMessagePack } from '@msgpack/msgpack'
import { encode } from 'cborg'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { bodiesTo } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const { post, push } = bodiesTo(service)

let vaultId = ''

beforeAll(async () => {
  const streamId = await service.api.createStream()
  const { body } = await service.api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)
  vaultId = body.vaultId
})

const samples = [
  { ts: 1_767_225_600, temperature: 21.5, mode: 'eco', isOn: true },
  { ts: 1_767_225_660, temperature: 22, mode: 'eco', isOn: false },
]

const lines = samples.map((sample) => `${Object.values(sample).join(';')}\n`).join('')

const bodies: readonly (readonly [string, string, string | Uint8Array, string | Uint8Array])[] = [
  ['CBOR', 'application/cbor', encode(samples), encode(samples)],
  ['MessagePack', 'application/vnd.msgpack', inMessagePack(samples), inMessagePack(samples)],
  ...[samples.map((sample) => JSON.stringify(sample)).join('\n')].map(
    (text) => ['NDJSON', 'application/x-ndjson', text, text] as const,
  ),
  ['CSV', 'text/csv', `ts;temperature;mode;isOn\n${lines}`, lines],
]

interface Proposed {
  readonly proposal: { readonly source: object; readonly schema: object }
  readonly samples: number
  readonly misfits: readonly object[]
}

async function infer<Body>(type: string, body: string | Uint8Array, headers = {}) {
  const answer = await post('/streams/infer', { 'content-type': type, ...headers }, body)
  return { status: answer.status, body: answer.body as unknown as Body }
}

describe('POST /streams/infer', () => {
  test.each(bodies)(
    'proposes for %s a stream that takes the samples',
    async (_, type, body, sent) => {
      const { status, body: proposed } = await infer<Proposed>(type, body)
      const made = await service.api.withToken<{ streamId: string }>('POST', '/streams', {
        ...proposed.proposal,
        name: 'inferred',
        vaultId,
      })
      const pushed = await push(made.body.streamId, { 'content-type': type }, sent)

      expect([status, proposed.misfits, made.status]).toEqual([200, [], 201])
      expect(proposed.proposal.schema).toMatchObject({
        temperature: { type: 'number' },
        mode: { type: 'string' },
        isOn: { type: 'boolean' },
      })
      expect(pushed.body).toEqual({ accepted: 2, rejected: [] })
      await service.api.settled(made.body.streamId, 2)
      expect((await service.api.readAll(made.body.streamId))[0]).toMatchObject({
        timestamp: '2026-01-01T00:00:00.000000Z',
        temperature: 21.5,
      })
    },
  )

  test('takes what is compressed', async () => {
    const body = gzipSync(encode(samples))

    expect(await infer('application/cbor', body, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 200,
      body: { samples: 2 },
    })
  })

  test('refuses what is more than 4 MiB before it was compressed', async () => {
    const body = gzipSync(Buffer.alloc(5 * 1024 ** 2, 0x80))

    const { status } = await infer('application/cbor', body, { 'content-encoding': 'gzip' })

    expect(status).toBe(413)
  })

  test('leaves out columns that no field is made of', async () => {
    const table = 'timestamp,temperature,empty,bad name\n2026-01-01T00:00:00Z,21.5,,x\n'

    const { body } = await infer<Proposed>('text/csv', table)

    expect(body.proposal.source).toEqual({
      format: 'csv',
      columns: ['timestamp', 'temperature', null, null],
    })
  })

  test('names lines that could not be read', async () => {
    const table = await infer<Proposed>('text/csv', 'a,b\n1,2\n1\n3,4\n')
    const text = await infer<Proposed>('application/x-ndjson', '{"a": 1}\n{"a":\n{"a": 2}\n')

    for (const { status, body } of [table, text]) {
      expect([status, body.samples, body.misfits.length]).toEqual([200, 3, 1])
      expect(body.misfits).toMatchObject([{ index: 1, error: 'malformed' }])
    }
    expect(table.body.misfits).toMatchObject([
      { message: 'the line has 1 values where the first has 2' },
    ])
  })

  const many = Array.from({ length: 10_100 }, (_, index) => [`f${index}`, index] as const)

  test.each([
    ['nothing', 'application/cbor', '', 400],
    ['bytes that are no CBOR', 'application/cbor', Buffer.from([0x9f, 0x01]), 400],
    ['a byte string', 'application/cbor', encode({ a: new Uint8Array(3) }), 400],
    ['arrays without an end', 'application/cbor', Buffer.alloc(100_000, 0x81), 400],
    ['an announced gigabyte', 'application/cbor', Buffer.from([0xba, 0x40, 0, 0, 0]), 400],
    ['an announced gigabyte', 'application/msgpack', Buffer.from([0xdd, 0x40, 0, 0, 0]), 400],
    [
      '1,001 samples',
      'application/cbor',
      encode(Array.from({ length: 1_001 }, () => ({ a: 1 }))),
      400,
    ],
    ['1,001 lines', 'application/x-ndjson', '{"a":1}\n'.repeat(1_001), 400],
    ['1,001 lines', 'text/csv', `a\n${'1\n'.repeat(1_001)}`, 400],
    ['more fields than are looked at', 'application/cbor', encode(Object.fromEntries(many)), 400],
    ['no field', 'application/cbor', encode([1, 2]), 400],
    ['a table of names alone', 'text/csv', 'a,b\n', 400],
    ['a column without a name', 'text/csv', 'a,\n1,2\n', 400],
    ['a name twice', 'text/csv', 'a,a\n1,2\n', 400],
    ['the name __proto__', 'text/csv', '__proto__\n1\n', 400],
    ['a quote that is not closed', 'text/csv', 'a\n"1\n', 400],
    ['257 columns', 'text/csv', `${many.slice(0, 257).join()}\n1\n`, 400],
    ['what is no UTF-8', 'text/csv', Buffer.from([0x61, 0x0a, 0xff]), 400],
    ['a format that has no samples', 'application/protobuf', 'a', 415],
  ])('refuses %s in %s', async (_, type, body, expected) => {
    const { status, body: answer } = await infer<ErrorBody>(type, body)

    expect(status).toBe(expected)
    expect(answer.message).not.toBe('')
  })
})
