import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { asStored } from '../support/stored-resource.ts'
import { withoutAddresses } from '../support/uploads.ts'

const service = runningService()

interface Thing {
  readonly id: string
  readonly [field: string]: unknown
}

interface Page {
  readonly total_records: number
  readonly content: readonly Thing[]
}

let ada: Person
let bob: Person

/** What Ada has: of each kind one that she shows to everybody, and one that she does not. */
let open: Readonly<Record<'template' | 'vault', Thing>>
let hidden: Readonly<Record<'template' | 'vault', Thing>>
let streamId: string
let favorite: Thing

async function make(person: Person, path: string, body: object): Promise<Thing> {
  const answer = await person.withKey<Thing>('POST', path, body)
  expect(answer.status).toBe(201)
  return answer.body
}

async function makeBoth(isPublic: boolean): Promise<Readonly<Record<'template' | 'vault', Thing>>> {
  const what = isPublic ? 'open' : 'hidden'
  const template = await make(ada, '/templates', {
    name: `${what} template`,
    hint: '',
    required_streams: [],
    public: isPublic,
  })
  const vault = await make(ada, '/vaults', {
    template_id: template.id,
    name: `${what} vault`,
    public: isPublic,
  })
  return { template, vault: asStored(vault) }
}

function streamIn(vaultId: string): object {
  const schema = { temperature: { type: 'number' } }
  return { name: 'temperature', vaultId, type: 'iot_sensor', schema }
}

function vaultOfBob(templateId: string): Promise<Answer<unknown>> {
  return bob.withKey('POST', '/vaults', { template_id: templateId, name: 'v' })
}

function streamOfBob(vaultId: string): Promise<Answer<unknown>> {
  return bob.withToken('POST', '/streams', streamIn(vaultId))
}

beforeAll(async () => {
  ada = await newPerson(service.api)
  bob = await newPerson(service.api)
  open = await makeBoth(true)
  hidden = await makeBoth(false)
  const stream = await ada.withToken<{ streamId: string }>(
    'POST',
    '/streams',
    streamIn(open.vault.id),
  )
  streamId = stream.body.streamId
  favorite = await make(ada, `/users/${ada.userId}/favorites`, { type: 'NFT', ref: 'mine' })
})

const unknownId = '00000000-0000-4000-8000-000000000000'

/** The answer with the id taken out: equal texts tell nothing about who has what. */
function said({ status, body }: Answer<unknown>, id: string): unknown {
  return [status, JSON.stringify(body).replaceAll(id, 'ID')]
}

describe('what somebody else keeps to herself', () => {
  test.each([
    ['GET', 'template', undefined],
    ['PUT', 'template', {}],
    ['DELETE', 'template', undefined],
    ['GET', 'vault', undefined],
    ['PUT', 'vault', {}],
    ['DELETE', 'vault', undefined],
  ] as const)('answers %s of a %s as if it were not there', async (method, what, body) => {
    const { id } = hidden[what]

    const foreign = await bob.withKey(method, `/${what}s/${id}`, body)
    const unknown = await bob.withKey(method, `/${what}s/${unknownId}`, body)

    expect(foreign.status).toBe(404)
    expect(said(foreign, id)).toEqual(said(unknown, unknownId))
    const { body: kept } = await ada.withKey('GET', `/${what}s/${id}`)
    expect(withoutAddresses(kept)).toEqual(withoutAddresses(hidden[what]))
  })

  test('cannot be built on: a template, or a vault', async () => {
    expect(said(await vaultOfBob(hidden.template.id), hidden.template.id)).toEqual(
      said(await vaultOfBob(unknownId), unknownId),
    )
    expect(said(await streamOfBob(hidden.vault.id), hidden.vault.id)).toEqual(
      said(await streamOfBob(unknownId), unknownId),
    )
    expect((await vaultOfBob(hidden.template.id)).status).toBe(404)
    expect((await streamOfBob(hidden.vault.id)).status).toBe(404)
  })

  test.each(['', '/status'])(
    'answers GET of a data stream%s as if it were not there',
    async (rest) => {
      const foreign = await bob.withToken('GET', `/streams/${streamId}${rest}`)
      const unknown = await bob.withToken('GET', `/streams/${unknownId}${rest}`)

      expect(foreign.status).toBe(404)
      expect(said(foreign, streamId)).toEqual(said(unknown, unknownId))
    },
  )
})

describe('what somebody else shows to everybody', () => {
  test.each(['template', 'vault'] as const)(
    '%ss can be read by id, and not changed',
    async (what) => {
      const path = `/${what}s/${open[what].id}`

      const seen = await bob.withKey('GET', path)
      expect([seen.status, seen.body]).toEqual([200, withoutAddresses(open[what])])
      for (const [method, body] of [
        ['PUT', { name: 'taken over' }],
        ['DELETE', undefined],
      ] as const) {
        const { status, body: refusal } = await bob.withKey(method, path, body)
        expect(status).toBe(403)
        expect(refusal).toMatchObject({ error: 'insufficient_permissions' })
      }
      const { body: kept } = await ada.withKey('GET', path)
      expect(withoutAddresses(kept)).toEqual(withoutAddresses(open[what]))
    },
  )

  test('a public vault takes no data streams of others: 403', async () => {
    const { status, body } = await bob.withToken('POST', '/streams', streamIn(open.vault.id))

    expect(status).toBe(403)
    expect(body).toMatchObject({ error: 'insufficient_permissions' })
  })

  test('a public template can be used by others, and then not be deleted', async () => {
    const template = await make(ada, '/templates', {
      name: 'shared',
      hint: '',
      required_streams: [],
      public: true,
    })
    const vault = await make(bob, '/vaults', { template_id: template.id, name: 'mine' })

    const refused = await ada.withKey('DELETE', `/templates/${template.id}`)

    expect(refused.status).toBe(409)
    expect(JSON.stringify(refused.body)).not.toMatch(new RegExp(`${vault.id}|${bob.userId}`))
  })

  test('a template can no longer be used once it is hidden again', async () => {
    const { id } = await make(ada, '/templates', {
      name: 'fickle',
      hint: '',
      required_streams: [],
      public: true,
    })
    await ada.withKey('PUT', `/templates/${id}`, { public: false })

    expect((await bob.withKey('GET', `/templates/${id}`)).status).toBe(404)
    expect((await bob.withKey('POST', '/vaults', { template_id: id, name: 'v' })).status).toBe(404)
  })
})

describe("a list of one's own", () => {
  test('templates: has nothing of others, not even public ones, and counts nothing of them', async () => {
    const carl = await newPerson(service.api)

    const mine = await carl.withKey<Page>('GET', '/templates')
    const searched = await carl.withKey<Page>('GET', '/templates?search_term=template')

    expect(mine.body).toMatchObject({ total_records: 0, content: [] })
    expect(searched.body).toMatchObject({ total_records: 0, content: [] })
  })

  test('with public=true: has what others show, and nothing that they hide', async () => {
    const { body } = await bob.withKey<Page>('GET', '/templates?public=true&page_size=100')
    const ids = body.content.map(({ id }) => id)

    expect(ids).toContain(open.template.id)
    expect(ids).not.toContain(hidden.template.id)
    expect(body.total_records).toBe(ids.length)
    const hiddenOnes = await bob.withKey<Page>('GET', '/templates?public=true&search_term=hidden')
    expect(hiddenOnes.body.total_records).toBe(0)
  })

  test('vaults and data streams: has nothing of others in either interface', async () => {
    const carl = await newPerson(service.api)

    expect((await carl.withKey<Page>('GET', '/vaults')).body).toMatchObject({
      total_records: 0,
      content: [],
    })
    expect((await carl.withToken('GET', '/vaults')).body).toEqual([])
    expect((await carl.withToken('GET', '/streams')).body).toEqual([])
  })

  test("does not follow a cursor into another one's list", async () => {
    await make(ada, '/vaults', { template_id: open.template.id, name: 'second' })
    const first = await ada.withToken('GET', '/vaults?limit=1')
    const next = /^<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const carl = await newPerson(service.api)

    const { status, body } = await carl.withToken('GET', next)

    expect([status, body]).toEqual([200, []])
  })
})

describe('favorites of somebody else', () => {
  test.each([
    ['GET', '', undefined],
    ['POST', '', { type: 'NFT', ref: 'x' }],
  ] as const)('%s is 404, as for nobody', async (method, rest, body) => {
    const foreign = await bob.withKey(method, `/users/${ada.userId}/favorites${rest}`, body)
    const unknown = await bob.withKey(method, `/users/${unknownId}/favorites${rest}`, body)

    expect(foreign.status).toBe(404)
    expect(said(foreign, ada.userId)).toEqual(said(unknown, unknownId))
  })

  test('cannot be removed, by whichever path', async () => {
    for (const userId of [ada.userId, bob.userId]) {
      const path = `/users/${userId}/favorites/${favorite.id}`
      expect((await bob.withKey('DELETE', path)).status).toBe(404)
    }
    const { body } = await ada.withKey<Page>('GET', `/users/${ada.userId}/favorites`)
    expect(body.content).toEqual([favorite])
  })

  test('do not keep anybody from having the same one', async () => {
    await make(bob, `/users/${bob.userId}/favorites`, { type: 'NFT', ref: 'mine' })
  })
})

test('an Idempotency-Key of one user means nothing for another', async () => {
  const body = { name: 'keyed', hint: '', required_streams: [] }
  const other = { ...body, name: 'keyed otherwise' }
  const key = { 'idempotency-key': 'shared key' }

  const first = await ada.withKey<Thing>('POST', '/templates', body, key)
  const second = await bob.withKey<Thing>('POST', '/templates', other, key)

  expect([first.status, second.status]).toEqual([201, 201])
  expect(second.headers.get('idempotency-replayed')).toBeNull()
  expect(second.body).toMatchObject({ name: 'keyed otherwise' })
})
