import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { layers } from './layers.ts'

const architecture = readFileSync('docs/architecture.md', 'utf8')

/** A section of a page, from its heading to the next one. */
function sectionOf(page: string, heading: string): string {
  const [, ...rest] = page.split(`\n## ${heading}\n`)
  return rest.join('').split('\n## ')[0] ?? ''
}

/** `kinds` of the fields that connectors share, `storage` of `src/storage/` and of `src/storage/journal/`, `processors` of `processors/`, `main` of `src/main.ts`. */
function groupOf(path: string): string {
  if (path === 'connectors/fields/') return 'kinds'
  const [top = '', group = ''] = path.split('/')
  return top === 'src' ? group.replace('.ts', '') : top
}

/** Paths of the project's groups that a text names, in its order. */
function pathsIn(text: string): readonly string[] {
  return (
    text.match(/(?<![\w/])(?:src\/[\w-]+(?:\/|\.ts)|connectors\/|processors\/)(?:[\w-]+\/)?/g) ?? []
  )
}

/** Each group once, where it is named first. */
function groupsIn(text: string): readonly string[] {
  return [...new Set(pathsIn(text).map(groupOf))]
}

const tree = sectionOf(architecture, 'The tree')

describe('the groups', () => {
  test('are those of test/layers.ts in docs/architecture.md, with what they stand on', () => {
    const rows = sectionOf(architecture, 'Groups').matchAll(
      /^\| `([^`]+)`[^|]* \| .+ \| (.+) \|$/gm,
    )
    const shown = [...rows].map(([, path = '', on = '']) => [groupOf(path), on])
    const expected = Object.entries(layers).map(([name, { mayImport }]) => {
      return [name, mayImport.join(', ') || 'nothing']
    })
    expect(shown).toEqual(expected)
  })

  test('are all in docs/source-tour.md, in the order of the tree in docs/architecture.md', () => {
    const block = readFileSync('docs/source-tour.md', 'utf8')
      .split('```')
      .find((part) => part.includes('src/main.ts'))
    expect(groupsIn(block ?? '')).toEqual(groupsIn(tree))
    expect([...groupsIn(tree)].sort()).toEqual(Object.keys(layers).sort())
  })
})

test('the tree in docs/architecture.md names every folder of the groups', () => {
  const folders = globSync(['src/*/*/', 'connectors/*/']).map(
    (path) => `${path.replace(/\/$/, '')}/`,
  )
  const named = new Set(pathsIn(tree))
  expect(folders.filter((folder) => !folder.endsWith('.ts/') && !named.has(folder))).toEqual([])
})
