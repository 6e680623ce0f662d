import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { createUser, newPerson, newUsername, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

type Shown = Readonly<Record<string, unknown>> & { readonly id: string }

interface Page {
  readonly total_records: number
  readonly current_page: number
  readonly total_pages: number
  readonly content: readonly Shown[]
}

interface ErrorAnswer {
  readonly error: string
  readonly details?: readonly { readonly path: string }[]
  readonly retryAfter?: number
}

interface AuditEntry {
  readonly action: string
  readonly actorKeyId: string | null
  readonly subjectId: string | null
  readonly userId: string | null
  readonly details: Readonly<Record<string, unknown>>
}

/** What of a person's can be shared, as its routes name it. */
export interface SharedKind {
  readonly name: string
  /** As the audit log names it. */
  readonly type: 'vault' | 'asset_stream'
  /** The member of a record that names it. */
  readonly member: 'vault_id' | 'stream_id'
  /** Makes a private one; resolves with its path. */
  readonly make: (person: Person) => Promise<string>
}

const later = '2100-01-31T00:00:00Z'
const shown = '2100-01-31T00:00:00.000000Z'

/** A user with a name to be shared with. */
interface Named {
  readonly username: string
  readonly userId: string
}

/** What holds for the permissions of whatever can be shared. */
export function permissionRoutesContract({ name, type, member, make }: SharedKind): void {
  const service = runningService()
  let ada: Person
  let path: string

  beforeAll(async () => {
    ada = await newPerson(service.api)
    path = `${await make(ada)}/permissions`
  })

  async function somebody(): Promise<Named> {
    const username = newUsername()
    return { username, userId: await createUser(service.api, username) }
  }

  async function grant(body: object = {}, at = path): Promise<Answer<Shown>> {
    const { username } = await somebody()
    return await ada.withKey<Shown>('POST', at, { username, role: 'READ', ...body })
  }

  async function listAt(at: string, query = ''): Promise<Page> {
    const { status, body } = await ada.withKey<Page>('GET', `${at}${query}`)
    expect(status).toBe(200)
    return body
  }

  async function auditOf(userId: string): Promise<readonly AuditEntry[]> {
    const at = `/audit?limit=1000&userId=${userId}`
    const { body } = await service.api.withKey<readonly AuditEntry[]>('GET', at)
    return body.filter(({ action }) => action.startsWith('permission.'))
  }

  const unsaid = async (method: string, at: string, body?: object) =>
    await ada.withKey<ErrorAnswer>(method, at, body)

  describe(`POST ${name}/permissions`, () => {
    test.each(['withKey', 'withToken'] as const)(
      'answers 201 with exactly its fields (%s)',
      async (send) => {
        const { username, userId } = await somebody()
        const terms = { role: 'WRITE', expires_at: later }
        const at = `${await make(ada)}/permissions`

        const { status, body } = await ada[send]<Shown>('POST', at, { username, ...terms })

        expect([status, body]).toEqual([
          201,
          {
            id: expect.any(String) as string,
            created_at: expect.stringMatching(/\.\d{6}Z$/) as string,
            [member]: at.split('/')[2],
            user_id: userId,
            username,
            role: 'WRITE',
            granted_by: ada.userId,
            expires_at: shown,
          },
        ])
        const page = { total_records: 1, current_page: 1, total_pages: 1, content: [body] }
        expect((await ada[send]('GET', at)).body).toEqual(page)
      },
    )

    test.each([{}, { expires_at: null }])('has no end with %j', async (body) => {
      expect((await grant(body)).body['expires_at']).toBeNull()
    })

    test('finds a user by the name in whatever case', async () => {
      const { username, userId } = await somebody()
      const { body } = await grant({ username: username.toUpperCase() })

      expect(body).toMatchObject({ username, user_id: userId })
    })

    test.each([
      ['no body', undefined, ''],
      ['no name', { role: 'READ' }, 'username'],
      ['an empty name', { username: '', role: 'READ' }, 'username'],
      ['a name that is none', { username: 7, role: 'READ' }, 'username'],
      ['a name that is too long', { username: 'a'.repeat(201), role: 'READ' }, 'username'],
      ['no role', { username: 'ada' }, 'role'],
      ['a role in other letters', { username: 'ada', role: 'read' }, 'role'],
      ['a role that is none', { username: 'ada', role: 'OWN' }, 'role'],
      ['no role but null', { username: 'ada', role: null }, 'role'],
      ['a time without a zone', { expires_at: '2100-01-31T00:00:00' }, 'expires_at'],
      ['a day', { expires_at: '2100-01-31' }, 'expires_at'],
      ['a day that is not', { expires_at: '2100-02-30T00:00:00Z' }, 'expires_at'],
      ['a number', { expires_at: 4_105_123_200 }, 'expires_at'],
      ['an empty time', { expires_at: '' }, 'expires_at'],
      ['a time that has passed', { expires_at: '2020-01-31T00:00:00Z' }, 'expires_at'],
      ['a time beyond clocks', { expires_at: '2255-12-31T00:00:00Z' }, 'expires_at'],
      ['something else', { user_id: randomUUID() }, 'user_id'],
    ] as const)('refuses %s with 400', async (_, wrong, at) => {
      const { username } = await somebody()
      const isWhole = wrong === undefined || 'username' in wrong || 'role' in wrong
      const body = isWhole ? wrong : { username, role: 'READ', ...wrong }
      const refused = await unsaid('POST', path, body)

      expect([refused.status, refused.body.error]).toEqual([400, 'invalid_request'])
      if (at !== '')
        expect(new Set(refused.body.details?.map((one) => one.path))).toEqual(new Set([at]))
      const { body: page } = await ada.withKey<Page>('GET', `${path}?page_size=100`)
      expect(page.content.map((one) => one['username'])).not.toContain(username)
    })

    test('answers 404 for a name that nobody has, also no more', async () => {
      const { username, userId } = await somebody()
      await service.api.withKey('DELETE', `/users/${userId}`)
      for (const gone of ['nobody', username, `deleted:${userId}`]) {
        const { status, body } = await unsaid('POST', path, { username: gone, role: 'READ' })
        expect([status, body.error]).toEqual([404, 'not_found'])
      }
    })

    test('answers 422 for oneself', async () => {
      const { body: self } = await ada.withKey<{ readonly username: string }>('GET', '/users')
      const { status, body } = await unsaid('POST', path, {
        username: self.username.toUpperCase(),
        role: 'READ',
      })

      expect([status, body.error]).toEqual([422, 'shared_with_oneself'])
    })

    test('answers 409 for a second one of the same user', async () => {
      const { body: first } = await grant()
      const { username } = first
      const { status, body } = await unsaid('POST', path, { username, role: 'WRITE' })

      expect([status, body.error]).toEqual([409, 'conflict'])
      const { content } = await listAt(path, '?page_size=100')
      expect(content.filter((one) => one['username'] === username)).toEqual([first])
    })

    test('grants one when two ask for the same at once', async () => {
      const { username } = await somebody()
      const ask = () => ada.withKey('POST', path, { username, role: 'READ' })
      const answers = await Promise.all([ask(), ask(), ask()])

      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
        201, 409, 409,
      ])
    })

    test('is done once under an Idempotency-Key', async () => {
      const { username } = await somebody()
      const at = `${await make(ada)}/permissions`
      const headers = { 'idempotency-key': randomUUID() }
      const ask = (role: string) =>
        ada.withKey<Shown & ErrorAnswer>('POST', at, { username, role }, headers)
      const first = await ask('READ')
      const again = await ask('READ')
      const other = await ask('WRITE')

      expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect([other.status, other.body.error]).toEqual([422, 'idempotency_conflict'])
      expect((await listAt(at)).total_records).toBe(1)
    })
  })

  describe(`GET ${name}/permissions`, () => {
    test('has pages, oldest first', async () => {
      const at = `${await make(ada)}/permissions`
      const made: Shown[] = []
      for (let count = 0; count < 3; count++) made.push((await grant({}, at)).body)

      expect(await listAt(at, '?page=1&page_size=2')).toEqual({
        total_records: 3,
        current_page: 1,
        total_pages: 2,
        content: made.slice(0, 2),
      })
      expect((await listAt(at, '?page=2&page_size=2')).content).toEqual(made.slice(2))
      expect((await listAt(at, '?page=3&page_size=2')).content).toEqual([])
    })
  })

  describe(`PUT ${name}/permissions/{permissionId}`, () => {
    test.each(['withKey', 'withToken'] as const)(
      'changes what is sent, and nothing else (%s)',
      async (send) => {
        const { body: made } = await grant({ expires_at: later })
        const one = `${path}/${made.id}`

        const wider = await ada[send]('PUT', one, { role: 'WRITE' })
        expect([wider.status, wider.body]).toEqual([200, { ...made, role: 'WRITE' }])
        const endless = await ada[send]('PUT', one, { expires_at: null })
        expect(endless.body).toEqual({ ...made, role: 'WRITE', expires_at: null })
        const until = await ada[send]('PUT', one, { expires_at: '2100-01-31T01:00:00+01:00' })
        expect(until.body).toEqual({ ...made, role: 'WRITE' })
        const { content } = await listAt(path, '?page_size=100')
        expect(content).toContainEqual({ ...made, role: 'WRITE' })
      },
    )

    test('keeps both of two changes at once', async () => {
      const { body: made } = await grant()
      const one = `${path}/${made.id}`
      const changes = [{ role: 'WRITE' }, { expires_at: later }]
      const answers = await Promise.all(changes.map((body) => ada.withKey('PUT', one, body)))

      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      const { content } = await listAt(path, '?page_size=100')
      expect(content).toContainEqual({ ...made, role: 'WRITE', expires_at: shown })
    })

    test.each([
      [{ role: 'write' }, 'role'],
      [{ role: null }, 'role'],
      [{ expires_at: '2100-01-31' }, 'expires_at'],
      [{ expires_at: '2020-01-31T00:00:00Z' }, 'expires_at'],
      [{ username: 'ada' }, 'username'],
    ] as const)('refuses %j with 400', async (wrong, at) => {
      const { body: made } = await grant()
      const { status, body } = await unsaid('PUT', `${path}/${made.id}`, wrong)

      expect([status, body.error]).toEqual([400, 'invalid_request'])
      expect(new Set(body.details?.map((one) => one.path))).toEqual(new Set([at]))
    })
  })

  test.each(['PUT', 'DELETE'])('%s of what is none of this one is 404', async (method) => {
    const { body: foreign } = await grant({}, `${await make(ada)}/permissions`)
    const ended = (await grant()).body
    await ada.withKey('DELETE', `${path}/${ended.id}`)
    for (const id of [foreign.id, ended.id, randomUUID(), 'no-id']) {
      const wish = method === 'PUT' ? { role: 'WRITE' } : undefined
      const { status, body } = await unsaid(method, `${path}/${id}`, wish)
      expect([status, body.error]).toEqual([404, 'not_found'])
    }
  })

  test('a revoked one is in no list, and another can be granted', async () => {
    const at = `${await make(ada)}/permissions`
    const { body: made } = await grant({}, at)
    expect((await ada.withKey('DELETE', `${at}/${made.id}`)).status).toBe(204)

    expect(await listAt(at)).toMatchObject({ total_records: 0, content: [] })
    const { status, body } = await grant({ username: made['username'] }, at)
    expect(status).toBe(201)
    expect(body.id).not.toBe(made.id)
  })

  test('what is deleted has none', async () => {
    const own = await make(ada)
    await grant({}, `${own}/permissions`)
    expect((await ada.withKey('DELETE', own)).status).toBe(204)

    for (const method of ['GET', 'POST']) {
      const wish = method === 'POST' ? { username: 'ada', role: 'READ' } : undefined
      expect((await unsaid(method, `${own}/permissions`, wish)).status).toBe(404)
    }
  })

  test('is told of in the audit log, with who, to whom and why', async () => {
    const eve = await newPerson(service.api)
    const at = `${await make(eve)}/permissions`
    const { username, userId } = await somebody()
    const { body } = await eve.withKey<Shown>('POST', at, { username, role: 'READ' })
    await eve.withKey('PUT', `${at}/${body.id}`, { role: 'READ', expires_at: null })
    await eve.withKey('PUT', `${at}/${body.id}`, { role: 'WRITE' })
    await eve.withKey('DELETE', `${at}/${body.id}`)

    const about = { type, resourceId: at.split('/')[2], userId }
    const entry = { actorKeyId: eve.key.apiKey, subjectId: body.id, userId: eve.userId }
    expect(await auditOf(eve.userId)).toMatchObject([
      {
        ...entry,
        action: 'permission.ended',
        details: { ...about, role: 'WRITE', reason: 'revoked' },
      },
      { ...entry, action: 'permission.changed', details: { ...about, role: 'WRITE' } },
      { ...entry, action: 'permission.granted', details: { ...about, role: 'READ' } },
    ])
  })

  test('after 20 names that nobody has each name is 429, of that owner alone', async () => {
    const eve = await newPerson(service.api)
    const at = `${await make(eve)}/permissions`
    const { username } = await somebody()
    const ask = (wanted: string) =>
      eve.withKey<ErrorAnswer>('POST', at, { username: wanted, role: 'READ' })
    const asked = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => (await ask(`nobody-${index}`)).status),
    )

    expect(asked.filter((status) => status === 404)).toHaveLength(20)
    expect(asked.filter((status) => status === 429)).toHaveLength(10)
    for (const wanted of ['nobody', username]) {
      const { status, headers, body } = await ask(wanted)
      expect([status, body.error]).toEqual([429, 'rate_limited'])
      expect(body.retryAfter).toBeGreaterThan(0)
      expect(headers.get('retry-after')).toBe(String(body.retryAfter))
    }
    expect((await grant()).status).toBe(201)
  })
}
