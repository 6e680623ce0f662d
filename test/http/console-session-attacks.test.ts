import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ConsoleBrowser, signedIn } from '../support/console-browser.ts'
import { exported } from '../support/exports.ts'
import { ForeignResources } from '../support/foreign-resources.ts'
import {
  type Json,
  nameOf,
  neededQuery,
  type Operation,
  operationsOf,
} from '../support/openapi-operations.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { startedServices } from '../support/started-services.ts'

const friend = 'https://friend.example'
const publicUrl = 'https://vault.example'
const service = runningService({
  STREAMVAULT_CORS_ORIGINS: friend,
  STREAMVAULT_PUBLIC_URL: publicUrl,
})
const others = startedServices()
const base = () => service.process.http
let person: Person
let browser: ConsoleBrowser

beforeAll(async () => {
  person = await newPerson(service.api)
  browser = await signedIn(base(), person.key)
})

const template = { name: 'boiler', hint: '', required_streams: [] }

/** A page at another port of the host of the service. */
function neighbour(): string {
  const url = new URL(base())
  url.port = String(Number(url.port) - 1)
  return url.origin
}

/** Origins that no page of the service has. */
const foreign: readonly (readonly [string, () => string])[] = [
  ['another port', neighbour],
  ['another scheme', () => base().replace('http:', 'https:')],
  ['another host', () => 'https://evil.example'],
  ['none, as a sandboxed page has', () => 'null'],
  ['one that may call with credentials of its own', () => friend],
  ['our own as a prefix', () => `${base()}.evil.example`],
  ['nothing', () => ''],
]

describe('a change that a page asks for', () => {
  test('of the service is done, by its Host or its public address', async () => {
    const own = await browser.ask('POST', '/templates', template)
    const byPublicUrl = await browser.ask('POST', '/templates', template, { origin: publicUrl })

    expect([own.status, byPublicUrl.status]).toEqual([201, 201])
  })

  test.each(foreign)('of another origin is not: %s', async (_, origin) => {
    for (const method of ['PUT', 'DELETE']) {
      const at = `/vaults/${person.userId}`
      const { status, body } = await browser.ask(method, at, undefined, { origin: origin() })
      expect([method, status, body.error]).toEqual([method, 403, 'origin_not_allowed'])
    }
    const posted = await browser.ask('POST', '/templates', template, { origin: origin() })
    expect([posted.status, posted.body.error]).toEqual([403, 'origin_not_allowed'])
  })

  test('without any origin is not', async () => {
    const { cookie } = browser
    const headers = { cookie, 'x-streamvault-interface': 'bearer' }
    const { status, body } = await browser.send('POST', '/templates', headers, template)

    expect([status, body.error]).toEqual([403, 'origin_not_allowed'])
  })
})

describe('a request with the cookie', () => {
  test.each(['GET', 'HEAD', 'POST'])('is nobody without the header: %s', async (method) => {
    const { cookie, origin } = browser.page as { cookie: string; origin: string }
    const answer = await browser.send(
      method,
      '/templates',
      { cookie, origin },
      method === 'POST' ? template : undefined,
    )

    expect(answer.status).toBe(401)
    if (method !== 'HEAD') expect(answer.body.error).toBe('missing_credentials')
  })

  test.each(['', 'token', 'Bearer', 'bearer, header-key'])(
    'speaks no interface that is called %j',
    async (name) => {
      const { status, body } = await browser.ask('GET', '/templates', undefined, {
        'x-streamvault-interface': name,
      })

      expect([status, body.error]).toEqual([400, 'invalid_request'])
      expect(body.message).toContain('x-streamvault-interface')
    },
  )

  test('and a key is of the key, whatever the cookie and its page are', async () => {
    const other = await newPerson(service.api)
    const { apiKey, apiSecret } = other.key
    const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret, origin: friend }
    const ofKey = await browser.ask<{ id: string }>('POST', '/templates', template, headers)
    const wrong = await browser.ask('GET', '/templates', undefined, {
      'x-api-key': apiKey,
      'x-api-secret': 'wrong',
    })
    const half = await browser.ask('GET', '/templates', undefined, { 'x-api-secret': apiSecret })

    expect(ofKey.status).toBe(201)
    expect((await other.withKey('GET', `/templates/${ofKey.body.id}`)).status).toBe(200)
    expect((await person.withKey('GET', `/templates/${ofKey.body.id}`)).status).toBe(404)
    expect([wrong.status, half.status]).toEqual([401, 401])
  })

  test('and a token is of the token', async () => {
    const other = await newPerson(service.api)
    const authorization = `Bearer ${await other.token()}`
    const { body } = await browser.ask<{ userId: string }>('GET', '/auth/validate', undefined, {
      authorization,
    })

    expect(body.userId).toBe(other.userId)
  })

  test('says nothing about a session to who has a key', async () => {
    const { apiKey, apiSecret } = person.key
    const { status, body } = await browser.ask('GET', '/console/session', undefined, {
      'x-api-key': apiKey,
      'x-api-secret': apiSecret,
    })

    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(body.message).toMatch(/^this operation needs the cookie/)
  })

  test('that comes twice is nobody', async () => {
    const { cookie } = await signedIn(base(), (await newPerson(service.api)).key)
    for (const both of [`${cookie}; ${browser.cookie}`, `${browser.cookie}; ${cookie}`]) {
      const { status } = await browser.ask('GET', '/templates', undefined, { cookie: both })
      expect(status).toBe(401)
    }
  })

  test('beside cookies of others is its own', async () => {
    const cookie = `a=b; ${browser.cookie}; streamvault-000000000000=abc`
    expect((await browser.ask('GET', '/templates', undefined, { cookie })).status).toBe(200)
  })

  test.each([
    ['made up', () => `${nameOfCookie()}=${'A'.repeat(43)}`],
    ['empty', () => `${nameOfCookie()}=`],
    ['of the name that TLS has', () => `__Host-${browser.cookie}`],
    ['with more behind it', () => `${browser.cookie}A`],
  ])('that is %s is nobody', async (_, cookie) => {
    const { status } = await browser.ask('GET', '/templates', undefined, { cookie: cookie() })
    expect(status).toBe(401)
  })

  test('opens no WebSocket, from whatever page', async () => {
    const streamId = await streamOf(person)
    const url = `${base().replace('http', 'ws')}/streams/${streamId}/tail`
    const refusal = await new Promise((resolve, reject) => {
      const socket = new WebSocket(url, ['streamvault.v1'], { headers: browser.page })
      socket.once('open', () => reject(new Error('it was let in')))
      socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode))
      socket.once('error', reject)
    })

    expect(refusal).toBe(401)
  })
})

function nameOfCookie(): string {
  return browser.cookie.split('=')[0] ?? ''
}

describe('a page of an allowed origin', () => {
  test('is not told that it may send the cookie, or the header that it needs', async () => {
    const answer = await fetch(`${base()}/templates`, {
      method: 'OPTIONS',
      headers: { origin: friend, 'access-control-request-method': 'POST' },
    })

    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    expect(answer.headers.get('access-control-allow-headers')).not.toContain('interface')
  })
})

describe('signing in', () => {
  test.each(foreign)('is for no page of another origin: %s', async (_, origin) => {
    const { status, body, headers } = await new ConsoleBrowser(base()).signIn(person.key, {
      origin: origin(),
    })

    expect([status, body.error]).toEqual([403, 'origin_not_allowed'])
    expect(headers.getSetCookie()).toEqual([])
  })

  test('needs an origin and the header', async () => {
    const { origin } = browser.page
    const { apiKey, apiSecret } = person.key
    const send = (headers: Readonly<Record<string, string>>) =>
      browser.send('POST', '/console/session', headers, { apiKey, apiSecret })

    expect((await send({ 'x-streamvault-interface': 'bearer' })).status).toBe(403)
    expect((await send({ origin: origin ?? '' })).status).toBe(400)
  })

  test('takes no id that the browser came with, and keeps none', async () => {
    const fixed = new ConsoleBrowser(base())
    fixed.cookie = `${nameOfCookie()}=${'B'.repeat(43)}`
    const planted = fixed.cookie
    await fixed.signIn(person.key)

    expect(fixed.cookie).not.toBe(planted)
    expect((await fixed.ask('GET', '/templates', undefined, { cookie: planted })).status).toBe(401)
    expect((await fixed.ask('GET', '/templates')).status).toBe(200)
  })

  test('again gives a new id, and ends the old one', async () => {
    const again = await signedIn(base(), person.key)
    const before = again.cookie
    await again.signIn(person.key)

    expect(again.cookie).not.toBe(before)
    const { body } = await again.ask('GET', '/templates', undefined, { cookie: before })
    expect(body.error).toBe('session_expired')
  })

  test('with a wrong secret ends nothing', async () => {
    const kept = await signedIn(base(), person.key)
    await kept.signIn({ ...person.key, apiSecret: 'wrong' })

    expect((await kept.ask('GET', '/templates')).status).toBe(200)
  })
})

test('a cookie is of no use after signing out', async () => {
  const gone = await signedIn(base(), person.key)
  const { cookie } = gone
  await gone.ask('DELETE', '/console/session')
  const answers = [
    await gone.ask('GET', '/console/session', undefined, { cookie }),
    await gone.ask('POST', '/templates', template, { cookie }),
    await gone.ask('DELETE', '/console/session', undefined, { cookie }),
    await gone.send('GET', `/streams/${person.userId}/data`, { cookie }),
  ]

  expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
    answers.map(() => [401, 'session_expired']),
  )
})

test('nobody ends a session of somebody else, nor finds it', async () => {
  const stranger = await signedIn(base(), (await newPerson(service.api)).key)
  const [session] = (await browser.ask<readonly { id: string }[]>('GET', '/console/sessions')).body
  const { status } = await stranger.ask('DELETE', `/console/sessions/${session?.id}`)

  expect(status).toBe(404)
  expect((await browser.ask('GET', '/templates')).status).toBe(200)
})

test('two services on one host have two cookies, and each takes its own', {
  timeout: 120_000,
}, async () => {
  const other = await others.start(others.newFolder())
  const admin = {
    apiKey: 'sv_test_admin',
    apiSecret: 'a-secret-of-more-than-32-characters-for-tests',
  }
  const [one, two] = [await signedIn(base(), admin), await signedIn(other.http, admin)] as const
  expect(one.cookie.split('=')[0]).not.toBe(two.cookie.split('=')[0])
  const cookie = `${one.cookie}; ${two.cookie}`

  expect((await one.ask('GET', '/templates', undefined, { cookie })).status).toBe(200)
  expect((await two.ask('GET', '/templates', undefined, { cookie })).status).toBe(200)
  await one.ask('DELETE', '/console/session', undefined, { cookie })
  expect((await one.ask('GET', '/templates', undefined, { cookie })).status).toBe(401)
  expect((await two.ask('GET', '/templates', undefined, { cookie })).status).toBe(200)
})

describe('a file', () => {
  let document: readonly Operation[]
  let alone: Readonly<Record<string, string>>

  beforeAll(async () => {
    document = operationsOf((await service.api.request<Json>('GET', '/openapi.json')).body)
    alone = { cookie: browser.cookie }
  })

  /** Operations that answer a file, as the document says. */
  function files(): readonly Operation[] {
    return document.filter(
      ({ method, security, responses }) =>
        method === 'GET' &&
        security.length > 0 &&
        ['*/*', 'text/csv'].some((type) => responses['200']?.content?.[type] !== undefined),
    )
  }

  test('is given to the cookie alone, and saved: every operation that answers one', async () => {
    const resources = new ForeignResources(service, person)
    const verdicts: unknown[] = []
    for (const operation of files()) {
      const path = (await resources.pathOf(operation.path)) + neededQuery(operation)
      const answer = await fetch(base() + path, { headers: alone })
      const disposition = answer.headers.get('content-disposition') ?? ''
      const sniffing = answer.headers.get('x-content-type-options')
      verdicts.push([
        nameOf(operation),
        answer.status,
        disposition.startsWith('attachment'),
        sniffing,
      ])
      await answer.arrayBuffer()
    }

    expect(verdicts).toEqual(files().map((one) => [nameOf(one), 200, true, 'nosniff']))
    expect(verdicts.length).toBeGreaterThan(8)
  })

  test('of readings is CSV, whatever a browser likes, and called as the stream', async () => {
    const streamId = await streamOf(person)
    await person.withToken('POST', `/streams/${streamId}/data`, { temperature: 21 })
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const path = `${base()}/streams/${streamId}/data`
    const csv = await fetch(path, { headers: { ...alone, accept } })
    const lines = await fetch(path, { headers: { ...alone, accept: 'application/x-ndjson' } })

    expect(csv.headers.get('content-type')).toContain('text/csv')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="temperature.csv"')
    expect(lines.headers.get('content-type')).toBe('application/x-ndjson')
    const asPage = await browser.ask<object>('GET', `/streams/${streamId}/data`)
    expect(asPage.body).toHaveProperty('data')
  })

  test('that there is not is no page either', async () => {
    const answer = await fetch(`${base()}/attachments/${person.userId}/content`, { headers: alone })

    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-disposition')).toBe('attachment')
  })

  test.each(['cross-site', 'same-site'])(
    'is not given to a page elsewhere that the browser tells of: %s',
    async (site) => {
      const job = await exported(person, { streamIds: [await streamOf(person)], format: 'csv' })
      const path = `${base()}/exports/${job.exportId}/files/none`
      const asked = async (from: string) =>
        (await fetch(path, { headers: { ...alone, 'sec-fetch-site': from } })).status

      expect([await asked(site), await asked('none'), await asked('same-origin')]).toEqual([
        401, 404, 404,
      ])
    },
  )

  test('is all that the cookie alone is given: no other operation takes it', async () => {
    const taken: string[] = []
    const rest = document.filter(
      (one) => one.security.length > 0 && !files().includes(one) && one.method === 'GET',
    )
    for (const operation of rest) {
      const path = operation.path.replaceAll(/\{\w+\}/g, person.userId) + neededQuery(operation)
      const { status } = await fetch(base() + path, { headers: alone })
      if (status !== 401) taken.push(nameOf(operation))
    }

    expect(taken).toEqual([])
    expect(rest.length).toBeGreaterThan(30)
  })
})
