import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { scopes } from '../../src/access/auth/scopes.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const { newFolder, start } = startedServices()

/** No bootstrap key is given, so that one is generated. */
const generated = { STREAMVAULT_ADMIN_KEY: '', STREAMVAULT_ADMIN_SECRET: '' }

interface AdminFile {
  readonly apiKey: string
  readonly apiSecret: string
}

function adminFileIn(dataDir: string): AdminFile {
  return JSON.parse(readFileSync(join(dataDir, 'admin.json'), 'utf8')) as AdminFile
}

function askToken(http: string, body: AdminFile): Promise<Response> {
  return fetch(`${http}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

describe('a generated bootstrap key', () => {
  test('is in admin.json, readable by its owner only, whose path is printed', async () => {
    const folder = newFolder()
    const { http, output } = await start(folder, generated)
    const path = join(folder, 'admin.json')

    expect(statSync(path).mode & 0o777).toBe(0o600)
    await expect.poll(output).toContain(path)
    const response = await askToken(http, adminFileIn(folder))
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      scope: expect.stringContaining('platform:admin') as string,
    })
  })

  test('and its tokens survive a restart', async () => {
    const folder = newFolder()
    const first = await start(folder, generated)
    const before = adminFileIn(folder)
    const { accessToken } = (await (await askToken(first.http, before)).json()) as {
      accessToken: string
    }
    await first.end('SIGTERM')

    const second = await start(folder, generated)

    expect(adminFileIn(folder)).toEqual(before)
    expect((await askToken(second.http, before)).status).toBe(200)
    const headers = { authorization: `Bearer ${accessToken}` }
    expect((await fetch(`${second.http}/vaults`, { headers })).status).toBe(200)
  })
})

test.each([
  ['generated', generated],
  ['configured', {}],
])('a %s bootstrap key gets the permissions that a later version brings', async (_, settings) => {
  const folder = newFolder()
  const first = await start(folder, settings)
  await first.end('SIGTERM')
  const state = new DatabaseSync(join(folder, 'state.db'))
  state.exec(`UPDATE api_keys SET scopes = 'data:read platform:admin'`)
  state.close()

  const { http } = await start(folder, settings)

  const configured = { apiKey: adminKey, apiSecret: adminSecret }
  const key = settings === generated ? adminFileIn(folder) : configured
  const answer = await askToken(http, key)
  expect(await answer.json()).toMatchObject({ scope: scopes.join(' ') })
})

test('no secret is ever printed, at the finest log level', async () => {
  const folder = newFolder()
  const { http, mqttPort, output, end } = await start(folder, {
    ...generated,
    STREAMVAULT_LOG_LEVEL: 'trace',
  })
  const { apiKey, apiSecret } = adminFileIn(folder)
  const { accessToken } = (await (await askToken(http, { apiKey, apiSecret })).json()) as {
    accessToken: string
  }
  const wrongSecret = 'a-wrong-secret-that-nobody-should-see'
  await askToken(http, { apiKey, apiSecret: wrongSecret })
  for (const path of ['/vaults', '/nowhere', `/streams/${apiKey}/data`]) {
    await fetch(http + path, { headers: { authorization: `Bearer ${accessToken}` } })
    await fetch(http + path, { headers: { 'x-api-key': apiKey, 'x-api-secret': apiSecret } })
    await fetch(http + path, { headers: { 'x-api-key': apiKey, 'x-api-secret': wrongSecret } })
  }
  const options = { host: '127.0.0.1', port: mqttPort, username: apiKey, reconnectPeriod: 0 }
  await (await connectAsync({ ...options, password: apiSecret })).endAsync()
  await expect(connectAsync({ ...options, password: wrongSecret })).rejects.toThrow()

  await end('SIGTERM')

  const masterKey = readFileSync(join(folder, 'master.key'), 'utf8').trim()
  for (const secret of [apiSecret, wrongSecret, accessToken, masterKey]) {
    expect(output()).not.toContain(secret)
  }
})
