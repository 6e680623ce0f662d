import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { firstOutput, resultOf, startStreamvault, streamvault } from '../support/command-line.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const { newFolder, start } = startedServices()

const quiet = { STREAMVAULT_HTTP_PORT: '0', STREAMVAULT_MQTT_PORT: '0' }

test('serve runs with the flags and variables of npm start, in the process that was started', async () => {
  const dataDir = newFolder()
  const child = startStreamvault(['serve'], { ...quiet, STREAMVAULT_DATA_DIR: dataDir })
  const line = await firstOutput(child)

  const owner = JSON.parse(readFileSync(join(dataDir, 'owner.json'), 'utf8')) as {
    pid: number
    nodeOptions: string[]
  }
  const ended = resultOf(child)
  child.kill('SIGTERM')

  expect(line).toContain('"msg":"')
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: { start: string }
  }
  expect(owner.pid).toBe(child.pid)
  const [variable, ...flags] = owner.nodeOptions
  expect(scripts.start).toBe(`exec env ${variable} node ${flags.join(' ')} bin/start.js serve`)
  expect((await ended).code).toBe(0)
})

test('serve --json prints listening as JSON even when nothing else is logged', async () => {
  const child = startStreamvault(['serve', '--json'], {
    ...quiet,
    STREAMVAULT_DATA_DIR: newFolder(),
    STREAMVAULT_LOG_LEVEL: 'silent',
    STREAMVAULT_ADMIN_KEY: adminKey,
    STREAMVAULT_ADMIN_SECRET: adminSecret,
  })
  const line = await firstOutput(child)
  const ended = resultOf(child)
  child.kill('SIGTERM')
  await ended

  expect(JSON.parse(line)).toMatchObject({ msg: 'listening', mqtt: 'off' })
})

test('serve --json says as JSON why it cannot go on, and who is in its way', async () => {
  const dataDir = newFolder()
  await start(dataDir)

  const { code, stderr } = await streamvault(['serve', '--json'], {
    ...quiet,
    STREAMVAULT_DATA_DIR: dataDir,
  })

  expect(code).toBe(1)
  expect(JSON.parse(stderr)).toEqual({
    error: 'cannot_go_on',
    message: expect.stringMatching(
      /used by another process: \d+ \(streamvault serve\); end that one, or set STREAMVAULT_DATA_DIR/,
    ) as string,
  })
})
