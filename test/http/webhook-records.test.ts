import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, test } from 'vitest'
import { metricOf } from '../support/metrics.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { answering } from '../support/receiver.ts'
import { runningService } from '../support/running-service.ts'
import { testReceiver } from '../support/test-receiver.ts'
import { webhooksAt as at, isSigned, WebhookClient } from '../support/webhook-client.ts'

const receiver = await testReceiver(() => client.removeAll())
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })
const client = new WebhookClient(() => owner, receiver)
let owner: Person

beforeAll(async () => {
  owner = await newPerson(service.api)
})

describe('what is recorded', () => {
  test('is one record for each attempt, and one line for each event', async () => {
    receiver.behaviour = answering(404, 'who is that?')
    const { id } = await client.registered({ custom_headers: { Authorization: 'Bearer hidden' } })
    await vaultOf(owner)
    const [attempt] = await client.attemptsOf(id, 1)
    expect(attempt).toMatchObject({
      attempt: 1,
      status_code: 404,
      delivered: false,
      message: 'answered 404',
      response_excerpt: 'who is that?',
    })
    expect(attempt?.request_headers).toMatchObject({
      Authorization: '********',
      'X-Service-Event': 'vault.created',
    })
    expect(receiver.received[0]?.headers.authorization).toBe('Bearer hidden')
    const { body } = await owner.withToken<object>('GET', `/webhooks/${id}/logs`)
    expect(body).toMatchObject({
      webhookId: id,
      logs: [
        {
          eventId: attempt?.event_id,
          eventType: 'vault.created',
          deliveryStatus: 'pending',
          httpStatus: 404,
          attempts: 1,
          lastError: 'answered 404',
        },
      ],
    })
  })

  test('of a blocked attempt has no status code', async () => {
    const { id } = await client.registered({ url: 'https://receiver.nowhere.example.com/' })
    await owner.withKey('POST', `${at}/${id}/test`, {})
    const [attempt] = await client.attemptsOf(id, 1)
    expect(attempt).toMatchObject({ status_code: null, delivered: false })
  })
})

/** How many deliveries are not over, as the metrics tell. */
async function pending(): Promise<number> {
  return await metricOf(service.process, 'deliveries_pending')
}

test('the metrics tell how many deliveries are not over', async () => {
  receiver.behaviour = answering(404)
  const { id } = await client.registered()
  expect(await pending()).toBe(0)
  await vaultOf(owner)
  await client.attemptsOf(id, 1)
  expect(await pending()).toBe(1)
  await owner.withKey('DELETE', `${at}/${id}`)
  expect(await pending()).toBe(0)
})

test('nothing is sent for a user who is gone', async () => {
  const leaving = await newPerson(service.api)
  const theirs = new WebhookClient(() => leaving, receiver)
  receiver.behaviour = answering(404)
  const { id } = await theirs.registered({ secret: 'a secret' })
  await vaultOf(leaving)
  await theirs.attemptsOf(id, 1)
  expect(await pending()).toBe(1)

  await service.api.withKey('DELETE', `/users/${leaving.userId}`)

  expect(await pending()).toBe(0)
  using state = new DatabaseSync(`${service.process.dataDir}/state.db`, { readOnly: true })
  for (const table of ['webhooks', 'webhook_subscriptions']) {
    const left = state.prepare(`SELECT count(*) AS count FROM ${table} WHERE owner_id = ?`)
    expect([table, left.get(leaving.userId)]).toEqual([table, { count: 0 }])
  }
})

describe('beyond the specification', () => {
  test('what was delivered can be sent again, with the same bytes', async () => {
    const { id } = await client.registered()
    await vaultOf(owner)
    const [attempt] = await client.attemptsOf(id, 1)
    const { status } = await owner.withKey('POST', `${at}/${id}/deliveries/${attempt?.id}/resend`)
    expect(status).toBe(202)
    const [first, second] = await receiver.requests(2)
    expect(second?.body).toEqual(first?.body)
    expect(await client.attemptsOf(id, 2)).toMatchObject([{ attempt: 2 }, { attempt: 1 }])
  })

  test('what waits for the next pass can be sent again at once', async () => {
    receiver.behaviour = answering(401)
    const { id } = await client.registered()
    await vaultOf(owner)
    const [attempt] = await client.attemptsOf(id, 1)
    receiver.behaviour = answering(204)
    const { status } = await owner.withKey('POST', `${at}/${id}/deliveries/${attempt?.id}/resend`)
    expect(status).toBe(202)
    expect(await client.attemptsOf(id, 2)).toMatchObject([
      { attempt: 2, delivered: true },
      { attempt: 1, delivered: false },
    ])
  })

  test('what was missed while it was paused can be recovered, once', async () => {
    const since = new Date(Date.now() - 60_000).toISOString()
    const { id } = await client.registered({ status: 'PAUSED', event_types: ['vault.deleted'] })
    const vaultId = await vaultOf(owner)
    await owner.withKey('DELETE', `/vaults/${vaultId}`)
    await owner.withKey('PUT', `${at}/${id}`, { status: 'ACTIVE' })
    const recover = async () =>
      (await owner.withKey<{ recovered: number }>('POST', `${at}/${id}/recover`, { since })).body
    const { recovered } = await recover()
    expect(recovered).toBeGreaterThan(0)
    const received = await receiver.requests(recovered)
    expect(received.map(({ body }) => JSON.parse(body.toString()) as object)).toContainEqual(
      expect.objectContaining({ data: expect.objectContaining({ id: vaultId }) as object }),
    )
    await client.attemptsOf(id, recovered)
    expect(await recover()).toEqual({ recovered: 0, next_since: null })
  })

  test('a secret is replaced with a time of overlap', async () => {
    const { id } = await client.registered({ secret: 'old' })
    const rotated = await owner.withKey<{ secret: string }>('POST', `${at}/${id}/rotate-secret`, {
      overlap_seconds: 60,
    })
    const { secret } = rotated.body
    await owner.withKey('POST', `${at}/${id}/test`, {})
    const received = await client.firstReceived()
    expect(isSigned(received, 'old')).toBe(true)
    expect(isSigned(received, secret)).toBe(true)
    await owner.withKey('POST', `${at}/${id}/rotate-secret`, { secret: 'new', overlap_seconds: 0 })
    await owner.withKey('POST', `${at}/${id}/test`, {})
    const [, second] = await receiver.requests(2)
    expect(second && isSigned(second, 'new')).toBe(true)
    expect(second && isSigned(second, secret)).toBe(false)
  })

  test('it is explained why an event was not sent', async () => {
    const { id } = await client.registered({ event_types: ['vault.deleted'] })
    const other = await client.registered()
    await vaultOf(owner)
    const [attempt] = await client.attemptsOf(other.id, 1)
    const path = `${at}/${id}/deliveries/explain?eventId=${attempt?.event_id}`
    const { body } = await owner.withKey<{ checks: readonly object[] }>('GET', path)
    expect(body).toMatchObject({ outcome: 'not_sent', attempts: 0 })
    expect(body.checks).toContainEqual({
      check: 'event_types',
      passed: false,
      message: 'the webhook is not subscribed to vault.created',
    })
  })

  test('nothing is sent to what is paused', async () => {
    const { id } = await client.registered({ status: 'PAUSED' })
    const { status } = await owner.withKey('POST', `${at}/${id}/test`, {})
    expect(status).toBe(409)
  })
})
