import { beforeAll, describe, expect, test } from 'vitest'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { at } from '../support/seconds.ts'

const service = runningService()

type Point = Readonly<Record<string, unknown>>

interface Latest {
  readonly data: Point | null
}

interface VaultLatest {
  readonly vaultId: string
  readonly data: readonly Point[]
  readonly nextCursor: string | null
}

async function push(streamId: string, body: object): Promise<void> {
  const { status } = await service.api.withToken('POST', `/streams/${streamId}/data`, body)
  expect(status).toBe(202)
}

async function latest(streamId: string): Promise<unknown> {
  const path = `/streams/${streamId}/latest`
  return (await service.api.withToken<Latest>('GET', path)).body.data
}

describe('the newest reading of a stream', () => {
  test('is null before there is one', async () => {
    const streamId = await service.api.createStream()
    const { status, body } = await service.api.withToken('GET', `/streams/${streamId}/latest`)
    expect(status).toBe(200)
    expect(body).toEqual({ streamId, data: null })
  })

  test('has all of its fields, and is not moved by what comes late', async () => {
    const streamId = await service.api.createStream({ temperature: { type: 'number', max: 50 } })
    await push(streamId, { timestamp: at(10), temperature: 60, note: 'hot' })
    await push(streamId, { timestamp: at(5), temperature: 20 })
    await service.api.settled(streamId, 2)

    expect(await latest(streamId)).toEqual({
      timestamp: '2026-01-31T00:00:10.000000Z',
      temperature: 60,
      'temperature:flag': 'out_of_range',
      extra: { note: 'hot' },
    })
  })

  test('is the one before when it was removed', async () => {
    const streamId = await service.api.createStream()
    await push(
      streamId,
      [1, 2, 3].map((second) => ({ timestamp: at(second), temperature: second })),
    )
    const path = `/streams/${streamId}/data?start=${at(3)}&end=${at(9)}`
    await service.api.withToken('DELETE', path)

    expect(await latest(streamId)).toMatchObject({ temperature: 2 })
    await push(streamId, { timestamp: at(1), temperature: 9 })
    await service.api.settled(streamId, 4)
    expect(await latest(streamId)).toMatchObject({ temperature: 2 })
  })
})

describe('the newest readings of a vault', () => {
  let owner: Person
  let vaultId: string
  const streamIds: string[] = []

  beforeAll(async () => {
    owner = await newPerson(service.api)
    const template = await owner.withKey<{ id: string }>('POST', '/templates', {
      name: 'boiler',
      hint: 'a boiler',
      required_streams: [],
    })
    const vault = await owner.withKey<{ id: string }>('POST', '/vaults', {
      template_id: template.body.id,
      name: 'boiler 7',
      public: true,
    })
    vaultId = vault.body.id
    for (let index = 0; index < 5; index++) {
      const stream = await owner.withToken<{ streamId: string }>('POST', '/streams', {
        name: `stream ${index}`,
        vaultId,
        type: 'iot_sensor',
        schema: index === 4 ? { level: { type: 'integer' } } : { temperature: { type: 'number' } },
      })
      const { streamId } = stream.body
      streamIds.push(streamId)
      if (index === 1) continue
      const value = index === 4 ? { level: index } : { temperature: index }
      await owner.withToken('POST', `/streams/${streamId}/data`, { timestamp: at(index), ...value })
    }
    // Empty, and behind all readings: once it is done, they are stored.
    const path = `/streams/${streamIds[0]}/data?start=${at(0)}&end=${at(0)}`
    expect((await owner.withToken('DELETE', path)).status).toBe(204)
  })

  test('come in the order of its streams, without those that have none', async () => {
    const { body } = await owner.withToken<VaultLatest>('GET', `/vaults/${vaultId}/latest`)

    expect(body).toMatchObject({ vaultId, nextCursor: null })
    expect(body.data.map(({ streamId }) => streamId)).toEqual(
      streamIds.filter((_, index) => index !== 1),
    )
    expect(body.data.at(-1)).toEqual({
      streamId: streamIds[4],
      timestamp: '2026-01-31T00:00:04.000000Z',
      level: 4,
    })
  })

  test('come page by page, of each stream once', async () => {
    const seen: unknown[] = []
    let cursor = ''
    do {
      const path = `/vaults/${vaultId}/latest?limit=2${cursor}`
      const { body } = await owner.withKey<VaultLatest>('GET', path)
      expect(body.data.length).toBeLessThanOrEqual(2)
      seen.push(...body.data.map(({ streamId }) => streamId))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')

    expect(seen).toEqual(streamIds.filter((_, index) => index !== 1))
  })

  test('are not for others, who see the vault as it is public, but not what it measures', async () => {
    const other = await newPerson(service.api)
    expect((await other.withToken('GET', `/vaults/${vaultId}`)).status).toBe(200)
    const answer = await other.withToken('GET', `/vaults/${vaultId}/latest`)
    expect(answer.status).toBe(403)
    expect((await other.withToken('GET', `/streams/${streamIds[0]}/latest`)).status).toBe(404)
  })
})
