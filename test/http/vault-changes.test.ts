import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'
import { asStored } from '../support/stored-resource.ts'
import { withoutAddresses } from '../support/uploads.ts'

const service = runningService()

type Vault = Readonly<Record<string, unknown>> & { readonly id: string }

let templateId: string

beforeAll(async () => {
  const { body } = await service.api.withKey<Vault>('POST', '/templates', {
    name: 'boiler',
    hint: 'a boiler',
    required_streams: [],
  })
  templateId = body.id
})

const unknownId = '00000000-0000-4000-8000-000000000000'

function create(vault: object): Promise<Answer<Vault>> {
  return service.api.withKey('POST', '/vaults', vault)
}

function createStreamOf(vaultId: string): Promise<Answer<unknown>> {
  return service.api.withToken('POST', '/streams', {
    name: 'temperature',
    vaultId,
    type: 'iot_sensor',
    schema: { temperature: { type: 'number' } },
  })
}

async function total(): Promise<number> {
  return (await service.api.withKey<{ total_records: number }>('GET', '/vaults')).body.total_records
}

function idsOf({ body }: Answer<Vault[]>): unknown[] {
  return body.map((vault) => vault['vaultId'])
}

function linkOf({ headers }: Answer<Vault[]>): string {
  return /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? ''
}

describe('a page of GET /vaults with a bearer token', () => {
  test('is not moved by vaults that come meanwhile', async () => {
    for (let index = 0; index < 6; index++) await create({ template_id: templateId, name: 'early' })
    const known = idsOf(await service.api.withToken<Vault[]>('GET', '/vaults?limit=1000'))
    const first = await service.api.withToken<Vault[]>('GET', '/vaults?limit=3')
    await create({ template_id: templateId, name: 'late' })

    const next = linkOf(first)
    const second = await service.api.withToken<Vault[]>('GET', next)

    expect([...idsOf(first), ...idsOf(second)]).toEqual(known.slice(0, 6))
  })

  test('leads on with the other parameters of the query', async () => {
    const answer = await service.api.withToken<Vault[]>('GET', '/vaults?limit=3')

    expect(linkOf(answer)).toMatch(/^\/vaults\?limit=3&cursor=[\w-]+$/)
  })
})

describe('PUT /vaults/{vault_id}', () => {
  test('changes what is sent, keeps the rest, and answers the vault', async () => {
    const created = (await create({ template_id: templateId, name: 'b', description: 'd' })).body

    const { status, body } = await service.api.withKey<Vault>('PUT', `/vaults/${created.id}`, {
      name: 'boiler 8',
      public: false,
    })

    expect(status).toBe(200)
    const shown = { ...asStored(withoutAddresses(created)), name: 'boiler 8', public: false }
    expect(withoutAddresses(body)).toEqual(shown)
    const { body: read } = await service.api.withKey('GET', `/vaults/${created.id}`)
    expect(withoutAddresses(read)).toEqual(shown)
  })

  test.each(['template_id', 'ledger', 'json_payload', 'status'])(
    'refuses a change of %s with 400: it stays what it was',
    async (path) => {
      const { id } = (await create({ template_id: templateId, name: 'b' })).body

      const answer = await service.api.withKey('PUT', `/vaults/${id}`, { [path]: 'ETHEREUM' })

      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ details: [{ path }] })
    },
  )

  test('is 404 for an unknown vault', async () => {
    expect((await service.api.withKey('PUT', `/vaults/${unknownId}`, {})).status).toBe(404)
  })
})

describe('DELETE /vaults/{vault_id}', () => {
  test('is 204, and the vault is gone from reading and lists', async () => {
    const { id } = (await create({ template_id: templateId, name: 'b' })).body
    const before = await total()

    const { status } = await service.api.withKey('DELETE', `/vaults/${id}`)

    expect(status).toBe(204)
    expect((await service.api.withKey('GET', `/vaults/${id}`)).status).toBe(404)
    expect(await total()).toBe(before - 1)
    expect((await service.api.withKey('DELETE', `/vaults/${id}`)).status).toBe(404)
  })

  test('is 409 while data streams belong to it', async () => {
    const { id } = (await create({ template_id: templateId, name: 'b' })).body
    await createStreamOf(id)

    const { status, body } = await service.api.withKey('DELETE', `/vaults/${id}`)

    expect(status).toBe(409)
    expect(body).toMatchObject({ error: 'conflict' })
    expect((await service.api.withKey('GET', `/vaults/${id}`)).status).toBe(200)
  })

  test('and the making of data streams at once leave no stream without a vault', async () => {
    const { id } = (await create({ template_id: templateId, name: 'b' })).body

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        index === 5 ? service.api.withKey('DELETE', `/vaults/${id}`) : createStreamOf(id),
      ),
    )

    const isThere = (await service.api.withKey('GET', `/vaults/${id}`)).status === 200
    expect(isThere).toBe(answers.some(({ status }) => status === 201))
  })
})
