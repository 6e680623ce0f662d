import { DatabaseSync } from 'node:sqlite'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sqlLiteral } from '../../connectors/fields/sql-literals.ts'
import { secretMark } from '../../src/contracts/definitions/secret-mark.ts'
import type { ErrorDetail } from '../../src/core/errors.ts'
import { expanded, withoutUnused } from '../../src/streams/data-streams/named-secrets.ts'
import { parseSource } from '../../src/streams/data-streams/source.ts'
import { secretsOf, withoutSecrets } from '../../src/streams/data-streams/source-secrets.ts'
import type { StreamType } from '../../src/streams/data-streams/stream-type.ts'

const rarely = '0 0 1 1 *'

/** What is wrong with a source, by its paths. */
function problemsOf(type: StreamType, source: object): readonly string[] {
  const found: ErrorDetail[] = []
  parseSource(source, type, found)
  return found.map(({ path }) => path)
}

const api = (rest: object) => ({ endpoint: 'https://api.example/v1', schedule: rarely, ...rest })

/** A secret with all that means something somewhere. */
const secretText = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
  fc
    .array(
      fc.constantFrom(...Array.from('/?#&=+%;"\'\\<>${}.:@ \n\ta0é€😀'), '%2e', '..', '${b}', '$&'),
      {
        minLength: 1,
        maxLength: 12,
      },
    )
    .map((parts) => parts.join('')),
)

const good = secretText.filter(
  (text) => text.isWellFormed() && !text.includes('\0') && text !== '.' && text !== '..',
)

/** A body as it is sent under a content type. */
const textOf = (type: string | undefined, body: string, a: string) =>
  String(
    expanded(
      api({
        method: 'POST',
        body,
        ...(type !== undefined && { headers: { 'Content-Type': type } }),
        secrets: { a },
      }),
    )['body'],
  )

describe('a secret in the place of its name', () => {
  test('is one part of the path, and one value of the query, and leads nowhere else', () => {
    fc.assert(
      fc.property(good, good, (a, b) => {
        const endpoint = 'https://api.example:8443/v1/${a}/x?key=${b}&b=${a}${b}'
        const source = api({ endpoint, secrets: { a, b } })
        expect(problemsOf('api_pull', source)).toEqual([])

        const url = new URL(String(expanded(source)['endpoint']))

        const parts = url.pathname.split('/').map(decodeURIComponent)
        expect([url.origin, ...parts]).toEqual(['https://api.example:8443', '', 'v1', a, 'x'])
        expect([...url.searchParams]).toEqual([
          ['key', b],
          ['b', a + b],
        ])
        expect(url.hash).toBe('')
      }),
    )
  })

  test('is the text that it is in a body of JSON, wherever it stands', () => {
    fc.assert(
      fc.property(good, good, (a, b) => {
        const body = { '${a}': ['${b}', { deep: 'x${a}y${b}' }], n: 1 }
        const source = api({ method: 'POST', body, secrets: { a, b } })

        expect(expanded(source)['body']).toEqual({ [a]: [b, { deep: `x${a}y${b}` }], n: 1 })
      }),
    )
  })

  test('is written in a text as its content type wants it', () => {
    fc.assert(
      fc.property(good, (a) => {
        const lines = JSON.parse(textOf('application/vnd.x+json', '{"k":"${a}"}', a)) as object
        expect(lines).toEqual({ k: a })
        const form = textOf('application/x-www-form-urlencoded; charset=utf-8', 'k=${a}&l=1', a)
        expect([...new URLSearchParams(form)]).toEqual([
          ['k', a],
          ['l', '1'],
        ])
        expect(textOf('text/xml', '<k>${a}</k>', a)).toMatch(/^<k>[^<>"']*<\/k>$/)
        for (const type of [undefined, 'text/plain']) expect(textOf(type, '${a}!', a)).toBe(`${a}!`)
      }),
    )
  })

  test('is a text in a statement, and no part of it', () => {
    const database = new DatabaseSync(':memory:')
    fc.assert(
      fc.property(good, (a) => {
        const query = 'SELECT ${a} AS found, 1 AS rest'
        const given = { protocol: 'sqlite', endpoint: '/data/x.db', query, secrets: { a } }
        const statement = String(expanded(given)['query'])
        expect(database.prepare(statement).all()).toEqual([{ found: a, rest: 1 }])
      }),
    )
    database.close()
  })

  test.each([
    ['postgres', "it's", "'it''s'"],
    ['postgres', "a\\'b", "E'a\\\\''b'"],
    ['mysql', "\\'", "CONVERT(X'5c27' USING utf8mb4)"],
    ['mariadb', 'x', "CONVERT(X'78' USING utf8mb4)"],
    ['mssql', "it's", "N'it''s'"],
  ])('is written for %s whatever its settings are: %s', (protocol, text, literal) => {
    expect(sqlLiteral(protocol, text)).toBe(literal)
  })

  test('is looked for once: what a secret says of others is text', () => {
    const secrets = { a: '${b}', b: 'two' }
    const headers = { 'x-one': '${a} ${b}' }

    expect(expanded(api({ headers, secrets }))['headers']).toEqual({ 'x-one': '${b} two' })
  })

  test('changes nothing in a source that has none', () => {
    const source = api({ headers: { 'x-a': '${a}' } })

    expect(expanded(source)).toBe(source)
  })
})

describe('the secrets of a source are refused', () => {
  const secrets = { a: 'hush' }
  test.each<[string, StreamType, object, string]>([
    ['a name of none', 'api_pull', api({ endpoint: 'https://a.example/${b}' }), 'source.endpoint'],
    [
      'a name of none in a header',
      'api_pull',
      api({ headers: { 'x-a': '${b}' } }),
      'source.headers.x-a',
    ],
    [
      'a name of none in a body',
      'api_pull',
      api({ method: 'POST', body: { k: ['${b}'] } }),
      'source.body',
    ],
    ['a wrong name', 'api_pull', api({ method: 'POST', body: '${my-token}' }), 'source.body'],
    ['one that is used nowhere', 'api_pull', api({ secrets }), 'source.secrets.a'],
    ['none', 'api_pull', api({ secrets: {} }), 'source.secrets'],
    ['no object', 'api_pull', api({ secrets: ['a'] }), 'source.secrets'],
    [
      'a name that nothing can stand for',
      'api_pull',
      api({ method: 'POST', body: '${a-b}', secrets: { 'a-b': 'hush' } }),
      'source.secrets.a-b',
    ],
    [
      'a number',
      'api_pull',
      api({ method: 'POST', body: '${a}', secrets: { a: 7 } }),
      'source.secrets.a',
    ],
    [
      'too long a text',
      'api_pull',
      api({ method: 'POST', body: '${a}', secrets: { a: 'x'.repeat(2_001) } }),
      'source.secrets.a',
    ],
    [
      'dots',
      'api_pull',
      api({ endpoint: 'https://a.example/v1/${a}', secrets: { a: '..' } }),
      'source.secrets.a',
    ],
    [
      'half a character',
      'api_pull',
      api({ method: 'POST', body: '${a}', secrets: { a: '\ud800' } }),
      'source.secrets.a',
    ],
    [
      'a header on two lines',
      'api_pull',
      api({ headers: { 'x-a': 'Bearer ${a}' }, secrets: { a: 'x\r\nhost: y' } }),
      'source.secrets.a',
    ],
    ...[
      'https://${a}/v1',
      'https://${a}.example/',
      'https://a.example:${a}/',
      'https://${a}@a.example/',
      'https://a.example/#${a}',
      '${a}://a.example/',
    ].map(
      (endpoint) =>
        [endpoint, 'api_pull', api({ endpoint, secrets }), 'source.endpoint'] as [
          string,
          StreamType,
          object,
          string,
        ],
    ),
    [
      'the path of a broker that has none',
      'iot_sensor',
      { endpoint: 'mqtt://a.example', topic: '${a}', secrets },
      'source.secrets.a',
    ],
    [
      'another statement',
      'database',
      { protocol: 'sqlite', endpoint: '/x.db', query: 'SELECT ${b}', schedule: rarely },
      'source.query',
    ],
    [
      'a kind of source that has no place for them',
      'event_stream',
      { protocol: 'kafka', endpoint: 'kafka://a.example', topic: 't', secrets },
      'source.secrets',
    ],
    [
      'an address that becomes too long',
      'iot_sensor',
      { protocol: 'coap', endpoint: 'coap://a.example/x?k=${a}', secrets: { a: 'x'.repeat(300) } },
      'source.endpoint',
    ],
    [
      'more than twenty',
      'api_pull',
      api({
        method: 'POST',
        body: Array.from({ length: 21 }, (_, at) => `\${s${at}}`).join(' '),
        secrets: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`s${at}`, 'x'])),
      }),
      'source.secrets',
    ],
  ])('%s', (_, type, source, path) => {
    expect(problemsOf(type, source)).toContain(path)
  })

  test.each<[string, StreamType, object]>([
    ['events', 'event_stream', { protocol: 'sse', endpoint: 'https://a.example/e?k=${a}' }],
    [
      'messages',
      'event_stream',
      { protocol: 'websocket', endpoint: 'wss://a.example/${a}', subscribe: { key: '${a}' } },
    ],
    [
      'a broker over a WebSocket',
      'iot_sensor',
      { endpoint: 'wss://a.example/mqtt?k=${a}', topic: 't' },
    ],
    ['a device', 'iot_sensor', { protocol: 'coap', endpoint: 'coap://a.example/x?k=${a}' }],
  ])('not where they are good for %s', (_, type, source) => {
    expect(problemsOf(type, { ...source, secrets })).toEqual([])
  })

  test('and {token} and {cursor} of a WebSocket stay what they are, also behind a dollar sign', () => {
    const socket = { protocol: 'websocket', endpoint: 'wss://a.example/' }
    const subscribe = 'pay ${token}'
    const credentials = { token: 'hush' }

    expect(problemsOf('event_stream', { ...socket, subscribe, credentials })).toEqual([])
    // And a secret of that name is one.
    const own = { ...socket, subscribe, secrets: { token: 'hush' } }
    expect(problemsOf('event_stream', own)).toEqual([])
  })
})

describe('secrets that are kept', () => {
  test('have marks in their places, and are read out of them', () => {
    const source = api({ endpoint: 'https://a.example/${a}', secrets: { a: 'hush' } })

    expect(withoutSecrets(source)).toEqual({ ...source, secrets: { a: secretMark } })
    expect(secretsOf(source)).toEqual({ 'secrets.a': 'hush' })
  })

  test('are forgotten when nothing uses them, headers included, whose texts are secrets, too', () => {
    const secrets = { a: secretMark, b: secretMark, c: 'new' }
    const source = api({ headers: { 'x-a': secretMark }, secrets })

    expect(withoutUnused(source, { 'headers.x-a': 'Key ${b}' })).toEqual({
      ...source,
      secrets: { b: secretMark, c: 'new' },
    })
    expect(withoutUnused(api({ secrets: { a: secretMark } }), {})).toEqual(api({}))
  })
})
