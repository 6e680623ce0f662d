import { beforeAll, describe, expect, test } from 'vitest'
import { newPerson, type Person, streamOf, vaultOf } from '../support/people.ts'
import { answering } from '../support/receiver.ts'
import { runningService } from '../support/running-service.ts'
import { testReceiver } from '../support/test-receiver.ts'
import {
  webhooksAt as at,
  isSigned,
  type Page,
  type WebhookBody,
  WebhookClient,
} from '../support/webhook-client.ts'

const receiver = await testReceiver(() => client.removeAll())
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })
const client = new WebhookClient(() => owner, receiver)
let owner: Person

beforeAll(async () => {
  owner = await newPerson(service.api)
})

describe('the two ways to register', () => {
  test('are two views of one table', async () => {
    const { body } = await owner.withToken<{ webhookId: string; active: boolean }>(
      'POST',
      '/webhooks',
      {
        url: receiver.url,
        events: ['vault.created', 'stream.data_received'],
        secret: 's',
        active: false,
      },
    )
    expect(body.active).toBe(false)
    const { content } = (await owner.withKey<Page<WebhookBody>>('GET', at)).body
    expect(content).toMatchObject([
      {
        id: body.webhookId,
        status: 'PAUSED',
        secret: 's',
        event_types: ['vault.created', 'stream.data_received'],
      },
    ])
    await owner.withKey('PUT', `${at}/${body.webhookId}`, { status: 'ACTIVE' })
    const list = await owner.withToken<readonly object[]>('GET', '/webhooks')
    expect(list.body).toMatchObject([{ webhookId: body.webhookId, active: true }])
  })

  test('deliver events of the emitted set in the emitted format', async () => {
    const settings = { url: receiver.url, events: ['vault.created'], secret: 'a secret' }
    await owner.withToken('POST', '/webhooks', settings)
    const id = await vaultOf(owner)
    const received = await client.firstReceived()
    const body = JSON.parse(received.body.toString()) as { timestamp: string }
    expect(body).toMatchObject({ event_type: 'vault.created', data: { id } })
    expect(Object.keys(body)).toEqual(['event_type', 'timestamp', 'data'])
    expect(body.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/)
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Service-Webhook/1.0',
      'x-service-event': 'vault.created',
      'x-service-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/) as string,
    })
    expect(received.headers['x-service-delivery-id']).toBeUndefined()
    expect(isSigned(received, 'a secret')).toBe(true)
    expect(isSigned(received, 'another')).toBe(false)
  })

  test('have types that exist in the token interface only', async () => {
    expect(await client.refusal({ event_types: ['stream.data_received'] })).toEqual([
      400,
      'invalid_request',
      ['event_types.0'],
    ])
  })

  test('deliver the others in the forthcoming format', async () => {
    const settings = { url: receiver.url, events: ['stream.alert_triggered'], secret: 'a secret' }
    const { body } = await owner.withToken<{ webhookId: string }>('POST', '/webhooks', settings)
    const { status } = await owner.withKey('POST', `${at}/${body.webhookId}/test`, {})
    expect(status).toBe(202)
    const received = await client.firstReceived()
    const sent = JSON.parse(received.body.toString()) as { eventId: string; timestamp: string }
    expect(Object.keys(sent)).toEqual(['eventType', 'eventId', 'timestamp', 'data'])
    expect(sent.timestamp).toMatch(/\.\d{6}Z$/)
    expect(received.headers).toMatchObject({
      'x-service-event-type': 'stream.alert_triggered',
      'x-service-event-id': sent.eventId,
      'x-service-delivery-id': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      'x-service-signature': expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    })
    expect(isSigned(received, 'a secret')).toBe(true)
  })
})

describe('a registration', () => {
  test('takes types that are never emitted, and says so', async () => {
    const { event_types, warnings } = await client.registered({
      event_types: ['vault.updated', 'vault.created', 'vault.updated'],
    })
    expect(event_types).toEqual(['vault.updated', 'vault.created'])
    expect(warnings).toEqual(['vault.updated is accepted, and never emitted: it delivers nothing'])
  })

  test.each([
    ['an unknown type', { event_types: ['vault.exploded'] }, 'event_types.0'],
    ['a wildcard', { event_types: ['vault.*'] }, 'event_types.0'],
    ['an empty list', { event_types: [] }, 'event_types'],
    ['an unknown member', { events: [] }, 'events'],
    ['an unknown status', { status: 'BROKEN' }, 'status'],
  ])('refuses %s with 400', async (_, body, path) => {
    expect(await client.refusal(body)).toEqual([400, 'invalid_request', [path]])
  })

  test('shows its secret when it is read, and encrypts it on disk', async () => {
    const secret = 'a secret that stands nowhere else'
    const { id, status } = await client.registered({ secret, status: 'PAUSED' })
    expect(status).toBe('PAUSED')
    const { body } = await owner.withKey<WebhookBody>('GET', `${at}/${id}`)
    expect(body.secret).toBe(secret)
    expect(service.process.output()).not.toContain(secret)
  })

  test('is not made twice under one Idempotency-Key', async () => {
    const body = { url: receiver.url, event_types: ['vault.created'] }
    const headers = { 'idempotency-key': 'once' }
    const first = await owner.withKey<WebhookBody>('POST', at, body, headers)
    const again = await owner.withKey<WebhookBody>('POST', at, body, headers)
    expect(again.body.id).toBe(first.body.id)
  })
})

describe('a list', () => {
  test('has those with a status, or those that fail, and counts them', async () => {
    const found = async (query: string) => {
      const { body } = await owner.withKey<Page<WebhookBody>>('GET', `${at}?${query}`)
      const bearer = await owner.withToken<readonly { webhookId: string }[]>(
        'GET',
        `/webhooks?${query.replace('page_size', 'limit')}`,
      )
      expect(bearer.body.map(({ webhookId }) => webhookId)).toEqual(
        body.content.map(({ id }) => id),
      )
      return [body.total_records, body.content.map(({ id }) => id)]
    }
    receiver.behaviour = answering(500)
    const { id: bad } = await client.registered()
    await owner.withToken('PUT', `/webhooks/${bad}`, { retryCount: 0 })
    await vaultOf(owner)
    const { id: good } = await client.registered({ event_types: ['vault.deleted'] })
    const { id: paused } = await client.registered({ status: 'PAUSED' })
    const { id: other } = await client.registered({ status: 'PAUSED' })

    await expect.poll(() => found('failing=true')).toEqual([1, [bad]])
    expect(await found('status=ACTIVE')).toEqual([2, [bad, good]])
    expect(await found('status=PAUSED&page_size=1')).toEqual([2, [paused]])
    expect(await found('status=PAUSED')).toEqual([2, [paused, other]])
    expect(await found('status=PAUSED&failing=true')).toEqual([0, []])
    expect(await found('status=DISABLED')).toEqual([0, []])
    expect((await owner.withKey('GET', `${at}?status=BROKEN`)).status).toBe(400)

    // One that is paused has failed as well, and does so no more.
    await owner.withKey('PUT', `${at}/${bad}`, { status: 'PAUSED' })
    expect(await found('failing=true')).toEqual([0, []])
    expect(await found('status=PAUSED')).toEqual([3, [bad, paused, other]])
  })
})

describe('custom headers', () => {
  test('win over the standard ones, in any case, each once', async () => {
    await client.registered({
      custom_headers: { 'user-agent': 'mine', 'X-SERVICE-EVENT': 'other', 'X-Tenant': 'plant 7' },
    })
    await vaultOf(owner)
    const { rawHeaders, headers } = await client.firstReceived()
    expect(headers).toMatchObject({
      'user-agent': 'mine',
      'x-service-event': 'other',
      'x-tenant': 'plant 7',
    })
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((one) => one.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
  })

  test.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'Expect',
    'with blank',
    '',
  ])('cannot be %j', async (name) => {
    const [status, error] = await client.refusal({ custom_headers: { [name]: 'value' } })
    expect([status, error]).toEqual([400, 'invalid_request'])
  })

  test.each(['line\r\nbreak', 'line\nbreak', 'nul\u0000', 'umlaut ä', ' blank'])(
    'cannot have the value %j',
    async (value) => {
      const [status, error, paths] = await client.refusal({ custom_headers: { 'X-One': value } })
      expect([status, error]).toEqual([400, error === 'malformed_body' ? error : 'invalid_request'])
      expect(error === 'malformed_body' || paths.includes('custom_headers.X-One')).toBe(true)
    },
  )

  test('cannot come twice in different cases', async () => {
    const [status] = await client.refusal({ custom_headers: { 'X-One': 'a', 'x-one': 'b' } })
    expect(status).toBe(400)
  })
})

async function check(url: string): Promise<object> {
  return (await owner.withKey<object>('POST', `${at}/check`, { url })).body
}

describe('a destination', () => {
  test.each([
    'http://127.0.0.1/hook',
    'https://localhost:444/hook',
    'http://10.0.0.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://127.0.0.1./',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://169.254.169.254/latest/meta-data',
    'ftp://93.184.215.14/',
    'https://93.184.215.14:8443/',
    'https://user:secret@93.184.215.14/',
  ])('%s is refused at registration and on PUT', async (url) => {
    expect(await client.refusal({ url })).toEqual([422, 'destination_not_allowed', ['url']])
    const { id } = await client.registered()
    const { status } = await owner.withKey('PUT', `${at}/${id}`, { url })
    expect(status).toBe(422)
  })

  test.each(['no url', '/hook', 'https://', 'http://a b/'])('%s is malformed', async (url) => {
    expect((await client.refusal({ url }))[0]).toBe(400)
  })

  test('that does not resolve is taken', async () => {
    expect((await client.registered({ url: 'https://receiver.nowhere.example.com/' })).status).toBe(
      'ACTIVE',
    )
  })

  test('can be checked first', async () => {
    expect(await check('http://192.168.1.1/')).toEqual({
      allowed: false,
      reason:
        "it leads to an address that is not on the public internet; the operator of the service can allow '192.168.1.1:80' in STREAMVAULT_EGRESS_ALLOW",
      remedy:
        'Name a public address, or ask the operator to add 192.168.1.1:80 to STREAMVAULT_EGRESS_ALLOW and restart the service.',
      addresses: ['192.168.1.1'],
    })
    expect(await check('https://93.184.215.14/')).toEqual({
      allowed: true,
      reason: null,
      remedy: null,
      addresses: ['93.184.215.14'],
    })
    expect(await check('https://93.184.215.14:81/')).toMatchObject({ allowed: false })
  })
})

describe('resource filters', () => {
  test('let the named vault pass, and nothing else', async () => {
    const vaultId = await vaultOf(owner)
    const filtered = await client.registered({
      event_types: ['vault.deleted'],
      resource_filters: { vault_ids: [vaultId.toUpperCase()] },
    })
    const open = await client.registered({ event_types: ['vault.deleted'] })
    await owner.withKey('DELETE', `/vaults/${await vaultOf(owner)}`)
    await owner.withKey('DELETE', `/vaults/${vaultId}`)
    await client.attemptsOf(open.id, 2)
    const [attempt, ...others] = await client.attemptsOf(filtered.id, 1)
    expect(others).toEqual([])
    expect(attempt?.delivered).toBe(true)
  })

  test('by streams is about asset streams as well as data streams', async () => {
    const asset = async (code: string) => {
      const body = { asset_code: code, description: null }
      return (await owner.withKey<WebhookBody>('POST', '/streams', body)).body.id
    }
    const [gold, iron, heat] = [await asset('GOLD'), await asset('IRON'), await streamOf(owner)]
    const wish = { event_types: ['stream.deleted'] }
    const filtered = await client.registered({
      ...wish,
      resource_filters: { stream_ids: [gold, heat] },
    })
    const open = await client.registered(wish)
    await owner.withKey('DELETE', `/streams/${gold}`)
    await owner.withKey('DELETE', `/streams/${iron}`)
    await owner.withToken('DELETE', `/streams/${heat}`)
    await client.attemptsOf(open.id, 3)

    expect(await client.attemptsOf(filtered.id, 2)).toHaveLength(2)
  })
})
