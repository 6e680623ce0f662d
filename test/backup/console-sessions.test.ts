import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { backUp } from '../support/backups.ts'
import { streamvaultJson } from '../support/command-line.ts'
import { ConsoleBrowser, signedIn } from '../support/console-browser.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()

test('no session of the console is in a backup: all end with a restore', async () => {
  using folder = new TemporaryFolder()
  const original = await services.start(services.newFolder())
  const browser = await signedIn(original.http, { apiKey: adminKey, apiSecret: adminSecret })
  const { to } = await backUp(new ApiClient(original.http), folder.file('backup'))
  expect((await browser.ask('GET', '/console/session')).status).toBe(200)
  const stored = new DatabaseSync(`${original.dataDir}/state.db`, { readOnly: true })
  const { digest } = stored.prepare('SELECT digest FROM console_sessions').get() as {
    readonly digest: string
  }
  stored.close()
  await original.end('SIGTERM')

  const restored = folder.file('restored')
  const words = ['restore', '--from', to, '--data-dir', restored, '--verify']
  expect(await streamvaultJson(words)).toMatchObject({ verified: true })
  expect(readFileSync(`${restored}/state.db`).includes(digest)).toBe(false)
  const again = new ConsoleBrowser((await services.start(restored)).http)
  again.cookie = browser.cookie
  expect((await again.ask('GET', '/console/session')).status).toBe(401)
})
