import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { array, assert, asyncProperty, jsonValue } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoders } from '../../processors/decode.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer } from '../support/api-server.ts'

interface Served {
  readonly body: string | Buffer
  readonly type?: string
  readonly headers?: object
  readonly source?: object
}

/** A round of an API that has one answer. */
async function served({ body, type = 'application/json', headers, source }: Served) {
  const api = await ApiServer.start((_, answer) => {
    answer.writeHead(200, { 'content-type': type, ...headers })
    answer.end(body)
  })
  return {
    api,
    rounds: new ApiRounds({ endpoint: `${api.origin}/v1?key=1`, ...source }, [api.port]),
  }
}

async function textsOf(answer: Served): Promise<readonly string[]> {
  const { api, rounds } = await served(answer)
  await using _ = api
  return await rounds.texts()
}

async function failureOf(answer: Served): Promise<Error> {
  const { api, rounds } = await served(answer)
  await using _ = api
  return await rounds.failure()
}

describe('JSON', () => {
  test.each([
    '{"number": 12345678901234567890, "number": 1e400, "ä": "\\u0000"}',
    '{"number": ',
    '"text"',
    'not JSON',
    '[{"number": 1}, {]',
    '\ufeff{"number": 1}',
    '{"number": 1}\n',
  ])('is handed over byte for byte when it is no list: %s', async (body) => {
    expect(await textsOf({ body })).toEqual([body])
  })

  test('of a list is cut into items, which stay as they are', async () => {
    const items = ['{ "number" :1.50}', '{"s": "],[\\"\\\\"}', '[[]]', '1e400', '{}']
    const body = `\ufeff {"a": [1, {"items": 0}], "d\\u0061ta": {"x": "}", "items" : [ ${items.join(' ,\n')} ]}} `
    const texts = await textsOf({ body, source: { itemsPath: 'data.items' } })
    expect(texts).toEqual([`[${items.join(',')}]`])
  })

  test('items that can be read are one message', async () => {
    const texts = await textsOf({ body: '[{"number":1.0} , {"number":2}\n]' })
    expect(texts).toEqual(['[{"number":1.0},{"number":2}]'])
  })

  test('one item that cannot be read does not take others with it', async () => {
    const items = Array.from({ length: 1_200 }, (_, number) => `{"number":${number}}`)
    items[700] = '{"number":1,"number":2}'
    const texts = await textsOf({ body: `[${items.join(',')}]` })
    expect(texts[0]).toBe(`[${items.slice(0, 500).join(',')}]`)
    expect(texts.slice(1, 501)).toEqual(items.slice(500, 1_000))
    expect(texts[501]).toBe(`[${items.slice(1_000).join(',')}]`)
  })

  test.each([
    ['{"data": {"items": []}}', []],
    ['{"data": {"items": null}}', []],
    ['[]', [], {}],
    ['', [], {}],
    ['  ', [], {}],
    ['{"data": {"items": {"number": 1}}}', ['{"number": 1}']],
  ])('%s holds %j', async (body, items, source = { itemsPath: 'data.items' }) => {
    expect(await textsOf({ body, source })).toEqual(items)
  })

  test.each([
    ['{"data": {}}', 'there is nothing at data.items'],
    ['{"error": "try later"}', 'there is nothing at data.items'],
    ['[1, 2]', 'there is nothing at data.items'],
    ['{"data": {"items": [1]}', 'the JSON ends too early'],
    ['{"data": {"items": [1}}', 'no JSON at byte'],
    ['{"data": {"items": [1 2]}}', 'no JSON at byte'],
    ['{"data": {"items": [1]}} x', 'no JSON at byte'],
    ["{'data': {'items': [1]}}", 'no JSON at byte'],
    ['{"data": {"items": [1], "items": [2]}}', 'the key items comes twice'],
    ['{"data": {"items": [1]}, "data": {}}', 'the key data comes twice'],
    ['{"x": [1}, "data": {"items": [1]}}', 'no JSON at byte'],
    ['"never closed', 'the JSON ends too early'],
  ])('%s is no page, and says why: %s', async (body, reason) => {
    const failure = await failureOf({ body, source: { itemsPath: 'data.items' } })
    expect(failure.message).toContain(reason)
  })

  test('is found whatever stands around it, and is what any reader finds', async () => {
    await assert(
      asyncProperty(jsonValue(), array(jsonValue()), async (other, items) => {
        const body = JSON.stringify(
          { other, data: [other, { items: 0 }], a: { items }, more: other },
          null,
          1,
        )
        const texts = await textsOf({ body, source: { itemsPath: 'a.items' } })
        const found = texts.flatMap((text) => {
          const value = JSON.parse(text) as unknown
          const isBatch = items.length > 1 && texts.length === 1
          return isBatch ? value : [value]
        })
        expect(found).toEqual(JSON.parse(JSON.stringify(items)))
      }),
      { numRuns: 100 },
    )
  })

  test('an item that is larger than a message may be is refused, with its beginning', async () => {
    const body = `[{"number": 1}, {"text": "${'x'.repeat(5 * 1024 ** 2)}"}]`
    const { api, rounds } = await served({ body })
    await using _ = api
    const messages = await rounds.round()
    expect(messages.map(({ payload, problem }) => [payload.length, problem])).toEqual([
      [13, undefined],
      [64 * 1024, 'larger than 4 MiB: only its beginning is kept'],
    ])
  })

  test('says where it came from, and not with which parameters', async () => {
    const { api, rounds } = await served({ body: '{}' })
    await using _ = api
    expect(await rounds.round()).toMatchObject([{ source: `GET ${api.origin}/v1` }])
  })
})

describe('what is compressed', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['GZIP', gzipSync],
    ['identity', (bytes: Buffer) => bytes],
  ])('in %s is as it was', async (coding, compress) => {
    const body = JSON.stringify({ text: 'x'.repeat(2 * 1024 ** 2) })
    const compressed = compress(Buffer.from(body))
    const headers = { 'content-encoding': coding }
    expect(await textsOf({ body: compressed, headers })).toEqual([body])
  })
})

describe('NDJSON', () => {
  const body = '{"number":1}\r\n\n{"number":\n{"number":3}'

  test('is as it is for a stream that reads it', async () => {
    const texts = await textsOf({ body, type: 'text/plain', source: { format: 'ndjson' } })
    expect(texts).toEqual(['{"number":1}\r\n{"number":\n{"number":3}\n'])
    expect(decoders.ndjson(Buffer.from(texts[0] ?? ''))).toMatchObject({
      ok: true,
      readings: { length: 3 },
    })
  })

  test('of many blank lines keeps nobody waiting', async () => {
    const many = `{"number":1}\n${'\n'.repeat(30 * 1024 ** 2)}`
    // Were it the square of their number, that would take hours.
    expect(await textsOf({ body: many, source: { format: 'ndjson' } })).toEqual(['{"number":1}\n'])
  })

  test('is a list for a stream of JSON, and each line is judged alone', async () => {
    const type = 'application/x-ndjson; charset=utf-8'
    expect(await textsOf({ body: '{"a":1}\n{"a":2}\n', type })).toEqual(['[{"a":1},{"a":2}]'])
    expect(await textsOf({ body, type })).toEqual(['{"number":1}\r', '{"number":', '{"number":3}'])
  })
})

describe('CSV', () => {
  const source = { format: 'csv', columns: ['at', 'number'] }

  test('is as it is but for the line that names the columns', async () => {
    const body = '\ufeffat,number\r\n2026-01-01T00:00:00Z,1\r\n\r\n"a\nb",2'
    expect(await textsOf({ body, type: 'text/csv', source })).toEqual([
      '2026-01-01T00:00:00Z,1\n"a\nb",2\n',
    ])
  })

  test('has as many lines before it as the source says', async () => {
    const texts = await textsOf({ body: 'a,1\nb,2\n', source: { ...source, headerLines: 0 } })
    expect(texts).toEqual(['a,1\nb,2\n'])
    expect(
      await textsOf({ body: '# x\nat,number\n', source: { ...source, headerLines: 2 } }),
    ).toEqual([])
  })

  test('is UTF-8, whatever it was', async () => {
    const body = Buffer.from('at,number\nK\xf6ln,1\n', 'latin1')
    expect(await textsOf({ body, type: 'text/csv; charset="ISO-8859-1"', source })).toEqual([
      'Köln,1\n',
    ])
    const failure = await failureOf({ body, type: 'text/csv', source })
    expect(failure.message).toBe('the answer is not utf-8 throughout')
  })

  test('is refused by a stream that reads JSON', async () => {
    expect(await failureOf({ body: 'a,1', type: 'text/csv' })).toBeInstanceOf(SourceRefused)
  })

  test('whose quotes are broken is one message', async () => {
    const body = 'at,number\n"never closed,1\n'
    expect(await textsOf({ body, source })).toEqual([body])
  })
})

test('other formats are as they are', async () => {
  const { api, rounds } = await served({
    body: Buffer.from([0xa1, 0x61, 0x6e, 0x01]),
    source: { format: 'cbor' },
  })
  await using _ = api
  expect(await rounds.round()).toMatchObject([{ payload: Buffer.from([0xa1, 0x61, 0x6e, 0x01]) }])
})

test('a web page is no reading', async () => {
  const failure = await failureOf({ body: '<html>', type: 'text/html; charset=utf-8' })
  expect(failure.message).toContain('web page')
})
