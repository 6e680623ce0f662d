import { CloudEvent, HTTP } from 'cloudevents'
import { expect, test } from 'vitest'
import { InboundWebhook } from '../support/inbound-webhook.ts'
import { runningService } from '../support/running-service.ts'
import { type Sender, senders } from '../support/webhook-senders.ts'

/** What senders ask an address before they send, and secrets in the address. */

const service = runningService()

const secret = 'the secret of a topic'

/** Azure Event Grid, and devices that set no headers. */
const inAddress: Sender = {
  signature: { scheme: 'token', parameter: 'code' },
  secret,
  headers: () => ({}),
}

const events = { source: { format: 'cloudevents' } }

interface Asked {
  readonly status: number
  readonly allowed: readonly (string | null)[]
}

async function ask(path: string, headers: Record<string, string>): Promise<Asked> {
  const answer = await fetch(service.process.http + path, { method: 'OPTIONS', headers })
  const names = ['allow', 'webhook-allowed-origin', 'webhook-allowed-rate']
  return { status: answer.status, allowed: names.map((name) => answer.headers.get(name)) }
}

const origin = 'eventgrid.azure.net'
const asking = { 'webhook-request-origin': origin, 'webhook-request-rate': '120' }

test('a sender of CloudEvents is allowed to send', async () => {
  const hook = await InboundWebhook.open(service.api, inAddress, events)

  expect(await ask(`${hook.path}?code=x`, asking)).toEqual({
    status: 200,
    allowed: ['POST', origin, '*'],
  })
})

test('who does not say who it is, and a stream of anything else, is not', async () => {
  const hook = await InboundWebhook.open(service.api, inAddress, events)
  const other = await InboundWebhook.open(service.api, inAddress)

  const refused = { status: 405, allowed: ['OPTIONS, POST', null, null] }
  expect(await ask(hook.path, {})).toEqual(refused)
  expect(await ask(other.path, asking)).toEqual(refused)
  expect(await ask('/hooks/nothing-is-here', asking)).toMatchObject({ status: 404 })
})

test('an event comes in either mode, with the secret in the address', async () => {
  const hook = await InboundWebhook.open(service.api, inAddress, events)
  const event = new CloudEvent({ type: 'a', source: '/b', data: { level: 1 } })
  const post = async (code: string, { headers, body }: { headers: object; body: unknown }) => {
    const query = code === '' ? '' : `?code=${encodeURIComponent(code)}`
    const texts = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, String(value)]),
    )
    return await service.api.request('POST', hook.path + query, {
      headers: texts,
      body: String(body),
    })
  }

  const accepted = { status: 202, body: { status: 'accepted', readings: 1, refused: 0 } }
  expect(await post(secret, HTTP.structured(event))).toMatchObject(accepted)
  expect(await post(secret, HTTP.binary(event))).toMatchObject(accepted)
  expect(await post('another', HTTP.binary(event))).toMatchObject({ status: 401 })
  expect(await post('', HTTP.binary(event))).toMatchObject({
    status: 401,
    body: { message: 'the parameter code is missing' },
  })
  expect(await service.api.settled(hook.streamId, 2)).toMatchObject({ stored: 1, duplicates: 1 })
})

test('no field can read the secret in the address', async () => {
  const fields = {
    level: { type: 'number' },
    unit: { type: 'string', from: "$query['unit']" },
    code: { type: 'string', from: "$query['code']" },
  }
  const hook = await InboundWebhook.open(service.api, inAddress, { schema: fields })
  const query = `?code=${encodeURIComponent(secret)}&unit=m`

  await service.api.request('POST', hook.path + query, { body: { level: 1 } })

  await service.api.settled(hook.streamId, 1)
  const [reading] = await service.api.readAll(hook.streamId)
  expect(reading).toEqual({ timestamp: expect.any(String), level: 1, unit: 'm' })
})

test('Event Grid is answered its validation code, and nothing is stored of it', async () => {
  const hook = await InboundWebhook.open(service.api, senders.token)
  const validationCode = '512d38b6-c7b8-40c8-89fe-f46f9e9622b6'
  const body = [
    { eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent', data: { validationCode } },
  ]
  const headers = { 'aeg-event-type': 'SubscriptionValidation' }

  expect(await hook.send({ body, headers })).toMatchObject({
    status: 200,
    body: { validationResponse: validationCode },
  })
  expect(await hook.send({ body, headers, secret: 'another secret' })).toMatchObject({
    status: 401,
  })
  expect(await hook.send({ body: [{ level: 1 }], headers })).toMatchObject({ status: 202 })
  expect(await service.api.settled(hook.streamId, 1)).toMatchObject({ received: 1, stored: 1 })
})

test.each([
  [{ scheme: 'token' }, 'signature.header'],
  [{ scheme: 'token', header: 'x-a', parameter: 'code' }, 'signature.parameter'],
  [{ scheme: 'hmac', header: 'x-a', parameter: 'code' }, 'signature.parameter'],
  [{ scheme: 'token', parameter: 'a b' }, 'signature.parameter'],
])('a definition is refused with the signature %j', async (signature, path) => {
  const open = InboundWebhook.open(service.api, { ...inAddress, signature })
  await expect(open).rejects.toThrow(`source.${path}`)
})
