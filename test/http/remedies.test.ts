import { expect, test } from 'vitest'
import { sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** What an error answer says to do, where the refusal knows more than its code. */

const service = runningService()
const asAdmin = ['x-api-key', adminKey, 'x-api-secret', adminSecret]

interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: readonly string[]
  readonly body?: unknown
}

async function remedyOf({ method = 'GET', path, headers = asAdmin, body }: Sent): Promise<string> {
  const answer = await sendRaw(service.process.http, {
    method,
    path,
    headers: [...headers, ...(body === undefined ? [] : ['content-type', 'application/json'])],
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  expect(answer.status).toBeGreaterThanOrEqual(400)
  return (answer.body as { readonly remedy: string }).remedy
}

interface Made {
  readonly apiKey: string
  readonly apiSecret: string
}

async function bearer(): Promise<readonly string[]> {
  return ['authorization', `Bearer ${await service.api.token()}`]
}

test('an address that may not be reached: the entry that the setting lacks', async () => {
  const body = { url: 'http://192.168.7.1/in', events: ['vault.created'] }
  const asKey = { url: 'http://192.168.7.1/in', event_types: ['vault.created'] }

  const answers = await Promise.all([
    remedyOf({ method: 'POST', path: '/webhooks', headers: await bearer(), body }),
    remedyOf({ method: 'POST', path: '/notifications/webhooks', body: asKey }),
  ])

  for (const remedy of answers) {
    expect(remedy).toContain('add 192.168.7.1:80 to STREAMVAULT_EGRESS_ALLOW')
  }
})

test('no credentials: both ways to send some', async () => {
  const remedy = await remedyOf({ path: '/streams', headers: [] })

  expect(remedy).toContain('Authorization: Bearer')
  expect(remedy).toContain('x-api-secret')
})

test.each([
  ['x-api-secret', ['x-api-key', adminKey]],
  ['x-api-key', ['x-api-secret', adminSecret]],
])('half a key: %s, which is missing', async (missing, headers) => {
  const remedy = await remedyOf({ path: '/streams', headers })

  expect(remedy).toContain(`Send ${missing} as well`)
  expect(remedy).not.toContain(adminSecret)
})

test('a permission that the key lacks: its name', async () => {
  const body = { name: 'reader', kind: 'test', permission: 'custom', scopes: ['vaults:read'] }
  const { apiKey, apiSecret } = (await service.api.withKey<Made>('POST', '/keys', body)).body
  const headers = ['x-api-key', apiKey, 'x-api-secret', apiSecret]

  const remedy = await remedyOf({ method: 'POST', path: '/vaults', headers, body: {} })

  expect(remedy).toContain('Use a key that has vaults:write')
})

test('credentials of the other interface: those that the operation takes', async () => {
  const remedy = await remedyOf({ path: '/auth/validate' })

  expect(remedy).toContain('Send Authorization: Bearer with a token')
})

test('a parameter that is misspelt: how it is written', async () => {
  const remedy = await remedyOf({ path: '/streams?contians=pump', headers: await bearer() })

  expect(remedy).toBe('Write contains for contians.')
})

test('a member that is misspelt: how it is written', async () => {
  const body = { hnit: 'a boiler', name: 'boiler', required_streams: [] }

  expect(await remedyOf({ method: 'POST', path: '/templates', body })).toBe('Write hint for hnit.')
})

test.each(['li\u001Bmit', 'limit\u202E', 'li\nmit'])(
  'a misspelt name that would do something to a terminal is not repeated: %j',
  async (name) => {
    const path = `/streams?${encodeURIComponent(name)}=1`

    expect(await remedyOf({ path, headers: await bearer() })).toContain('that details names')
  },
)

test('a path that there is none of: where the paths are', async () => {
  const remedy = await remedyOf({ path: '/stream' })

  expect(remedy).toContain('GET /openapi.json')
  expect(remedy).not.toContain('id')
})

test('a content coding that is not taken: those that are', async () => {
  const remedy = await remedyOf({
    method: 'POST',
    path: `/streams/${await service.api.createStream()}/data`,
    headers: [...(await bearer()), 'content-encoding', 'br'],
    body: {},
  })

  expect(remedy).toContain('gzip or zstd')
})

test('a batch with nothing in it: how many readings there may be', async () => {
  const path = `/streams/${await service.api.createStream()}/data`

  const remedy = await remedyOf({ method: 'POST', path, headers: await bearer(), body: [] })

  expect(remedy).toContain('1 to 10,000 readings')
})

test('a limit beyond the greatest one: how to page', async () => {
  const remedy = await remedyOf({ path: '/streams?limit=5000', headers: await bearer() })

  expect(remedy).toMatch(/^Set limit to 1000 or less, .*cursor/)
})

test('a unit that is misspelt: the right spelling', async () => {
  const transform = [{ convert: { field: 't', from: 'C', to: 'degF' } }]

  const answer = await service.api.withToken('POST', '/streams', {
    name: 'boiler',
    type: 'iot_sensor',
    schema: { t: { type: 'number' } },
    processing: { transform },
    vaultId: await service.api.createVault(),
  })

  expect(answer.body).toMatchObject({
    remedy: expect.stringContaining('degC for C') as string,
    details: [{ message: expect.stringContaining('degC for C') as string }],
  })
})

test('a number that comes as the time: the format to name', async () => {
  const streamId = await service.api.createStream()
  const body = { timestamp: 1_767_225_600_000, temperature: 20 }

  const answer = await service.api.withKey('POST', `/streams/${streamId}/data`, body)

  expect(answer.body).toMatchObject({
    reason: 'timestamp_invalid',
    message: expect.stringContaining('timestampFormat epoch_ms') as string,
    remedy: expect.stringContaining('Set timestampFormat') as string,
  })
})
