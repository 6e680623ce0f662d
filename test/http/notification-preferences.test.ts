import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
let ada: Person

beforeAll(async () => {
  ada = await newPerson(service.api)
})

interface Inbox {
  readonly content: readonly { readonly event_type: string }[]
}

describe('preferences', () => {
  const path = '/notifications/preferences'

  test('are merged by PUT and answered by GET', async () => {
    const person = await newPerson(service.api)
    const change = { event_preferences: { 'vault.created': { channels: ['email'] } } }
    const put = await person.withKey<Record<string, object>>('PUT', path, change)

    expect(put.status).toBe(200)
    expect((await person.withKey('GET', path)).body).toEqual(put.body)
    expect(put.body['event_preferences']).toEqual({
      'vault.created': { enabled: true, channels: ['email'] },
    })
    expect(Object.keys(put.body['category_preferences'] ?? {})).not.toContain('asset_notifications')
    await vaultOf(person)
    const { body } = await person.withKey<Inbox>('GET', '/notifications/in-app')
    expect(body.content.map((one) => one.event_type)).toEqual(['security.key_created'])
  })

  test('go back to the default ones, and what was made goes away', async () => {
    const person = await newPerson(service.api)
    const before = await person.withKey('GET', path)
    await person.withKey('PUT', path, {
      category_preferences: { asset_notifications: { enabled: false } },
    })

    const reset = await person.withKey('POST', `${path}/reset`)

    expect([reset.status, reset.body]).toEqual([200, before.body])
    expect((await person.withKey('GET', path)).body).toEqual(before.body)
  })

  test.each([
    ['category_preferences.vaults', { category_preferences: { vaults: { enabled: true } } }],
    ['event_preferences.vault.*', { event_preferences: { 'vault.*': { enabled: true } } }],
    [
      'category_preferences.vault_notifications.channels.0',
      { category_preferences: { vault_notifications: { channels: ['sms'] } } },
    ],
    ['global_preferences.frequency', { global_preferences: { frequency: 'HOURLY' } }],
    ['webhooks', { webhooks: {} }],
  ])('refuse %s, and name it', async (where, body) => {
    const answer = await ada.withKey<ErrorBody>('PUT', path, body)

    expect([answer.status, answer.body.details?.map((one) => one.path)]).toEqual([400, [where]])
  })

  test('are explained level by level', async () => {
    const person = await newPerson(service.api)
    await person.withKey('PUT', path, {
      category_preferences: { vault_notifications: { enabled: false } },
      event_preferences: { 'vault.created': { enabled: true, channels: ['in_app'] } },
    })

    const { body } = await person.withKey<{ channels: Record<string, unknown> }>(
      'GET',
      `${path}/explain?event_type=vault.created`,
    )

    expect(body).toMatchObject({
      event_type: 'vault.created',
      category: 'vault_notifications',
      webhooks: { delivered: false, reason: 'no webhook is subscribed to it' },
    })
    expect(body.channels['in_app']).toEqual({
      delivered: false,
      levels: [
        { level: 'type', allows: true, reason: 'such events go to every channel' },
        { level: 'global', allows: true, reason: 'in_app_enabled is true' },
        { level: 'category', allows: false, reason: 'the category is off' },
        { level: 'event', allows: true, reason: 'its channels have in_app' },
        { level: 'receivers', allows: true, reason: 'every user has an inbox' },
      ],
    })
  })

  test('are explained only for what there is', async () => {
    const unknown = await ada.withKey<ErrorBody>('GET', `${path}/explain?event_type=vault.sold`)
    const none = await ada.withKey<ErrorBody>('GET', `${path}/explain`)

    expect([unknown.status, none.status]).toEqual([400, 400])
  })
})
