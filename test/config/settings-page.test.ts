import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
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
