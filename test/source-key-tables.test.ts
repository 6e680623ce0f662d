import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { sourceKinds } from '../connectors/sources.ts'
import { keyTablesIn, withKeyTables } from '../scripts/key-tables.ts'
import { sourceKeyTables } from '../scripts/source-keys.ts'

const pages = globSync('docs/*.md').map((file) => [file, readFileSync(file, 'utf8')] as const)

describe('tables of keys', () => {
  test('are those of the kinds of sources: `npm run docs` writes them', () => {
    for (const [file, page] of pages)
      expect([file, withKeyTables(page, sourceKeyTables)]).toEqual([file, page])
  })

  test('are there for each kind of source', () => {
    const shown = new Set(pages.flatMap(([, page]) => keyTablesIn(page)))
    expect(sourceKinds.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([])
  })

  test('say something of each key', () => {
    const silent = Object.entries(sourceKeyTables).flatMap(([name, fields]) =>
      Object.entries(fields).flatMap(([key, { doc }]) => (doc === '' ? [`${name}.${key}`] : [])),
    )
    expect(silent).toEqual([])
  })

  test('change with their fields', () => {
    const fields = { a: { rule: () => {}, schema: { type: 'string' }, doc: 'new' } }
    const page = 'x\n<!-- keys: A -->\nold\n<!-- end -->\ny\n'
    expect(withKeyTables(page, { A: fields })).toContain('| `a` | text |  | new |')
    expect(() => withKeyTables(page, {})).toThrow('no fields of A')
  })
})
