import { describe, expect, test } from 'vitest'
import { ConsoleBrowser, type CurrentSession, signedIn } from '../support/console-browser.ts'
import { metricOf } from '../support/metrics.ts'
import { createKey, newPerson, personOf, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()
const admin = { apiKey: adminKey, apiSecret: adminSecret }
const base = () => service.process.http

interface ShownSession {
  readonly id: string
  readonly apiKeyId: string
  readonly keyName: string
  readonly address: string
  readonly current: boolean
}

function hoursUntil(text: string): number {
  return (Date.parse(text) - Date.now()) / 3_600_000
}

async function sessionsOf(browser: ConsoleBrowser): Promise<readonly ShownSession[]> {
  return (await browser.ask<readonly ShownSession[]>('GET', '/console/sessions')).body
}

describe('signing in', () => {
  test('sets a cookie that no script reads and no other site sends', async () => {
    const answer = await new ConsoleBrowser(base()).signIn(admin)

    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^streamvault-[0-9a-f]{12}=[\w-]{43}; /)
    expect(cookie.split('; ').slice(1).toSorted()).toEqual(
      ['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Strict'].toSorted(),
    )
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('tells the page who it is, what it may do, until when, and of which service', async () => {
    const person = await newPerson(service.api, { permission: 'read_only' })
    const browser = new ConsoleBrowser(base())
    const { body } = await browser.signIn(person.key)

    expect(body).toMatchObject({
      user: { id: person.userId },
      apiKeyId: person.key.apiKey,
      scopes: person.key.scopes,
      service: { store: 'duckdb', mail: false, mqtts: null },
    })
    expect(hoursUntil(body.expiresAt)).toBeCloseTo(7 * 24, 1)
    expect(hoursUntil(body.idleExpiresAt)).toBeCloseTo(12, 1)
    const read = await browser.ask<CurrentSession>('GET', '/console/session')
    expect(read.body).toMatchObject({ id: body.id, user: body.user, service: body.service })
  })

  test.each([
    ['a wrong secret', { apiKey: adminKey, apiSecret: 'wrong' }],
    ['a key that there is not', { apiKey: 'sv_live_none', apiSecret: adminSecret }],
  ])('is refused with %s as for a token', async (_, wrong) => {
    const { status, body, headers } = await new ConsoleBrowser(base()).signIn(wrong)
    const token = await service.api.request<{ message: string }>('POST', '/auth/token', {
      body: wrong,
    })

    expect([status, body.error, body.message]).toEqual([401, 'invalid_api_key', token.body.message])
    expect(headers.getSetCookie()).toEqual([])
  })

  test('is limited as tokens are, and the limit is one', async () => {
    const { key } = await newPerson(service.api)
    const browser = new ConsoleBrowser(base())
    const wrong = { ...key, apiSecret: 'wrong' }
    for (let failure = 0; failure < 10; failure++) await browser.signIn(wrong)

    const limited = await browser.signIn(key)
    const ofToken = await service.api.request('POST', '/auth/token', {
      body: { apiKey: key.apiKey, apiSecret: key.apiSecret },
    })

    expect([limited.status, limited.body.error]).toEqual([429, 'rate_limited'])
    expect(ofToken.status).toBe(429)
  })

  test('is not for keys of devices, nor for those that devices register with', async () => {
    const person = await newPerson(service.api)
    const streamId = await streamOf(person)
    const stream = await person.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)
    const device = await person.withKey<typeof person.key>('POST', '/devices', {
      name: 'boiler',
      streamIds: [streamId],
    })
    const definition = { type: 'iot_sensor', schema: { temperature: { type: 'number' } } }
    const line = await person.withKey<typeof person.key>(
      'POST',
      `/vaults/${stream.body.vaultId}/provisioning-keys`,
      { name: 'line', definition, devicesMax: 1 },
    )

    for (const { body } of [device, line]) {
      const refused = await new ConsoleBrowser(base()).signIn(body)
      expect([refused.status, refused.body.error]).toEqual([401, 'invalid_api_key'])
      expect(refused.body.message).toContain('the console')
    }
  })
})

describe('a session', () => {
  test('does what its key does, in the interface that its page speaks', async () => {
    const person = await newPerson(service.api)
    const browser = await signedIn(base(), person.key)
    const streamId = await streamOf(person)

    const asToken = await browser.ask<readonly { streamId: string }[]>('GET', '/streams')
    const asKey = await browser.ask<object>('GET', '/streams', undefined, {
      'x-streamvault-interface': 'header-key',
    })
    const posted = await browser.ask('POST', `/streams/${streamId}/data`, { temperature: 21 })

    expect(asToken.body.map((one) => one.streamId)).toEqual([streamId])
    expect(asKey.body).toHaveProperty('total_records', 0)
    expect(posted.status).toBe(202)
  })

  test('may do no more than its key', async () => {
    const person = await newPerson(service.api, { permission: 'read_only' })
    const browser = await signedIn(base(), person.key)

    const refused = await browser.ask('POST', '/templates', { name: 'a', hint: '' })

    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_permissions'])
  })

  test('answers what a token grants, where a token is asked about', async () => {
    const person = await newPerson(service.api)
    const browser = await signedIn(base(), person.key)

    const { status, body } = await browser.ask<object>('GET', '/auth/validate')

    expect(status).toBe(200)
    expect(body).toMatchObject({ valid: true, userId: person.userId })
  })

  test('ends with signing out, and its cookie goes', async () => {
    const browser = await signedIn(base(), admin)
    const out = await browser.ask('DELETE', '/console/session')

    expect(out.status).toBe(204)
    expect(out.headers.getSetCookie()[0]).toContain('Max-Age=0')
    const { status, body } = await browser.ask('GET', '/console/session')
    expect([status, body.error]).toEqual([401, 'session_expired'])
  })

  test('ends with its key', async () => {
    const person = await newPerson(service.api)
    const key = await createKey(service.api, { userId: person.userId })
    const browser = await signedIn(base(), key)
    await person.withKey('DELETE', `/keys/${key.apiKey}`)

    const { body } = await browser.ask('GET', '/vaults')

    expect(body.error).toBe('session_expired')
  })

  test('ends with its user', async () => {
    const person = await newPerson(service.api)
    const browser = await signedIn(base(), person.key)
    await service.api.withKey('DELETE', `/users/${person.userId}`)

    const { body } = await browser.ask('GET', '/vaults')

    expect(body.error).toBe('session_expired')
  })

  test('ends with the secret that it was made with: after the overlap, and not before', async () => {
    const person = await newPerson(service.api)
    const browser = await signedIn(base(), person.key)
    const at = `/keys/${person.key.apiKey}/rotate`
    const rotated = await person.withKey<typeof person.key>('POST', at, { overlapSeconds: 3_600 })
    const during = await browser.ask('GET', '/vaults')
    const newer = await signedIn(base(), rotated.body)
    const renewed = personOf(service.api, rotated.body)
    await renewed.withKey('POST', at, { overlapSeconds: 3_600 })

    const after = await browser.ask('GET', '/vaults')
    const ofNewer = await newer.ask('GET', '/vaults')

    expect(during.status).toBe(200)
    expect([after.status, after.body.error]).toEqual([401, 'session_expired'])
    expect(ofNewer.status).toBe(200)
  })

  test('that is the 21st of its key ends the one that was not used for longest', async () => {
    const person = await newPerson(service.api)
    const first = await signedIn(base(), person.key)
    const second = await signedIn(base(), person.key)
    for (let more = 0; more < 18; more++) await signedIn(base(), person.key)
    await first.ask('GET', '/vaults')
    const newest = await signedIn(base(), person.key)

    expect((await second.ask('GET', '/vaults')).body.error).toBe('session_expired')
    expect((await first.ask('GET', '/vaults')).status).toBe(200)
    expect(await sessionsOf(newest)).toHaveLength(20)
  })

  test('is counted', async () => {
    const before = await metricOf(service.process, 'console_sessions')
    await signedIn(base(), (await newPerson(service.api)).key)

    expect(await metricOf(service.process, 'console_sessions')).toBe(before + 1)
  })
})

describe('the list of sessions', () => {
  test('shows those of the own key, and no secret', async () => {
    const person = await newPerson(service.api, { permission: 'read_only', name: 'phone' })
    const other = await createKey(service.api, { userId: person.userId })
    const browser = await signedIn(base(), person.key)
    await signedIn(base(), person.key)
    await signedIn(base(), other)

    const sessions = await sessionsOf(browser)

    expect(sessions.map(({ current }) => current)).toEqual([true, false])
    expect(sessions[0]).toMatchObject({
      apiKeyId: person.key.apiKey,
      keyName: 'phone',
      address: '127.0.0.1',
    })
    expect(JSON.stringify(sessions)).not.toContain(browser.cookie.split('=')[1])
  })

  test('shows those of all keys of the user to who may administer them, page by page', async () => {
    const person = await newPerson(service.api)
    const other = await createKey(service.api, { userId: person.userId })
    const stranger = await newPerson(service.api)
    const browser = await signedIn(base(), person.key)
    await signedIn(base(), other)
    await signedIn(base(), stranger.key)

    const all = await sessionsOf(browser)
    const first = await browser.ask<readonly ShownSession[]>('GET', '/console/sessions?limit=1')
    const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const second = await browser.ask<readonly ShownSession[]>('GET', next)

    expect(all.map(({ apiKeyId }) => apiKeyId)).toEqual([person.key.apiKey, other.apiKey])
    expect([...first.body, ...second.body].map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect(second.headers.get('link')).toBeNull()
  })

  test('is where another browser is signed out', async () => {
    const person = await newPerson(service.api)
    const [own, lost] = [
      await signedIn(base(), person.key),
      await signedIn(base(), person.key),
    ] as const
    const { id = '' } = (await sessionsOf(own)).find(({ current }) => !current) ?? {}

    expect((await own.ask('DELETE', `/console/sessions/${id}`)).status).toBe(204)
    expect((await lost.ask('GET', '/vaults')).body.error).toBe('session_expired')
    expect((await own.ask('DELETE', `/console/sessions/${id}`)).status).toBe(404)
    expect((await own.ask('GET', '/vaults')).status).toBe(200)
  })
})

test('both ends of a session are in the audit log, with who, where and why', async () => {
  const person = await newPerson(service.api)
  const browser = await signedIn(base(), person.key)
  const [session] = await sessionsOf(browser)
  await browser.ask('DELETE', '/console/session')

  const { body } = await service.api.withKey<readonly Readonly<Record<string, unknown>>[]>(
    'GET',
    `/audit?userId=${person.userId}&limit=2`,
  )

  const known = {
    actorUserId: person.userId,
    actorKeyId: person.key.apiKey,
    subjectId: session?.id,
    address: '127.0.0.1',
  }
  expect(body).toMatchObject([
    { ...known, action: 'console_session.ended', details: { reason: 'signed_out' } },
    { ...known, action: 'console_session.created', details: {} },
  ])
})

describe('what follows a stream in a session', () => {
  test.each([
    ['readings', async (streamId: string) => `/streams/${streamId}/tail`],
    ['the inbox', async () => '/notifications/in-app/stream'],
  ])('ends with it: %s', async (_, pathOf) => {
    const person = await newPerson(service.api)
    const browser = await signedIn(base(), person.key)
    const path = await pathOf(await streamOf(person))
    const tail = await fetch(base() + path, { headers: browser.page })
    expect(tail.status).toBe(200)
    await browser.ask('DELETE', '/console/session')

    expect(await tail.text()).toContain('"session_expired"')
  })
})
