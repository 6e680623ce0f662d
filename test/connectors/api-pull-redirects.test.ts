import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer, json } from '../support/api-server.ts'
import { makeCertificate } from '../support/certificate.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const made = makeCertificate(folder.path)
const certificate = { cert: made.authority, key: readFileSync(made.keyPath, 'utf8') }

afterAll(() => folder[Symbol.dispose]())

describe('a redirect', () => {
  test.each([
    'http://10.0.0.1/',
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://127.0.0.1:1/',
    'http://0x7f.1:1/',
  ])('to %s is not followed', async (location) => {
    await using api = await ApiServer.start((_, answer) =>
      answer.writeHead(302, { location }).end(),
    )
    const failure = await new ApiRounds({ endpoint: api.origin }, [api.port]).failure()
    expect(failure).toMatchObject({ code: 'destination_not_allowed' })
  })

  test.each([
    ['in a circle', (origin: string) => `${origin}/`, 'more than 5 redirects'],
    ['to nowhere', () => 'http://', 'leads to no address'],
    ['out of HTTP', () => 'file:///etc/passwd', 'leads to an address of file:'],
    ['with credentials', () => 'http://a:b@127.0.0.1/', 'credentials in it'],
  ])('%s is not followed', async (_, target, reason) => {
    await using api = await ApiServer.start((_asked, answer) =>
      answer.writeHead(307, { location: target(api.origin) }).end(),
    )
    const failure = await new ApiRounds({ endpoint: api.origin }, [api.port]).failure()
    expect(failure).toBeInstanceOf(SourceRefused)
    expect(failure.message).toContain(reason)
    expect(api.asked.length).toBeLessThanOrEqual(6)
  })

  test('of a POST is not followed', async () => {
    await using api = await ApiServer.start((_, answer) =>
      answer.writeHead(307, { location: '/other' }).end(),
    )
    const source = { endpoint: api.origin, method: 'POST', body: 'secret' }
    const failure = await new ApiRounds(source, [api.port]).failure()
    expect(failure).toBeInstanceOf(SourceRefused)
    expect(api.asked).toHaveLength(1)
  })

  test('out of TLS is not followed', async () => {
    await using api = await ApiServer.start(
      (_, answer) => answer.writeHead(301, { location: api.origin.replace('https', 'http') }).end(),
      certificate,
    )
    const source = { endpoint: api.origin, tls: { ca: certificate.cert } }
    const failure = await new ApiRounds(source, [api.port]).failure()
    expect(failure.message).toContain('leads from https to http')
  })
})

describe('behind TLS an API', () => {
  const secure = async () =>
    await ApiServer.start((_, answer) => json(answer, '{"number": 1}'), certificate)

  test('is believed when the source names who has signed its certificate', async () => {
    await using api = await secure()
    const source = { endpoint: api.origin, tls: { ca: certificate.cert } }
    expect(await new ApiRounds(source, [api.port]).texts()).toEqual(['{"number": 1}'])
  })

  test.each([
    ['nobody known has signed its certificate', {}, 'self-signed certificate'],
    [
      'it is good for another name',
      { ca: certificate.cert, servername: 'api.example' },
      'altnames',
    ],
  ])('is not believed when %s', async (_, tls, reason) => {
    await using api = await secure()
    const failure = await new ApiRounds({ endpoint: api.origin, tls }, [api.port]).failure()
    expect(failure.message).toContain(reason)
    expect(api.asked).toEqual([])
  })
})
