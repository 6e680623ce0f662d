import { describe, expect, test } from 'vitest'
import { InboundWebhook } from '../support/inbound-webhook.ts'
import { runningService } from '../support/running-service.ts'
import { senders } from '../support/webhook-senders.ts'

const service = runningService()
const standard = senders['standard-webhooks']
const [old, second, third] = [standard.secret, secretOf('b'), secretOf('c')]

function secretOf(letter: string): string {
  return `whsec_${Buffer.from(letter.repeat(24)).toString('base64')}`
}

function rotate({ streamId }: InboundWebhook, body: object) {
  return service.api.withToken('POST', `/streams/${streamId}/source/rotate-secret`, body)
}

function change({ streamId }: InboundWebhook, body: object) {
  return service.api.withToken<object>('PUT', `/streams/${streamId}`, body)
}

async function statusesWith(hook: InboundWebhook, ...secrets: readonly string[]) {
  const statuses: number[] = []
  for (const secret of secrets) statuses.push((await hook.send({ secret })).status)
  return statuses
}

describe('after a rotation', () => {
  test('the old secret is good for a time, and a further rotation ends the oldest', async () => {
    const hook = await InboundWebhook.open(service.api, standard)
    expect(await statusesWith(hook, old, second)).toEqual([202, 401])

    const { status, body } = await rotate(hook, { secret: second })
    expect([status, body]).toEqual([
      200,
      { streamId: hook.streamId, previousUntil: expect.any(String) as string },
    ])
    expect(await statusesWith(hook, old, second)).toEqual([202, 202])

    await rotate(hook, { secret: third, overlapSeconds: 60 })
    expect(await statusesWith(hook, old, second, third)).toEqual([401, 202, 202])
  })

  test('without an overlap the old secret is good no more', async () => {
    const hook = await InboundWebhook.open(service.api, standard)
    await statusesWith(hook, old)
    const { body } = await rotate(hook, { secret: second, overlapSeconds: 0 })

    expect(body).toMatchObject({ previousUntil: null })
    expect(await statusesWith(hook, old, second)).toEqual([401, 202])
  })

  test('changes of the definition leave both secrets as they are', async () => {
    const hook = await InboundWebhook.open(service.api, standard)
    await rotate(hook, { secret: second })
    const changed = await change(hook, { source: { timestampField: 'at' } })

    expect(changed.status).toBe(200)
    expect(JSON.stringify(changed.body)).not.toContain('whsec')
    expect(await statusesWith(hook, old, second)).toEqual([202, 202])
  })

  test('a secret that is sent with the definition ends all others', async () => {
    const hook = await InboundWebhook.open(service.api, standard)
    await rotate(hook, { secret: second })
    await change(hook, { source: { credentials: { secret: third } } })

    expect(await statusesWith(hook, old, second, third)).toEqual([401, 401, 202])
  })
})

test('another kind of signature needs its secret again', async () => {
  const hook = await InboundWebhook.open(service.api, standard)

  expect(await change(hook, { source: { signature: { scheme: 'github' } } })).toMatchObject({
    status: 400,
    body: { details: [{ path: 'source.credentials.secret' }] },
  })
})

test('a secret that does not fit is refused, and a stream without a webhook has none', async () => {
  const hook = await InboundWebhook.open(service.api, standard)
  expect(await rotate(hook, { secret: 'short' })).toMatchObject({
    status: 400,
    body: { details: [{ path: 'secret' }] },
  })
  const streamId = await service.api.createStream()
  const path = `/streams/${streamId}/source/rotate-secret`
  expect(await service.api.withToken('POST', path, { secret: second })).toMatchObject({
    status: 409,
  })
})

test('there is nothing to try', async () => {
  const source = {
    protocol: 'webhook',
    signature: { scheme: 'github' },
    credentials: { secret: 'long enough' },
  }
  expect(
    await service.api.withToken('POST', '/sources/check', { type: 'event_stream', source }),
  ).toMatchObject({
    status: 422,
    body: { error: 'unsupported_definition', details: [{ path: 'source.protocol' }] },
  })
})

test('no secret is in what the service has printed', () => {
  expect(service.process.output()).not.toMatch(/whsec_/)
})
