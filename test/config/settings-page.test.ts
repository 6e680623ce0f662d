import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readSettings } from '../../src/config/config.ts'

const page = readFileSync('docs/operations.md', 'utf8')

test('docs/operations.md has every setting that is read, and no other', () => {
  const section = page.split('\n## ').find((part) => part.startsWith('Settings\n')) ?? ''
  const explained = section
    .split('\n')
    .filter((line) => /^[|`] ?`?STREAMVAULT_/.test(line))
    .flatMap((line) => {
      const names = line.startsWith('|') ? line.split('|')[1] : line
      return names?.match(/STREAMVAULT_\w+/g) ?? []
    })
  expect(explained.toSorted()).toEqual([...readSettings({}).known].toSorted())
})
