import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { expect, test } from 'vitest'
import { makeCertificate } from '../support/certificate.ts'
import { ConsoleBrowser, signedIn } from '../support/console-browser.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()
const admin = { apiKey: adminKey, apiSecret: adminSecret }

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a session is there after %s, and one that was ended is not',
  async (signal) => {
    const dataDir = services.newFolder()
    const before = await services.start(dataDir)
    const kept = await signedIn(before.http, admin)
    const ended = await signedIn(before.http, admin)
    await ended.ask('DELETE', '/console/session')
    await before.end(signal)

    const { http } = await services.start(dataDir)
    const asked = async ({ cookie }: ConsoleBrowser) => {
      const again = new ConsoleBrowser(http)
      again.cookie = cookie
      return (await again.ask('GET', '/console/session')).status
    }
    expect([await asked(kept), await asked(ended)]).toEqual([200, 401])
  },
)

test('a bootstrap secret that was set anew ends the sessions of the one before', async () => {
  const dataDir = services.newFolder()
  const before = await services.start(dataDir)
  const { cookie } = await signedIn(before.http, admin)
  await before.end('SIGTERM')

  const other = 'another-secret-of-more-than-32-characters'
  const { http } = await services.start(dataDir, { STREAMVAULT_ADMIN_SECRET: other })
  const again = new ConsoleBrowser(http)
  again.cookie = cookie
  const { status, body } = await again.ask('GET', '/console/session')
  expect([status, body.error]).toEqual([401, 'session_expired'])
  expect((await again.signIn({ apiKey: adminKey, apiSecret: other })).status).toBe(200)
})

/** The answer of a service with a certificate of its own. */
async function secureAnswer(
  base: string,
  ca: string,
  asked: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  },
): Promise<IncomingMessage> {
  const { method, headers, body } = asked
  const sent = { ...headers, 'content-type': 'application/json' }
  const outgoing = request(`${base}/console/session`, { method, headers: sent, ca, agent: false })
  outgoing.end(body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  incoming.resume()
  return incoming
}

test('over TLS the cookie is sent over TLS only, and none without it can take its place', async () => {
  const certificate = makeCertificate(services.newFolder())
  const { http } = await services.start(services.newFolder(), {
    STREAMVAULT_TLS_CERT: certificate.certPath,
    STREAMVAULT_TLS_KEY: certificate.keyPath,
  })
  const page = { origin: http, 'x-streamvault-interface': 'bearer' }
  const ask = (method: string, cookie: string, body?: string) =>
    secureAnswer(http, certificate.authority, {
      method,
      headers: { ...page, cookie },
      ...(body !== undefined && { body }),
    })
  const answer = await ask('POST', '', JSON.stringify(admin))

  const [cookie = ''] = answer.headers['set-cookie'] ?? []
  expect(cookie).toMatch(/^__Host-streamvault-[0-9a-f]{12}=/)
  expect(cookie.split('; ')).toEqual(expect.arrayContaining(['Secure', 'Path=/', 'HttpOnly']))
  expect(cookie).not.toContain('Domain')
  const own = cookie.split(';')[0] ?? ''
  expect((await ask('GET', own)).statusCode).toBe(200)
  expect((await ask('GET', own.replace('__Host-', ''))).statusCode).toBe(401)
})

test.each([
  ['a proxy that is trusted', '127.0.0.1', '__Host-streamvault-', 200],
  ['a proxy that is not', '', 'streamvault-', 403],
])('what %s says of TLS counts accordingly', async (_, trusted, name, status) => {
  const { http } = await services.start(services.newFolder(), {
    STREAMVAULT_TRUST_PROXY: trusted,
  })
  const behind = new ConsoleBrowser(http)
  const forwarded = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'vault.example',
    'x-forwarded-for': '192.0.2.7',
  }
  const answer = await behind.signIn(admin, { ...forwarded, origin: 'https://vault.example' })
  expect(answer.status).toBe(status)
  const plain = await new ConsoleBrowser(http).signIn(admin, trusted === '' ? forwarded : {})
  const set = [...answer.headers.getSetCookie(), ...plain.headers.getSetCookie()][0] ?? ''

  expect(set.startsWith(name)).toBe(true)
  expect(set.includes('Secure')).toBe(trusted !== '')
})
