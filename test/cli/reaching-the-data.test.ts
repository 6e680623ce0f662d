import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeCertificate } from '../support/certificate.ts'
import {
  resultOf,
  startStreamvault,
  streamvault,
  streamvaultJson,
} from '../support/command-line.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'
import { usedFolders } from '../support/used-folder.ts'

const { newFolder, start } = startedServices()
const usedFolder = usedFolders()

const given = { STREAMVAULT_ADMIN_KEY: adminKey, STREAMVAULT_ADMIN_SECRET: adminSecret }
const generated = { STREAMVAULT_ADMIN_KEY: '', STREAMVAULT_ADMIN_SECRET: '' }
const list = ['users', 'list']

describe('a running service', () => {
  test('is found by its folder, with the key in admin.json', async () => {
    const dataDir = newFolder()
    await start(dataDir, generated)

    const users = await streamvaultJson(list, { STREAMVAULT_DATA_DIR: dataDir })

    expect(users).toMatchObject([{ username: 'admin' }])
  })

  test('is found when it listens everywhere', async () => {
    const dataDir = newFolder()
    await start(dataDir, { ...generated, STREAMVAULT_HOST: '0.0.0.0' })

    expect(await streamvaultJson(list, { STREAMVAULT_DATA_DIR: dataDir })).toHaveLength(1)
  })

  test('elsewhere is reached with --url and credentials from the environment', async () => {
    const { http } = await start(newFolder())

    expect(await streamvaultJson([...list, '--url', http], given)).toHaveLength(1)
  })

  test('refuses a wrong secret, which is not shown', async () => {
    const { http } = await start(newFolder())
    const wrong = { ...given, STREAMVAULT_ADMIN_SECRET: 'a-wrong-secret-that-nobody-should-see' }

    const { code, stderr } = await streamvault([...list, '--url', http, '--json'], wrong)

    expect(code).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ error: 'invalid_api_key' })
    expect(stderr).not.toContain('nobody-should-see')
  })

  test('that cannot be reached is named', async () => {
    const { code, stderr } = await streamvault([...list, '--url', 'http://127.0.0.1:1'], given)

    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^streamvault: the service at http:\/\/127.0.0.1:1 cannot be reached: .*\nWhat to do: .*--url/,
    )
  })

  test('never logs a secret that a command was given or has made', async () => {
    const dataDir = newFolder()
    const { output } = await start(dataDir, { ...generated, STREAMVAULT_LOG_LEVEL: 'trace' })
    const environment = { STREAMVAULT_DATA_DIR: dataDir }
    const words = ['keys', 'create', '--user', 'admin']

    const made = await streamvault(words, environment)

    const secret = /^secret +(\S+)$/m.exec(made.stdout)?.[1] ?? ''
    const admin = JSON.parse(readFileSync(join(dataDir, 'admin.json'), 'utf8')) as {
      apiSecret: string
    }
    expect(secret).toHaveLength(43)
    expect(made.stdout.split(secret)).toHaveLength(2)
    expect(made.stderr).not.toContain(secret)
    expect(output()).not.toContain(secret)
    expect(output() + made.stdout + made.stderr).not.toContain(admin.apiSecret)
  })
})

test('no secret is among the arguments of the process that sends it', async () => {
  const seen: string[] = []
  const server = createServer((socket) => {
    seen.push(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8'))
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const child = startStreamvault([...list, '--url', `http://127.0.0.1:${port}`], given)

  const { code } = await resultOf(child)

  server.close()
  expect(code).toBe(1)
  expect(seen).toHaveLength(1)
  expect(seen[0]).toContain('list')
  expect(seen[0]).not.toContain(adminSecret)
})

describe('TLS', () => {
  test('trusts the certificate of the service whose folder it is, whatever its name', async () => {
    const { certPath, keyPath } = makeCertificate(newFolder(), 'server', 'DNS:vault.example')
    const dataDir = newFolder()
    const tls = { STREAMVAULT_TLS_CERT: certPath, STREAMVAULT_TLS_KEY: keyPath }
    const mqtts = { STREAMVAULT_MQTTS_PORT: '0' }
    await start(dataDir, { ...generated, ...tls, ...mqtts })

    const environment = { STREAMVAULT_DATA_DIR: dataDir, ...tls }

    expect(await streamvaultJson(list, environment)).toHaveLength(1)
  })

  test('takes the authority of --ca, and no other one', async () => {
    const folder = newFolder()
    const { certPath, keyPath } = makeCertificate(folder)
    const stranger = makeCertificate(folder, 'stranger')
    const tls = { STREAMVAULT_TLS_CERT: certPath, STREAMVAULT_TLS_KEY: keyPath }
    const { http } = await start(newFolder(), { ...tls, STREAMVAULT_MQTTS_PORT: '0' })
    const words = [...list, '--url', http]

    const trusted = await streamvault([...words, '--ca', certPath], given)
    const untrusted = await streamvault([...words, '--ca', stranger.certPath], given)
    const unknown = await streamvault(words, given)

    expect(trusted.code).toBe(0)
    expect(untrusted.code).toBe(1)
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toContain('--ca FILE names a certificate to trust')
  })
})

describe('a folder that no service has open', () => {
  test('needs no credentials, and gets no new ones', async () => {
    const dataDir = usedFolder()

    const users = await streamvaultJson(list, { STREAMVAULT_DATA_DIR: dataDir })

    expect(users).toHaveLength(1)
    expect(existsSync(join(dataDir, 'admin.json'))).toBe(false)
    const keys = await streamvaultJson(['keys', 'list'], { STREAMVAULT_DATA_DIR: dataDir })
    expect(keys).toMatchObject([{ apiKey: adminKey }])
  })

  test('is used by one command after the other, however many there are', async () => {
    const environment = { STREAMVAULT_DATA_DIR: usedFolder() }
    const names = ['a', 'b', 'c', 'd', 'e']

    await Promise.all(names.map((name) => streamvaultJson(['users', 'create', name], environment)))

    const users = await streamvaultJson<{ username: string }[]>(list, environment)
    expect(users.map(({ username }) => username).toSorted()).toEqual([
      'a',
      'admin',
      ...names.slice(1),
    ])
  })

  test('is used although a service that was killed has left its address', async () => {
    const dataDir = newFolder()
    await (await start(dataDir)).end('SIGKILL')
    expect(existsSync(join(dataDir, 'owner.json'))).toBe(true)

    expect(await streamvaultJson(list, { STREAMVAULT_DATA_DIR: dataDir })).toHaveLength(1)
    expect(existsSync(join(dataDir, 'owner.json'))).toBe(false)
  })

  test('is not made when it is missing', async () => {
    const dataDir = join(newFolder(), 'typo')

    const { code, stderr } = await streamvault(list, { STREAMVAULT_DATA_DIR: dataDir })

    expect(code).toBe(1)
    expect(stderr).toContain(`there is no data folder ${dataDir}`)
    expect(existsSync(dataDir)).toBe(false)
  })

  test('is left empty when nothing has been in it', async () => {
    const dataDir = newFolder()

    const { code, stderr } = await streamvault(list, { STREAMVAULT_DATA_DIR: dataDir })

    expect(code).toBe(1)
    expect(stderr).toContain(`there is nothing in ${dataDir} yet`)
    expect(readdirSync(dataDir).filter((name) => name !== 'lock.db')).toEqual([])
  })

  test('is not used without its master key, and no other one is made', async () => {
    const dataDir = usedFolder()
    const path = join(dataDir, 'master.key')
    renameSync(path, join(dataDir, 'kept'))

    const { code, stderr } = await streamvault(list, { STREAMVAULT_DATA_DIR: dataDir })

    expect(code).toBe(1)
    expect(stderr).toContain('set STREAMVAULT_MASTER_KEY')
    expect(existsSync(path)).toBe(false)
  })

  test('is not used with another master key', async () => {
    const environment = {
      STREAMVAULT_DATA_DIR: usedFolder(),
      STREAMVAULT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    }

    const { code, stderr } = await streamvault(['users', 'create', 'ada'], environment)

    expect(code).toBe(1)
    expect(stderr).toContain('the master key is not the one that this data folder was made with')
    expect(stderr).not.toContain(environment.STREAMVAULT_MASTER_KEY)
  })
})

test('wrong settings are all named, and nothing is done', async () => {
  const { code, stderr } = await streamvault([...list, '--json'], {
    STREAMVAULT_DATA_DIR: usedFolder(),
    STREAMVAULT_HTTP_PORT: 'eighty',
    STREAMVAULT_MQTT_PORT: 'many',
  })

  expect(code).toBe(1)
  const { error, message } = JSON.parse(stderr) as { error: string; message: string }
  expect(error).toBe('invalid_settings')
  expect(message).toMatch(/STREAMVAULT_HTTP_PORT.*\n.*STREAMVAULT_MQTT_PORT/)
})

test('an admin.json that is no JSON is not shown', async () => {
  const dataDir = newFolder()
  await start(dataDir)
  rmSync(join(dataDir, 'admin.json'), { force: true })
  writeFileSync(join(dataDir, 'admin.json'), 'hush-hush')

  const { code, stderr } = await streamvault(list, { STREAMVAULT_DATA_DIR: dataDir })

  expect(code).toBe(1)
  expect(stderr).toContain('admin.json cannot be read: it is no JSON')
  expect(stderr).not.toContain('hush')
})
