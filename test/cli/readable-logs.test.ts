import { expect, test } from 'vitest'
import { resultOf, startStreamvault, streamvault } from '../support/command-line.ts'
import { startedServices } from '../support/started-services.ts'

const { newFolder } = startedServices()

test('lines for people say where everything is and what to do next, and JSON is left to programs', async () => {
  const dataDir = newFolder()
  const child = startStreamvault(['serve'], {
    STREAMVAULT_HTTP_PORT: '0',
    STREAMVAULT_MQTT_PORT: '0',
    STREAMVAULT_DATA_DIR: dataDir,
    STREAMVAULT_LOG_FORMAT: 'text',
    STREAMVAULT_HTPP_PORT: '1',
  })
  let shown = ''
  child.stdout?.on('data', (text: Buffer) => {
    shown += text.toString()
    if (shown.includes('Ctrl-C')) child.kill('SIGINT')
  })
  await resultOf(child)

  expect(shown).toMatch(/ {2}console +http:\/\/127\.0\.0\.1:\d+\/\n/)
  expect(shown).toMatch(/ {2}API +http:\/\/127\.0\.0\.1:\d+\/docs\n/)
  expect(shown).toMatch(/ {2}MQTT +off\n/)
  expect(shown).toContain(`${dataDir}/admin.json\n`)
  expect(shown).toContain('npx streamvault simulate')
  expect(shown).toMatch(/WARN.*unknown setting STREAMVAULT_HTPP_PORT \(did you mean/)
  expect(shown).toMatch(/INFO.*stopping/)
  expect(shown).toMatch(/INFO.*stopped: all that was acknowledged is on the disk \{"taken":0\}/)
  expect(shown).not.toContain('{"level"')
})

test('--version says which version this is', async () => {
  expect((await streamvault(['--version'], {})).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})
