import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { InboundWebhook } from '../support/inbound-webhook.ts'
import { runningService } from '../support/running-service.ts'
import { type Sender, senders } from '../support/webhook-senders.ts'

const service = runningService()
const accepted = { status: 202, body: { status: 'accepted', readings: 1, refused: 0 } }
const repeated = { status: 202, body: { status: 'repeated', readings: 0, refused: 0 } }
const badSignature = { status: 401, body: { error: 'invalid_signature' } }
const standard = senders['standard-webhooks']

function opened(sender: Sender = standard, rest: Parameters<typeof InboundWebhook.open>[2] = {}) {
  return InboundWebhook.open(service.api, sender, rest)
}

describe.each(Object.entries(senders))('a message of %s', (name, sender: Sender) => {
  test('is taken when it is signed, and refused when it is not', async () => {
    const hook = await opened(sender)

    expect(await hook.send()).toMatchObject(accepted)
    expect(await hook.send({ secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' })).toMatchObject(
      badSignature,
    )

    expect(await service.api.settled(hook.streamId, 1)).toMatchObject({ received: 1, stored: 1 })
    expect(await hook.status()).toMatchObject({ messages: 1, refused: 1, repeated: 0 })
  })

  test.skipIf(name === 'token')('is stored once when it comes twice', async () => {
    const hook = await opened(sender)
    const message = { id: 'one', timestamp: Math.floor(Date.now() / 1_000) }

    const answers = await Promise.all([hook.send(message), hook.send(message)])

    // They come over two connections, and either of them may be the first.
    const isSecondFirst = answers[1].body['status'] === 'accepted'
    expect(isSecondFirst ? answers.toReversed() : answers).toMatchObject([accepted, repeated])
    expect(await hook.send(message)).toMatchObject(repeated)
    expect(await service.api.settled(hook.streamId, 1)).toMatchObject({ received: 1 })
  })
})

test('the address is shown to the owner, and the secret to nobody', async () => {
  const hook = await opened()
  const { body } = await service.api.withToken<{ webhookUrl: string; source: object }>(
    'GET',
    `/streams/${hook.streamId}`,
  )

  expect(new URL(body.webhookUrl).pathname).toBe(hook.path)
  expect(body.source).toMatchObject({ credentials: { secret: '********' } })
})

test('an address that was made up is not found, signed or not', async () => {
  const hook = await opened()
  const last = hook.path.endsWith('A') ? 'B' : 'A'
  for (const path of [hook.path.slice(0, -1) + last, `${hook.path}A`, `/hooks/${hook.streamId}`]) {
    expect(await service.api.request('POST', path, { body: {} })).toMatchObject({ status: 404 })
  }
})

test('a message that is too old is refused, and told so', async () => {
  const hook = await opened()
  const timestamp = Math.floor(Date.now() / 1_000) - 400

  expect(await hook.send({ timestamp })).toMatchObject({
    status: 401,
    body: { message: 'the time that was signed is not within 300 s of now' },
  })
})

test('a message that is no JSON, or does not fit, is taken into the quarantine', async () => {
  const hook = await opened()

  const answers = [await hook.send({ body: '{' }), await hook.send({ body: { level: 'high' } })]

  const refused = { status: 202, body: { status: 'accepted', readings: 0, refused: 1 } }
  expect(answers).toMatchObject([refused, refused])
  expect(await service.api.settled(hook.streamId, 2)).toMatchObject({ quarantined: 2 })
})

test('another content type is refused', async () => {
  const hook = await opened()
  for (const type of ['application/x-www-form-urlencoded', 'text/csv', 'application/cbor']) {
    const answer = await hook.send({ headers: { 'content-type': type } })
    expect(answer).toMatchObject({ status: 415, body: { error: 'unsupported_media_type' } })
  }
})

test('a compressed body is signed as it was before', async () => {
  const hook = await opened()
  const bytes = new Uint8Array(gzipSync('{"level":1}'))

  expect(await hook.send({ bytes, headers: { 'content-encoding': 'gzip' } })).toMatchObject(
    accepted,
  )
})

test('a body that is too large when it is decompressed is refused', async () => {
  const hook = await opened()
  const bytes = new Uint8Array(gzipSync(' '.repeat(4 * 1024 * 1024 + 1)))
  const answer = await hook.send({ bytes, headers: { 'content-encoding': 'gzip' } })

  expect(answer).toMatchObject({ status: 413, body: { error: 'body_too_large' } })
})

test('a paused stream takes nothing, and tells so to who knows the secret only', async () => {
  const hook = await opened()
  await service.api.withToken('POST', `/streams/${hook.streamId}/pause`)

  expect(await hook.send()).toMatchObject({ body: { error: 'stream_paused' } })
  expect(await hook.send({ headers: { 'webhook-signature': 'v1,AAAA' } })).toMatchObject(
    badSignature,
  )

  await service.api.withToken('POST', `/streams/${hook.streamId}/resume`)
  expect(await hook.send()).toMatchObject(accepted)
})

test('a deleted stream has no address any more', async () => {
  const hook = await opened()
  await hook.send()
  await service.api.withToken('DELETE', `/streams/${hook.streamId}`)

  expect(await hook.send()).toMatchObject({ status: 404 })
})

test('the type of an event comes from a header', async () => {
  const eventTypes = { push: { level: { type: 'number' } }, issue: { title: { type: 'string' } } }
  const hook = await opened(senders.github, { source: { eventTypes } })

  expect(await hook.send()).toMatchObject(accepted)
  expect(await hook.send({ body: { type: 'issue', title: 'a' } })).toMatchObject(accepted)

  await service.api.settled(hook.streamId, 2)
  const stored = await service.api.readAll(hook.streamId)
  expect(stored).toMatchObject([
    { type: 'push', level: 1 },
    { type: 'issue', title: 'a' },
  ])
})

test('Slack is answered its challenge, and nothing is stored of it', async () => {
  const hook = await opened(senders.slack)
  const body = { type: 'url_verification', challenge: 'abc', token: 'x' }

  expect(await hook.send({ body })).toMatchObject({ status: 200, body: { challenge: 'abc' } })
  expect(await hook.send({ body, secret: 'another secret' })).toMatchObject(badSignature)
  expect(await service.api.settled(hook.streamId)).toMatchObject({ received: 0 })
})

test('who sends bad signatures is not read any more, and others are', async () => {
  const hook = await opened()
  const other = await opened()
  const statuses = new Set<number>()
  const round = async () => {
    const sent = Array.from({ length: 20 }, () => hook.send({ secret: 'whsec_' + 'A'.repeat(32) }))
    for (const { status } of await Promise.all(sent)) statuses.add(status)
    return [...statuses]
  }

  // The first hundred are read in any case.
  expect(await round()).toEqual([401])
  await expect.poll(round).toEqual([401, 429])
  expect(await other.send()).toMatchObject(accepted)
})
