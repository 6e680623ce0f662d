import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { refusalCatalogue } from '../../src/core/refusal-catalogue.ts'
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

async function remedyOfDefinition(changes: object): Promise<string> {
  const sound = {
    name: 'boiler',
    type: 'iot_sensor',
    schema: { t: { type: 'number' } },
    vaultId: await service.api.createVault(),
  }
  const body = { ...sound, ...changes }
  return await remedyOf({ method: 'POST', path: '/streams', headers: await bearer(), body })
}

describe('a definition of a stream', () => {
  test.each([
    [{ type: 'iotsensor' }, 'Write iot_sensor for iotsensor.'],
    [{ source: { timestampformat: 'epoch_ms' } }, 'Write timestampFormat for timestampformat.'],
    [{ source: { timestampFormat: 'unix' } }, 'Write epoch_s for unix.'],
    [{ source: { format: 'jsn' } }, 'Write json for jsn.'],
    [{ schema: { t: { type: 'float' } } }, 'Write number for float.'],
    [{ schema: { t: { type: 'number', units: 'C' } } }, 'Write unit for units.'],
    [{ schema: { t: 'number' } }, 'Write {"type": "number"} as schema.t.'],
    [{ processing: { validation: 'strct' } }, 'Write strict for strct.'],
    [{ processing: { transform: [{ scael: {} }] } }, 'Write scale for scael.'],
    [{ validation: 'strict' }, 'Put validation into processing.'],
    [{ alerts: [] }, 'Put alertThresholds into processing, in place of alerts.'],
    [{ timestampFormat: 'epoch_s' }, 'Put timestampFormat into source.'],
    [
      { source: { protocol: 'modbus' } },
      'Set type to manufacturing or building_systems or occupancy for the protocol modbus.',
    ],
  ])('%j: %s', async (changes, remedy) => {
    expect(await remedyOfDefinition(changes)).toContain(remedy)
  })

  test('without a vault: where the vaults are', async () => {
    expect(await remedyOfDefinition({ vaultId: undefined })).toContain('GET /vaults lists them')
  })

  test('among many: how it is written', async () => {
    const definition = { type: 'iotsensor', vaultId: await service.api.createVault() }
    const body = { definition, streams: [{ name: 'boiler' }] }
    const headers = await bearer()

    const remedy = await remedyOf({ method: 'POST', path: '/streams/bulk', headers, body })

    expect(remedy).toContain('Write iot_sensor for iotsensor.')
  })

  test('hints stand in the remedy alone', async () => {
    const answer = await service.api.withToken('POST', '/streams', { type: 'iotsensor' })
    const { details } = answer.body as { readonly details: readonly object[] }

    expect(new Set(details.flatMap(Object.keys))).toEqual(new Set(['path', 'message']))
  })
})

describe('a query of readings', () => {
  test.each([
    ['from=-1h', 'Write start for from.'],
    ['start=-1h&to=now', 'Write end for to.'],
    ['page=2', 'Write cursor for page.'],
    ['timezone=UTC', 'Write tz for timezone.'],
    ['interval=1h', 'Write aggregation for interval.'],
    ['order=newest', 'Write desc for newest.'],
    ['aggregation=avg', 'the function stands in fields'],
    ['fields=temprature', 'Write temperature for temprature.'],
    ['tz=Berlin', 'Write tz as Europe/Berlin'],
    ['cursor=abc', 'leave cursor out for the first page'],
    ['fill=zero', 'Use one of none, null, previous, linear for fill.'],
    ['colour=red', 'Leave out colour, or use one of start, end'],
  ])('%s: %s', async (query, remedy) => {
    const path = `/streams/${await service.api.createStream()}/data?${query}`

    expect(await remedyOf({ path, headers: await bearer() })).toContain(remedy)
  })
})

describe('credentials', () => {
  test('a key as a token: where keys stand', async () => {
    const headers = ['authorization', `Bearer ${adminKey}`]

    expect(await remedyOf({ path: '/streams', headers })).toContain('send it in x-api-key')
  })

  test('of the other half of an operation: those that its body goes with', async () => {
    const body = { name: 'boiler', type: 'iot_sensor', vaultId: 'x', schema: {} }

    expect(await remedyOf({ method: 'POST', path: '/streams', body })).toContain(
      'send Authorization: Bearer',
    )
  })
})

test('an id that is not found: the list that has it', async () => {
  const path = '/attachments/0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'

  expect(await remedyOf({ path })).toContain('GET /attachments')
})

test('a vault that has data streams: the operation that removes them', async () => {
  const streamId = await service.api.createStream()
  const { body } = await service.api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)

  expect(await remedyOf({ method: 'DELETE', path: `/vaults/${body.vaultId}` })).toContain(
    'DELETE /streams/{streamId}',
  )
})

test('a type of events that does not exist: the one that is meant', async () => {
  const body = { url: 'https://example.com/in', events: ['alert.triggered'] }
  const headers = await bearer()

  expect(await remedyOf({ method: 'POST', path: '/webhooks', headers, body })).toBe(
    'Write stream.alert_triggered for alert.triggered.',
  )
})

test('a file of a type that is not imported: the types that are', async () => {
  const path = `/streams/${await service.api.createStream()}/import`
  const headers = await bearer()

  expect(await remedyOf({ method: 'POST', path, headers, body: {} })).toContain('text/csv')
})

interface WithRemedy {
  readonly remedy: string | null
}

test('an address that is checked: the entry that the setting lacks', async () => {
  const url = 'http://192.168.7.1/in'

  const answer = await service.api.withKey<WithRemedy>('POST', '/notifications/webhooks/check', {
    url,
  })

  expect(answer.body.remedy).toContain('add 192.168.7.1:80 to STREAMVAULT_EGRESS_ALLOW')
})

test('a sample that does not fit: what to do about it', async () => {
  const body = { samples: [{ t: 1 }, 'x'] }

  const answer = await service.api.withToken<{ misfits: readonly WithRemedy[] }>(
    'POST',
    '/streams/infer',
    body,
  )

  expect(answer.body.misfits).toMatchObject([{ remedy: refusalCatalogue.malformed.remedy }])
})

test('a backup that fails: what to do about it', async () => {
  const to = mkdtempSync(join(tmpdir(), 'streamvault-backup-'))
  writeFileSync(join(to, 'something'), '')

  const made = await service.api.withKey<{ backupId: string }>('POST', '/backups', { to })

  const path = `/backups/${made.body.backupId}`
  const ended = async () => (await service.api.withKey<WithRemedy>('GET', path)).body
  await expect.poll(ended, { timeout: 20_000 }).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('is not empty') as string,
    remedy: expect.stringContaining('POST /backups') as string,
  })
})

test('a webhook recovers what it has missed in the last hour', async () => {
  const url = 'https://example.com/in'
  const wanted = { url, event_types: ['vault.created'] }
  const { body } = await service.api.withKey<{ id: string }>(
    'POST',
    '/notifications/webhooks',
    wanted,
  )
  const path = `/notifications/webhooks/${body.id}/recover`

  expect((await service.api.withKey('POST', path, { since: '-1h' })).status).toBe(202)
  expect(await remedyOf({ method: 'POST', path, body: { since: 'yesterday' } })).toContain(
    'as -24h',
  )
})
