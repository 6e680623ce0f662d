import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'
import { withoutSecrets } from '../../../src/streams/data-streams/source-secrets.ts'

/** The paths of what is wrong with a source that is asked on a schedule, sorted. */
function wrong(source: object): string[] {
  const found: ErrorDetail[] = []
  parseSource({ ...base, ...source }, 'api_pull', found)
  return found.map(({ path }) => path).toSorted()
}

const base = { endpoint: 'https://weather.example/v1', schedule: '*/5 * * * *' }
const cursor = { type: 'cursor', parameter: 'after', cursorPath: 'meta.next' }
const post = { method: 'POST', body: { since: 1 } }
const oauth = {
  type: 'oauth2',
  tokenUrl: 'https://id.example/token',
  clientId: 'a',
  clientSecret: 'b',
}

describe('a source of the type api_pull', () => {
  test.each<object>([
    { headers: { 'X-Plant': 'seven', Authorization: 'Custom abc', Cookie: 'a=b' } },
    { ...post, headers: { 'content-type': 'application/soap+xml' } },
    { method: 'PUT', body: '<soap/>' },
    { timeout: '1h' },
    { timeout: '3600s' },
    { pagination: { type: 'page', firstPage: 0, parameter: 'p' } },
    { pagination: { type: 'offset', pageSize: 100, sizeParameter: 'limit' } },
    { pagination: cursor },
    { ...post, pagination: { ...cursor, in: 'body' } },
    { method: 'POST', pagination: { type: 'page', in: 'body' } },
    { pagination: { type: 'link', pageSize: 100, sizeParameter: 'per_page' } },
    { format: 'csv', columns: ['at', 'number', null], delimiter: ';', headerLines: 2 },
    { format: 'cbor' },
    { tls: { servername: 'api.example' } },
    { authentication: { type: 'apiKey', name: 'a b', value: 'ä€', in: 'query' } },
    { authentication: { ...oauth, secretIn: 'body' } },
    { authentication: withoutSecrets({ authentication: oauth })['authentication'] },
    { headers: withoutSecrets({ headers: { 'x-key': 'hush' } })['headers'] },
  ])('can be %j', (source) => {
    expect(wrong(source)).toEqual([])
  })

  test.each<[object, string]>([
    [{ headers: { Host: 'other.example' } }, 'headers.Host'],
    [{ headers: { 'content-length': '1' } }, 'headers.content-length'],
    [{ headers: { 'Transfer-Encoding': 'chunked' } }, 'headers.Transfer-Encoding'],
    [{ headers: { connection: 'close' } }, 'headers.connection'],
    [{ headers: { 'if-none-match': '"a"' } }, 'headers.if-none-match'],
    [{ headers: { 'accept-encoding': 'x' } }, 'headers.accept-encoding'],
    [{ headers: { 'proxy-authorization': 'x' } }, 'headers.proxy-authorization'],
    [{ headers: { 'x key': 'a' } }, 'headers.x key'],
    [{ headers: { 'x-key': 'a\r\nhost: other.example' } }, 'headers.x-key'],
    [{ headers: { 'x-key': '€' } }, 'headers.x-key'],
    [{ headers: { 'x-key': 'a', 'X-Key': 'b' } }, 'headers.X-Key'],
    [{ body: 'a' }, 'body'],
    [{ ...post, body: 'x'.repeat(70_000) }, 'body'],
    [{ timeout: '61m' }, 'timeout'],
    [{ timeout: '99999d' }, 'timeout'],
    [{ authentication: { type: 'bearer', token: 'a\nb' } }, 'authentication.token'],
    [{ authentication: { type: 'apiKey', name: 'host', value: 'b' } }, 'authentication.name'],
    [{ authentication: { type: 'apiKey', name: 'x', value: 'a\nb' } }, 'authentication.value'],
    [{ authentication: { ...oauth, secretIn: 'query' } }, 'authentication.secretIn'],
    [{ authentication: { ...oauth, tokenUrl: 'ftp://id.example' } }, 'authentication.tokenUrl'],
    [{ pagination: { ...cursor, cursorPath: undefined } }, 'pagination.cursorPath'],
    [{ pagination: { ...cursor, parameter: undefined } }, 'pagination.parameter'],
    [{ pagination: { type: 'page', cursorPath: 'a' } }, 'pagination.cursorPath'],
    [{ pagination: { type: 'page', firstPage: 2 } }, 'pagination.firstPage'],
    [{ pagination: { type: 'offset', firstPage: 0 } }, 'pagination.firstPage'],
    [{ pagination: { type: 'page', sizeParameter: 'n' } }, 'pagination.pageSize'],
    [{ pagination: { type: 'page', in: 'body' } }, 'pagination.in'],
    [{ method: 'POST', body: 'a', pagination: { type: 'page', in: 'body' } }, 'pagination.in'],
    [{ method: 'POST', pagination: { type: 'link' } }, 'pagination.type'],
    [{ pagination: { type: 'link', parameter: 'a' } }, 'pagination.parameter'],
    [{ headerLines: 1 }, 'headerLines'],
    [{ format: 'csv', headerLines: 11 }, 'headerLines'],
    [{ format: 'sparkplug' }, 'format'],
    [{ topic: 'a/b' }, 'topic'],
    [{ tls: { ca: 'no certificate' } }, 'tls.ca'],
    [{ endpoint: 'http://weather.example', tls: {} }, 'tls'],
  ])('cannot be %j: %s is named', (source, path) => {
    expect(wrong(source)).toEqual([`source.${path}`])
  })

  test('shows where a token comes from, and not what it is asked for with', () => {
    const shown = withoutSecrets({ authentication: { ...oauth, scope: 'read', secretIn: 'body' } })
    expect(shown).toEqual({
      authentication: { ...oauth, scope: 'read', secretIn: 'body', clientSecret: '********' },
    })
  })
})
