import { beforeEach, describe, expect, test } from 'vitest'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { testReceiver } from '../support/test-receiver.ts'
import { webhooksAt as at, WebhookClient } from '../support/webhook-client.ts'

const receiver = await testReceiver()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })
const client = new WebhookClient(() => owner, receiver)
let owner: Person

beforeEach(async () => {
  owner = await newPerson(service.api)
})

interface Entry {
  readonly action: string
  readonly actorUserId: string
  readonly actorKeyId: string
  readonly subjectId: string
  readonly address: string
  readonly details: object
}

/** What the audit log has of the webhooks of the owner, in the order of its happening. */
async function entries(): Promise<readonly Entry[]> {
  const { body } = await service.api.withKey<Entry[]>('GET', `/audit?userId=${owner.userId}`)
  return body.filter(({ action }) => action.startsWith('webhook.')).toReversed()
}

async function written(): Promise<readonly (readonly [string, object])[]> {
  return (await entries()).map(({ action, details }) => [action, details])
}

describe('the audit log', () => {
  test('tells who has registered, changed, rotated and deleted a webhook', async () => {
    const { id } = await client.registered()
    await owner.withKey('PUT', `${at}/${id}`, { status: 'PAUSED', description: 'the boiler' })
    await owner.withKey('POST', `${at}/${id}/rotate-secret`, { secret: 'new' })
    await owner.withKey('DELETE', `${at}/${id}`)

    const host = receiver.destination
    expect(await written()).toEqual([
      ['webhook.created', { host, status: 'ACTIVE' }],
      ['webhook.changed', { host, status: 'PAUSED', changed: 'description, status' }],
      ['webhook.rotated', { host, overlapSeconds: 0 }],
      ['webhook.deleted', { host }],
    ])
    const by = {
      actorUserId: owner.userId,
      actorKeyId: owner.key.apiKey,
      subjectId: id,
      address: '127.0.0.1',
    }
    expect(await entries()).toMatchObject([by, by, by, by])
  })

  test('tells the same of the token interface', async () => {
    const body = { url: receiver.url, events: ['vault.created'] }
    const made = await owner.withToken<{ webhookId: string }>('POST', '/webhooks', body)
    const path = `/webhooks/${made.body.webhookId}`
    await owner.withToken('PUT', path, { active: false })
    await owner.withToken('DELETE', path)

    expect((await entries()).map(({ action, subjectId }) => [action, subjectId])).toEqual([
      ['webhook.created', made.body.webhookId],
      ['webhook.changed', made.body.webhookId],
      ['webhook.deleted', made.body.webhookId],
    ])
  })

  test('has no secret, of whatever kind', async () => {
    const secrets = ['first-secret', 'second-secret', 'third-secret', 'in-a-header', 'in-a-path']
    const [first, second, third, header, path] = secrets
    const { id } = await client.registered({
      url: `${receiver.url}/${path}?token=${path}`,
      secret: first,
      custom_headers: { Authorization: header },
    })
    await owner.withKey('PUT', `${at}/${id}`, { secret: second, custom_headers: { A: header } })
    await owner.withKey('POST', `${at}/${id}/rotate-secret`, { secret: third })
    await owner.withKey('DELETE', `${at}/${id}`)

    const text = JSON.stringify(await entries())
    expect(secrets.filter((one) => text.includes(one))).toEqual([])
    expect(text).toContain('"changed":"secret, customHeaders"')
  })

  test('has nothing of what did not come about, and nothing twice', async () => {
    const key = { 'idempotency-key': 'once' }
    const body = { url: receiver.url, event_types: ['vault.created'] }
    const { body: made } = await owner.withKey<{ id: string }>('POST', at, body, key)
    await owner.withKey('POST', at, body, key)
    const path = `${at}/${made.id}`
    await owner.withKey('PUT', path, { status: 'ACTIVE', event_types: ['vault.created'] })
    await owner.withKey('PUT', path, { url: 'http://10.0.0.1/' })
    await client.refusal({ url: 'http://10.0.0.1/' })
    await owner.withKey('DELETE', path)
    await owner.withKey('DELETE', path)

    expect((await entries()).map(({ action }) => action)).toEqual([
      'webhook.created',
      'webhook.deleted',
    ])
  })
})
