import { describe, expect, test } from 'vitest'
import { newDevice } from '../support/devices.ts'
import { createKey, newPerson, streamOf } from '../support/people.ts'
import { sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
}

const right = basic(adminKey, adminSecret)

/** Asks with raw headers, so that they can be wrong in any way. */
function ask(method: string, path: string, headers: readonly string[], body?: string) {
  const typed = body === undefined ? [] : ['content-type', 'application/json']
  const sent = {
    method,
    path,
    headers: [...headers, ...typed],
    ...(body !== undefined && { body }),
  }
  return sendRaw(service.process.http, sent)
}

describe('a key and its secret as Basic authentication', () => {
  test('send and read readings, as their owner or as a device', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)
    const device = await newDevice(ada, { streamIds: [streamId] })
    const owner = ['authorization', basic(ada.key.apiKey, ada.key.apiSecret)]
    const sender = ['authorization', basic(device.apiKey, device.apiSecret)]
    const path = `/streams/${streamId}`
    const reading = '{"temperature": 21.5}'

    expect(await ask('POST', `${path}/data`, owner, reading)).toMatchObject({ status: 202 })
    expect(await ask('POST', `${path}/data`, sender, reading)).toMatchObject({ status: 202 })
    const several = `[{"streamId": "${streamId}", "temperature": 22}]`
    expect(await ask('POST', '/data', sender, several)).toMatchObject({ status: 202 })
    expect(await ask('POST', `${path}/validate`, owner, reading)).toMatchObject({ status: 200 })
    expect(await ask('GET', `${path}/latest`, owner)).toMatchObject({
      status: 200,
      body: { streamId },
    })
    expect(await ask('GET', `${path}/data`, owner)).toMatchObject({ status: 200 })
  })

  test('have no more than the key has', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)
    const wanted = { userId: ada.userId, permission: 'custom', scopes: ['data:read'] }
    const key = await createKey(service.api, wanted)
    const device = await newDevice(ada, { streamIds: [streamId] })
    const reader = ['authorization', basic(key.apiKey, key.apiSecret)]
    const sender = ['authorization', basic(device.apiKey, device.apiSecret)]

    expect(await ask('POST', `/streams/${streamId}/data`, reader, '{}')).toMatchObject({
      status: 403,
    })
    expect(await ask('GET', `/streams/${streamId}/latest`, sender)).toMatchObject({ status: 403 })
  })

  test.each([
    ['GET', '/vaults'],
    ['GET', '/streams'],
    ['POST', '/keys'],
    ['GET', '/mqtt/unrouted'],
    ['POST', '/devices/register'],
  ])('are refused elsewhere, even when they are right: %s %s', async (method, path) => {
    const body = method === 'POST' ? '{}' : undefined

    expect(await ask(method, path, ['authorization', right], body)).toMatchObject({
      status: 401,
      body: {
        error: 'invalid_api_key',
        message: expect.stringContaining('only taken where readings are sent or read') as unknown,
      },
    })
  })

  test('never make a browser ask for them', async () => {
    const refused = await ask('POST', '/data', ['authorization', basic('nobody', 'x')], '[]')

    expect(refused.status).toBe(401)
    expect(Object.keys(refused.headers)).not.toContain('www-authenticate')
  })

  test.each([
    ['a wrong secret', basic(adminKey, 'wrong')],
    ['an unknown key', basic('sv_test_nobody', adminSecret)],
    ['no colon', `Basic ${Buffer.from(adminKey + adminSecret).toString('base64')}`],
    ['an empty secret', basic(adminKey, '')],
    ['nothing', 'Basic'],
    ['no base64', `Basic ${adminKey}:${adminSecret}`],
    ['no UTF-8', `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString('base64')}`],
    ['a second part', `${right} ${right.slice(6)}`],
    ['a token', `Basic ${Buffer.from('bearer:token').toString('base64')}`],
  ])('are 401 with %s', async (_, authorization) => {
    expect(await ask('POST', '/data', ['authorization', authorization], '[]')).toMatchObject({
      status: 401,
      body: { error: 'invalid_api_key' },
    })
  })

  test.each([
    ['a key in headers', ['x-api-key', adminKey, 'x-api-secret', adminSecret], 400],
    ['a key alone', ['x-api-key', adminKey], 400],
    ['the same once more', ['authorization', right], 401],
    ['a token', ['authorization', 'Bearer token'], 401],
  ] as const)('are an error beside %s', async (_, headers, status) => {
    expect(await ask('POST', '/data', ['authorization', right, ...headers], '[]')).toMatchObject({
      status,
    })
  })

  test('are written in any case, and with or without padding', async () => {
    for (const authorization of [right.replace('Basic', 'BASIC'), right.replace(/=*$/, '')]) {
      const answer = await ask('POST', '/data', ['authorization', authorization], '[]')
      // An empty batch is none: the credentials were good.
      expect(answer.status).not.toBe(401)
    }
  })

  test('that are wrong count as failed logins, as those in headers do', async () => {
    const ada = await newPerson(service.api)
    const { apiKey, apiSecret } = ada.key
    const wrong = ['authorization', basic(apiKey, 'wrong')]
    for (;;) {
      const { status } = await ask('POST', '/data', wrong, '[]')
      if (status === 429) break
      expect(status).toBe(401)
    }

    const headers = ['x-api-key', apiKey, 'x-api-secret', apiSecret]
    expect(await ask('GET', '/vaults', headers)).toMatchObject({ status: 429 })
    expect(
      await ask('POST', '/data', ['authorization', basic(apiKey, apiSecret)], '[]'),
    ).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
  })

  test('are in no log', () => {
    const output = service.process.output()

    expect(output).not.toContain(right.slice(6))
    expect(output).not.toContain(adminSecret)
  })
})
