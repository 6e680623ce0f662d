import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { streamvault } from '../support/command-line.ts'
import { anyPorts, examine } from '../support/examination.ts'
import { startedServices } from '../support/started-services.ts'
import { usedFolders } from '../support/used-folder.ts'

const { newFolder, start } = startedServices()
const generated = { STREAMVAULT_ADMIN_KEY: '', STREAMVAULT_ADMIN_SECRET: '' }
const usedFolder = usedFolders(generated)

describe('finds nothing to mend', () => {
  test('before the first start, and makes nothing', async () => {
    const dataDir = join(newFolder(), 'data')

    const { code, checks } = await examine(dataDir)

    expect(code).toBe(0)
    // Whether the console was built is a matter of the installation.
    const ofTheService = checks.filter(({ name }) => name !== 'console')
    expect(ofTheService.filter(({ status }) => status !== 'ok')).toEqual([])
  })

  test('in a folder that was used', async () => {
    const { code, checks, check } = await examine(usedFolder())

    expect(code).toBe(0)
    expect(checks.filter(({ status }) => status === 'fail')).toEqual([])
    expect(check('fsync')?.message).toMatch(/median \d+\.\d+ ms/)
    expect(check('master.key')?.message).toContain('belongs to this data folder')
  })

  test('beside a running service, whose ports are its own', async () => {
    const dataDir = newFolder()
    const { http, mqttPort } = await start(dataDir, generated)

    const { code, check } = await examine(dataDir, {
      STREAMVAULT_HTTP_PORT: new URL(http).port,
      STREAMVAULT_MQTT_PORT: String(mqttPort),
    })

    expect(code).toBe(0)
    expect(check('service')).toMatchObject({ status: 'ok', message: 'it runs and is ready' })
    expect(check('http port')?.message).toContain('taken by our service')
    expect(check('mqtt port')?.message).toContain('taken by our service')
    expect(check('flags')).toMatchObject({ status: 'ok' })
    expect(check('lock')?.message).toMatch(/process \d+ \(streamvault serve, version /)
  })
})

test('prints a line for each check, and what to do below those that need it', async () => {
  const dataDir = usedFolder()
  chmodSync(join(dataDir, 'admin.json'), 0o644)

  const environment = { ...anyPorts, STREAMVAULT_DATA_DIR: dataDir }
  const { code, stdout } = await streamvault(['doctor'], environment)

  expect(code).toBe(1)
  expect(stdout).toMatch(/^ok {4}node: /m)
  expect(stdout).toMatch(/^FAIL {2}admin.json: others .* \(mode 0644\)\n {6}-> chmod 600 /m)
})

test('never prints a secret', async () => {
  const dataDir = usedFolder()
  const masterKey = Buffer.alloc(32, 9).toString('base64')
  const environment = {
    STREAMVAULT_ADMIN_KEY: 'k',
    STREAMVAULT_ADMIN_SECRET: 'hush-hush',
    STREAMVAULT_MASTER_KEY: masterKey,
    STREAMVAULT_STATE_URL: 'postgres://ada:hush-hush@host/db',
    STREAMVAULT_WRONG: 'hush-hush',
  }

  const { checks, check } = await examine(dataDir, environment)

  const admin = JSON.parse(readFileSync(join(dataDir, 'admin.json'), 'utf8')) as {
    apiSecret: string
  }
  const text = JSON.stringify(checks)
  for (const secret of ['hush-hush', masterKey, admin.apiSecret]) expect(text).not.toContain(secret)
  expect(check('settings')?.message).toContain('STREAMVAULT_ADMIN_SECRET must have at least 32')
  expect(check('settings')?.message).toContain('STREAMVAULT_STATE_URL')
})
