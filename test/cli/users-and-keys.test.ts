import { describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { newUsername } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'
import { usedFolders } from '../support/used-folder.ts'

const service = runningService()
const { start } = startedServices()
const usedFolder = usedFolders()

interface MadeKey {
  readonly apiKey: string
  readonly apiSecret: string
  readonly scopes: readonly string[]
  readonly expiresAt: string | null
}

interface Surroundings {
  readonly environment: Record<string, string>
  /** The running service, which is started now if it was not running. */
  readonly api: () => Promise<ApiClient>
}

/** A folder that a service has made and has open: one for all tests, with what they have made before. */
async function besideService(): Promise<Surroundings> {
  return { environment: settingsOf(service.process.dataDir), api: async () => service.api }
}

/** A folder that a service has made, which has ended. */
async function withoutService(): Promise<Surroundings> {
  const dataDir = usedFolder()
  const api = async () => new ApiClient((await start(dataDir)).http)
  return { environment: settingsOf(dataDir), api }
}

async function listed(
  words: readonly string[],
  environment: Record<string, string>,
): Promise<readonly object[]> {
  return await streamvaultJson<object[]>(words, environment)
}

/** The name of a user that the command has made. */
async function newUser(environment: Record<string, string>): Promise<string> {
  const username = newUsername()
  await streamvaultJson(['users', 'create', username], environment)
  return username
}

/** The status that the service answers to a key and its secret. */
async function statusFor(api: ApiClient, key: MadeKey, path = '/users'): Promise<number> {
  const headers = { 'x-api-key': key.apiKey, 'x-api-secret': key.apiSecret }
  return (await api.request('GET', path, { headers })).status
}

describe.each([
  ['with the service running', besideService],
  ['without a running service', withoutService],
])('%s', (_, surround) => {
  test('users create, list, show and delete', async () => {
    const { environment } = await surround()
    const before = await listed(['users', 'list'], environment)
    const username = newUsername()
    const names = ['--first-name', 'Ada', '--last-name', 'Lovelace']

    const ada = await streamvaultJson<{ id: string }>(
      ['users', 'create', username, ...names],
      environment,
    )

    expect(ada).toMatchObject({ username, first_name: 'Ada', last_name: 'Lovelace' })
    const shouted = username.toUpperCase()
    expect(await streamvaultJson(['users', 'show', shouted], environment)).toEqual(ada)
    expect(await streamvaultJson(['users', 'show', ada.id], environment)).toEqual(ada)
    expect(before[0]).toMatchObject({ username: 'admin' })
    expect(await listed(['users', 'list'], environment)).toEqual([...before, ada])
    const deleted = await streamvaultJson(['users', 'delete', username], environment)
    expect(deleted).toEqual({ id: ada.id, deleted: true })
    expect(await listed(['users', 'list'], environment)).toEqual(before)
  })

  test('keys create makes a key that the service takes, with what was asked for', async () => {
    const { environment, api } = await surround()
    const ada = await newUser(environment)
    const wanted = ['--name', 'boiler', '--kind', 'test', '--scopes', 'data:read,data:write']
    const ends = ['--expires', '2d', '--foreign-topics', 'ignore']
    const words = ['keys', 'create', '--user', ada, ...wanted, ...ends]

    const key = await streamvaultJson<MadeKey>(words, environment)

    expect(key).toMatchObject({ name: 'boiler', kind: 'test', permission: 'custom' })
    expect(key).toMatchObject({ foreignTopics: 'ignore' })
    expect(key.scopes).toEqual(['data:read', 'data:write'])
    const days = (Date.parse(String(key.expiresAt)) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(1.9)
    expect(days).toBeLessThanOrEqual(2)
    const beside = await api()
    expect(await statusFor(beside, key)).toBe(200)
    expect(await statusFor(beside, key, '/vaults')).toBe(403)
  })

  test('keys list shows the keys of one user, or of all', async () => {
    const { environment } = await surround()
    const keys = await streamvaultJson<MadeKey[]>(['keys', 'list'], environment)
    const before = keys.map(({ apiKey }) => apiKey)
    const ada = await newUser(environment)
    const words = ['keys', 'create', '--user', ada]
    const { apiSecret, ...key } = await streamvaultJson<MadeKey>(words, environment)

    expect(await listed(['keys', 'list', '--user', ada], environment)).toEqual([key])
    expect(before[0]).toBe(adminKey)
    const all = await streamvaultJson<MadeKey[]>(['keys', 'list'], environment)
    expect(all.map(({ apiKey }) => apiKey)).toEqual([...before, key.apiKey])
    const { stdout } = await streamvault(['keys', 'list'], environment)
    expect(stdout).toContain(key.apiKey)
    expect(stdout).not.toContain(apiSecret)
  })

  test('keys rotate gives a new secret, and --overlap 0 ends the old one', async () => {
    const { environment, api } = await surround()
    const words = ['keys', 'create', '--user', 'admin']
    const key = await streamvaultJson<MadeKey>(words, environment)
    const rotate = ['keys', 'rotate', key.apiKey]

    const second = await streamvaultJson<MadeKey>([...rotate, '--overlap', '0'], environment)
    const third = await streamvaultJson<MadeKey>([...rotate, '--overlap', '1h'], environment)

    const beside = await api()
    expect(await statusFor(beside, key)).toBe(401)
    expect(await statusFor(beside, second)).toBe(200)
    expect(await statusFor(beside, third)).toBe(200)
  })

  test('keys revoke ends a key', async () => {
    const { environment, api } = await surround()
    const words = ['keys', 'create', '--user', 'admin']
    const kept = await streamvaultJson<MadeKey>(words, environment)
    const ended = await streamvaultJson<MadeKey>(words, environment)

    await streamvaultJson(['keys', 'revoke', ended.apiKey], environment)

    const beside = await api()
    expect(await statusFor(beside, kept)).toBe(200)
    expect(await statusFor(beside, ended)).toBe(401)
  })

  test('keys rotate-signing-key makes another key sign, and with --overlap 0 it is the only one', async () => {
    const { environment, api } = await surround()
    const words = ['keys', 'rotate-signing-key', '--overlap', '0']

    const { kid } = await streamvaultJson<{ kid: string }>(words, environment)

    const { body } = await (await api()).request<{ keys: { kid: string }[] }>(
      'GET',
      '/.well-known/jwks.json',
    )
    expect(body.keys.map((key) => key.kid)).toEqual([kid])
  })

  test('keys rotate-content-key makes another key sign content, and the one before stays', async () => {
    const { environment, api } = await surround()
    const words = ['keys', 'rotate-content-key']

    const first = await streamvaultJson<{ kid: string }>(words, environment)
    const second = await streamvaultJson<{ kid: string }>(words, environment)

    const { body } = await (await api()).request<{
      keys: { kid: string; retired_at: string | null }[]
    }>('GET', '/.well-known/signing-keys.json')
    const [newest, before] = body.keys
    expect([newest?.kid, before?.kid]).toEqual([second.kid, first.kid])
    expect([newest?.retired_at, typeof before?.retired_at]).toEqual([null, 'string'])
  })

  test('a refusal of the service is a line with its remedy below, or JSON, and exit code 1', async () => {
    const { environment } = await surround()

    const plain = await streamvault(['keys', 'revoke', adminKey], environment)
    const json = await streamvault(['keys', 'create', '--user', 'nobody', '--json'], environment)

    expect(plain.code).toBe(1)
    expect(plain.stderr).toMatch(
      /^streamvault: it is the last key with platform:admin.*\nWhat to do: .*\n$/,
    )
    expect(json).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: 'not_found',
      message: 'no user nobody',
      remedy: expect.stringContaining('users list') as string,
    })
  })

  test('what was done is in the audit log, under the key it was done with', async () => {
    const { environment, api } = await surround()
    const words = ['users', 'create', newUsername()]
    const { id } = await streamvaultJson<{ id: string }>(words, environment)

    const path = '/audit?action=user.created'
    const { body } = await (await api()).withKey<{ subjectId: string }[]>('GET', path)

    const found = body.filter(({ subjectId }) => subjectId === id)
    expect(found).toMatchObject([{ action: 'user.created', actorKeyId: adminKey }])
  })
})

test('users list shows all of them, however many pages that are', async () => {
  const environment = settingsOf(service.process.dataDir)
  const before = await listed(['users', 'list'], environment)
  const names = Array.from({ length: 101 }, (_, index) => `user-${index}`)
  const rest = { first_name: '', last_name: '' }
  for (const username of names) await service.api.withKey('POST', '/users', { username, ...rest })

  const users = await streamvaultJson<{ username: string }[]>(['users', 'list'], environment)

  expect(users.slice(0, before.length)).toEqual(before)
  expect(users.slice(before.length).map(({ username }) => username)).toEqual(names)
})
