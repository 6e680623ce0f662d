import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createKey, newPerson, type Person, personOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { headersOf, kinds, numbers, tailsOf } from '../support/tails.ts'

const service = runningService()
const { open: openTail, refusal, push } = tailsOf(service)

describe.each(kinds)('a tail over %s', (kind) => {
  test('ends at once when its key is revoked, and says so', async () => {
    const { api } = service
    const person = await newPerson(api)
    const streamId = await streamOf(person)
    const byKey = await openTail(kind, `/streams/${streamId}/tail`, { headers: headersOf(person) })
    const authorization = `Bearer ${await person.token()}`
    const byToken = await openTail(kind, `/streams/${streamId}/tail`, {
      headers: { authorization },
    })

    await api.withKey('DELETE', `/keys/${person.key.apiKey}`)

    const closeCode = kind === 'socket' ? 4401 : undefined
    const end = { error: 'invalid_api_key', closeCode }
    expect(await Promise.all([byKey.ended, byToken.ended])).toEqual([end, end])
  })

  test('ends when its stream is deleted', async () => {
    const { api } = service
    const [streamId, other] = [await api.createStream(), await api.createStream()]
    const opened = await openTail(kind, `/streams/${streamId}/tail`)
    const kept = await openTail(kind, `/streams/${other}/tail`)

    await api.withToken('DELETE', `/streams/${streamId}`)
    await push(other, { temperature: 1 })
    await kept.received(1)

    expect((await opened.ended).error).toBe('not_found')
  })

  test('ends when its key expires', async () => {
    const { api } = service
    const owner = await newPerson(api)
    const path = `/streams/${await streamOf(owner)}/tail`
    // The tail has to be open by then, on a slow machine, too.
    const expiresAt = new Date(Date.now() + 8_000).toISOString()
    const person = personOf(api, await createKey(api, { userId: owner.userId, expiresAt }))
    const opened = await openTail(kind, path, { headers: headersOf(person) })

    expect((await opened.ended).error).toBe('token_expired')
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt))
  })

  test('is 404 for a stream of somebody else, and 401 without credentials', async () => {
    const { api } = service
    const [owner, stranger] = [await newPerson(api), await newPerson(api)]
    const path = `/streams/${await streamOf(owner)}/tail`
    const writer = await newPerson(api, { permission: 'custom', scopes: ['data:write'] })

    expect([
      await refusal(kind, path, { headers: headersOf(stranger) }),
      await refusal(kind, path, { headers: {} }),
      await refusal(kind, path, { headers: headersOf(writer) }),
    ]).toEqual([
      { status: 404, error: 'not_found' },
      { status: 401, error: 'missing_credentials' },
      { status: 403, error: 'insufficient_permissions' },
    ])
  })

  test('is 410 from a position that the journal has never had', async () => {
    const streamId = await service.api.createStream()
    const never = Buffer.from('1 123456789').toString('base64url')

    expect(await refusal(kind, `/streams/${streamId}/tail?from=${never}`)).toEqual({
      status: 410,
      error: 'position_expired',
    })
  })

  test.each([
    'from=nonsense',
    'start=yesterday',
    'last=10001',
    'last=1&start=2026-01-31T00:00:00Z',
    'include=everything',
    'token=secret',
  ])('is 400 with ?%s', async (query) => {
    const streamId = await service.api.createStream()

    expect(await refusal(kind, `/streams/${streamId}/tail?${query}`)).toEqual({
      status: 400,
      error: 'invalid_request',
    })
  })

  test('is 429 beyond 50 of one user, until one of them has ended', async () => {
    const { api } = service
    const person = await newPerson(api)
    const path = `/streams/${await streamOf(person)}/tail`
    const headers = headersOf(person)
    const many = await Promise.all(numbers(0, 50).map(() => openTail(kind, path, { headers })))

    expect(await refusal(kind, path, { headers })).toEqual({ status: 429, error: 'rate_limited' })
    many[0]?.close()
    await many[0]?.ended
    const settled = async () => {
      for (;;) {
        const answer = await refusal(kind, path, { headers })
        if ('error' in answer) await sleep(20)
        else return answer
      }
    }
    expect(await settled()).toEqual({ status: 200 })
  })
})

async function streamOf(person: Person): Promise<string> {
  const template = { name: 'boiler', hint: 'a boiler', required_streams: [] }
  const { body: made } = await person.withKey<{ id: string }>('POST', '/templates', template)
  const vault = { template_id: made.id, name: 'boiler 7' }
  const { body: kept } = await person.withKey<{ id: string }>('POST', '/vaults', vault)
  const schema = { temperature: { type: 'number' } }
  const stream = { name: 'heat', vaultId: kept.id, type: 'iot_sensor', schema }
  const answer = await person.withToken<{ streamId: string }>('POST', '/streams', stream)
  return answer.body.streamId
}
