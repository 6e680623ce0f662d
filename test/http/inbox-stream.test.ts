import { beforeEach, expect, test } from 'vitest'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import type { TailClient } from '../support/tail-client.ts'
import { headersOf, tailsOf } from '../support/tails.ts'

const service = runningService()
const tails = tailsOf(service)
const path = '/notifications/in-app/stream'

let ada: Person

beforeEach(async () => {
  ada = await newPerson(service.api)
})

function follow(person: Person, lastEventId?: string): Promise<TailClient> {
  const headers = {
    ...headersOf(person),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  return tails.open('events', path, { headers })
}

function vaultsIn({ events }: TailClient): readonly unknown[] {
  return events.map(({ data }) => data['resource_id'])
}

test('an inbox is followed from now on, each entry as the list shows it', async () => {
  await vaultOf(ada)
  const tail = await follow(ada)
  const vaultId = await vaultOf(ada)
  await tail.received(1)

  const { body } = await ada.withKey<{ content: readonly object[] }>('GET', '/notifications/in-app')
  expect(tail.events.map(({ type, data }) => [type, data])).toEqual([
    ['notification', body.content[0]],
  ])
  expect(vaultsIn(tail)).toEqual([vaultId])
})

test('who comes back with Last-Event-ID gets what came meanwhile, each once', async () => {
  const first = await follow(ada)
  const seen = await vaultOf(ada)
  await first.received(1)
  first.close()
  const missed = [await vaultOf(ada), await vaultOf(ada)]

  const second = await follow(ada, first.position)
  await second.received(2)
  const later = await vaultOf(ada)
  await second.received(3)

  expect(vaultsIn(first)).toEqual([seen])
  expect(vaultsIn(second)).toEqual([...missed, later])
})

test('more than one page of missed entries comes whole', async () => {
  const { position } = await follow(ada)
  const vaultIds: string[] = []
  for (let count = 0; count < 95; count++) vaultIds.push(await vaultOf(ada))

  const tail = await follow(ada, position)
  await tail.received(95)

  expect(vaultsIn(tail)).toEqual(vaultIds)
})

test('nobody hears what others are told', async () => {
  const bob = await newPerson(service.api)
  const tail = await follow(ada)
  await vaultOf(bob)
  const own = await vaultOf(ada)
  await tail.received(1)

  expect(vaultsIn(tail)).toEqual([own])
})

test('it ends with its key', async () => {
  const tail = await follow(ada)
  await service.api.withKey('DELETE', `/keys/${ada.key.apiKey}`)

  expect((await tail.ended).error).toBe('invalid_api_key')
})

test('a position that is none of ours is refused, and one that lies ahead begins with what comes', async () => {
  const headers = { ...headersOf(ada), 'last-event-id': 'MSAxMjM' }
  expect(await tails.refusal('events', path, { headers })).toEqual({
    status: 400,
    error: 'invalid_request',
  })

  const tail = await follow(ada, '999999')
  const vaultId = await vaultOf(ada)
  await tail.received(1)
  expect(vaultsIn(tail)).toEqual([vaultId])
})
