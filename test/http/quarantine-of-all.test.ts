import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Entry extends Readonly<Record<string, unknown>> {
  readonly id: number
  readonly streamId: string
  readonly reason: string
  readonly payload: string
}

interface Page {
  readonly entries: readonly Entry[]
  readonly nextCursor: string | null
}

interface Summary {
  readonly entries: number
  readonly reasons: readonly { readonly reason: string; readonly entries: number }[]
  readonly groups: readonly Readonly<Record<string, unknown>>[]
  readonly groupCount: number
}

let ada: Person
let bob: Person
let streams: readonly [string, string]

const hot = '{ "temperature" : "hot" }'

async function push(person: Person, streamId: string, ...bodies: readonly string[]): Promise<void> {
  for (const body of bodies) {
    const answer = await person.withToken('POST', `/streams/${streamId}/data`, body)
    if (answer.status >= 500) throw new Error(JSON.stringify(answer.body))
  }
}

beforeAll(async () => {
  ada = await newPerson(service.api)
  bob = await newPerson(service.api)
  streams = [await streamOf(ada), await streamOf(ada)]
  const [first, second] = streams
  await push(ada, first, hot, '[7]', hot)
  await push(ada, second, hot)
  await push(bob, await streamOf(bob), hot, '[7]')
})

async function list(person: Person, query = ''): Promise<Page> {
  const { status, body } = await person.withToken<Page>('GET', `/quarantine${query}`)
  expect(status).toBe(200)
  return body
}

async function summary(person: Person, query = ''): Promise<Summary> {
  return (await person.withKey<Summary>('GET', `/quarantine/summary${query}`)).body
}

describe('the quarantine of all streams', () => {
  test('lists the refused readings of all own streams, the newest first, and nobody else’s', async () => {
    const { entries, nextCursor } = await list(ada)
    const [first, second] = streams

    expect(entries.map(({ streamId }) => streamId)).toEqual([second, first, first, first])
    expect(entries.map(({ reason }) => reason)).toEqual([
      'schema_mismatch',
      'schema_mismatch',
      'malformed',
      'schema_mismatch',
    ])
    expect(nextCursor).toBeNull()
  })

  test('shows an entry as the quarantine of its stream does, with the stream', async () => {
    const [entry] = (await list(ada)).entries
    const { streamId, streamName, ...rest } = entry as Entry
    const own = await ada.withToken('GET', `/streams/${streamId}/quarantine/${rest.id}`)

    expect(streamName).toBe('temperature')
    expect(rest).toEqual(own.body)
  })

  test('comes page by page, each entry once', async () => {
    const found: Entry[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await list(ada, `?limit=1${cursor && `&cursor=${cursor}`}`)
      found.push(...page.entries)
      cursor = page.nextCursor
    }

    expect(found).toEqual((await list(ada)).entries)
  })

  test('is limited to a stream, to reasons, and to times of receipt', async () => {
    const { entries } = await list(ada)
    const ids = async (query: string) => (await list(ada, query)).entries.map(({ id }) => id)
    const meant = (isMeant: (entry: Entry) => boolean) =>
      entries.filter(isMeant).map(({ id }) => id)
    const [first] = streams
    const middle = String(entries[2]?.['receivedAt'])

    expect(await ids(`?streamId=${first}`)).toEqual(meant(({ streamId }) => streamId === first))
    expect(await ids('?reason=malformed')).toEqual(meant(({ reason }) => reason === 'malformed'))
    expect(await ids(`?streamId=${first}&reason=schema_mismatch,stale`)).toHaveLength(2)
    expect(await ids('?reason=stale')).toEqual([])
    expect(await ids(`?start=${middle}`)).toEqual(entries.slice(0, 3).map(({ id }) => id))
    expect(await ids(`?end=${middle}`)).toEqual(entries.slice(3).map(({ id }) => id))
  })

  test('is none of a stream of somebody else, nor of one that nobody has', async () => {
    const [first] = streams
    const answer = await bob.withToken<ErrorBody>('GET', `/quarantine?streamId=${first}`)

    expect([answer.status, answer.body.error]).toEqual([404, 'not_found'])
  })

  test.each(['xyz', Buffer.from('5 abc').toString('base64url')])(
    'answers 400 to a cursor that it has not made: %s',
    async (cursor) => {
      const answer = await ada.withToken<ErrorBody>('GET', `/quarantine?cursor=${cursor}`)

      expect([answer.status, answer.body.details?.[0]?.path]).toEqual([400, 'cursor'])
    },
  )

  test('is counted by stream and reason', async () => {
    const [first, second] = streams
    const { groups, ...rest } = await summary(ada)
    expect(rest).toEqual({
      entries: 4,
      reasons: [
        { reason: 'schema_mismatch', entries: 3 },
        { reason: 'malformed', entries: 1 },
      ],
      groupCount: 3,
    })
    expect(groups[0]).toEqual(groupOf(first, 'schema_mismatch', 2))
    expect(groups).toHaveLength(3)
    expect(groups).toContainEqual(groupOf(first, 'malformed', 1))
    expect(groups).toContainEqual(groupOf(second, 'schema_mismatch', 1))
    expect(await summary(ada, '?limit=1')).toEqual({ ...rest, groups: [groups[0]] })
  })
})

function groupOf(streamId: string, reason: string, entries: number) {
  return { streamId, streamName: 'temperature', reason, entries }
}

describe('what leaves a quarantine', () => {
  test('is neither listed nor counted any more, be it deleted, redriven, or with its stream', async () => {
    const eve = await newPerson(service.api)
    const [one, other] = [await streamOf(eve), await streamOf(eve)]
    await push(eve, one, hot, '{ "temperature" : "5" }', '[7]')
    await push(eve, other, hot)
    const [, malformed] = (await list(eve)).entries

    await eve.withToken('DELETE', `/streams/${one}/quarantine/${String(malformed?.id)}`)
    expect((await list(eve)).entries.map(({ payload }) => payload)).not.toContain('7')
    expect(await summary(eve)).toMatchObject({ entries: 3, groupCount: 2 })

    await eve.withToken('DELETE', `/streams/${other}`)
    expect((await list(eve)).entries.map(({ streamId }) => streamId)).toEqual([one, one])
    expect(await summary(eve)).toMatchObject({ entries: 2, groupCount: 1 })

    const { vaultId } = (await eve.withToken<{ vaultId: string }>('GET', `/streams/${one}`)).body
    const changed = await eve.withToken('PUT', `/streams/${one}`, {
      name: 'temperature',
      vaultId,
      type: 'iot_sensor',
      schema: { temperature: { type: 'string' } },
    })
    expect(changed.status).toBe(200)
    await eve.withToken('POST', `/streams/${one}/quarantine/redrive`)
    expect(await list(eve)).toEqual({ entries: [], nextCursor: null })
    expect(await summary(eve)).toEqual({ entries: 0, reasons: [], groups: [], groupCount: 0 })
  })
})
