import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSettings } from '../../src/config/config.ts'

const page = readFileSync('docs/operations.md', 'utf8')

/** OpenTelemetry's own settings: its library reads more of them than we do. */
const isForeign = (name: string) => name.startsWith('OTEL_')

test('docs/operations.md has every setting that is read, and no other of ours', () => {
  const section = page.split('\n## ').find((part) => part.startsWith('Settings\n')) ?? ''
  const explained = section
    .split('\n')
    .filter((line) => /^[|`] ?`?(STREAMVAULT|OTEL)_/.test(line))
    .flatMap((line) => {
      const names = line.startsWith('|') ? line.split('|')[1] : line
      return names?.match(/(STREAMVAULT|OTEL)_\w+/g) ?? []
    })
  const known = [...readSettings({}).known]
  const ours = (names: readonly string[]) => names.filter((name) => !isForeign(name)).toSorted()
  expect(ours(explained)).toEqual(ours(known))
  expect(explained).toEqual(expect.arrayContaining(known.filter(isForeign)))
})

/** Names that are no settings of the service, and the files that they belong to. */
const elsewhere: Readonly<Record<string, string>> = {
  STREAMVAULT_URL: 'console/vite.config.ts',
  STREAMVAULT_KEY: 'examples/grafana/provisioning/datasources/streamvault.yml',
  STREAMVAULT_SECRET: 'examples/grafana/provisioning/datasources/streamvault.yml',
  STREAMVAULT_DASHBOARDS: 'examples/grafana/provisioning/dashboards/streamvault.yml',
  STREAMVAULT_TEST_CASES: 'test/deep/http/schemathesis.test.ts',
}

/** What docs/troubleshooting.md misspells on purpose. */
const misspelt = 'STREAMVAULT_MQTT_POORT'

const named = /(?<!\w)STREAMVAULT_[A-Z0-9_]*/g

describe('the settings that are named in', () => {
  const known = [...readSettings({}).known]
  const files = globSync(
    [
      '*.{md,yml,yaml}',
      'Dockerfile',
      '.dockerignore',
      '{docs,examples,packaging,clients,bench,receivers}/**/*',
    ],
    { withFileTypes: true },
  )
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('node_modules') && /STREAMVAULT_/.test(contentOf(file)))

  test.each(files)('%s exist', (file) => {
    const names = [...new Set(contentOf(file).match(named))].filter((name) => {
      if (name === misspelt) return file !== 'docs/troubleshooting.md'
      if (name.endsWith('_')) return !known.some((setting) => setting.startsWith(name))
      return !(known.includes(name) || name in elsewhere)
    })
    expect(names).toEqual([])
  })

  test.each(Object.entries(elsewhere))(
    '%s, which is not one of the service, is read in %s',
    (name, file) => {
      expect(contentOf(file)).toContain(name)
    },
  )
})

function contentOf(file: string): string {
  return readFileSync(file, 'utf8')
}
