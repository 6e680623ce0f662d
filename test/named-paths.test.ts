import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

/*
 * A path stands in backticks. What has a `<name>` in it stands for any name, as `*` does, and has to fit at least one
 * file. A path may leave out the folders that its section is about: `guard/framing.ts`.
 */

const pages = globSync(['*.md', 'docs/**/*.md', 'clients/**/*.md', 'bench/README.md']).filter(
  (page) => !page.includes('node_modules'),
)

/** Names that the pages for users speak of: files of a data folder and of a backup, of readers, and a member of a payload. */
const elsewhere = [
  'admin.json',
  'owner.json',
  'keys.json',
  'ledger-keys.json',
  'metadata.json',
  'proof.json',
  'manifest.json',
  'definition.json',
  'device.py',
  'dist/',
  'params.ts',
]
const code = globSync([
  '{src,connectors,processors,scripts,bench,examples}/**/*.ts',
  'test/**/*.ts',
]).filter((file) => file !== 'test/named-paths.test.ts')

/** Names at the root of the project, without what is installed, built or stored there. */
const roots = [
  'src',
  'connectors',
  'processors',
  'test',
  'docs',
  'bench',
  'bin',
  'scripts',
  'examples',
  'receivers',
  'clients',
  'packaging',
  'console',
]

const kinds = /^(?:[\w.<>*-]+\/)*[\w.<>*-]+\.(?:ts|js|json|md|py|c)$/
const folder = /^(?:[\w.<>*-]+\/)+$/
const rooted = new RegExp(`^(?:${roots.join('|')})/[\\w./<>*-]+$`)

const tree = globSync(['*', '{*,.ci}/**/*'], {
  exclude: ['node_modules/**', 'dist/**', 'data/**', 'coverage/**'],
}).map((path) => `/${path}`)

/** Whether a text names a file or a folder of the project: the data folder of a service is none of it. */
function isPath(text: string): boolean {
  if (text.startsWith('data/') || elsewhere.includes(text)) return false
  return kinds.test(text) || folder.test(text) || rooted.test(text)
}

/** Whether something in the project has this path, or a path that ends with it. */
function isThere(path: string): boolean {
  const trimmed = path.replace(/\/$/, '')
  if (existsSync(trimmed)) return true
  const pattern = trimmed
    .split(/(<[\w-]+>|\*\*|\*)/)
    .map((part) => {
      if (part === '**') return '.*'
      if (part === '*' || /^<[\w-]+>$/.test(part)) return '[^/]+'
      return part.replaceAll('.', '\\.')
    })
    .join('')
  const start = roots.includes(trimmed.split('/')[0] ?? '') ? '^/' : '/'
  const named = new RegExp(`${start}${pattern}$`)
  return tree.some((other) => named.test(other))
}

function missingOf(names: readonly (string | undefined)[]): readonly string[] {
  return names.filter((name = '') => isPath(name) && !isThere(name)) as string[]
}

/** What stands in backticks. */
function quotedOf(text: string): readonly string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name)
}

/** Words that begin with a folder of the project. */
function rootedWordsOf(text: string): readonly string[] {
  const words = text.split(/[\s'"`(),;:=]+/).map((word) => word.replace(/\.$/, ''))
  return words.filter((word) => rooted.test(word))
}

/** Names of files in a text without backticks, in lower case: MQTT.js is none. */
function fileWordsOf(text: string): readonly string[] {
  return text.match(/(?<![\w./-])[a-z][a-z0-9./-]*\.(?:ts|md)\b/g) ?? []
}

/** Whether a name without folders leads somewhere: to a file beside this one, or to the only one of that name. */
function isClear(name: string, file: string): boolean {
  if (name.includes('/') || name.includes('*') || name.includes('<')) return true
  if (existsSync(join(dirname(file), name))) return true
  return tree.filter((path) => path.endsWith(`/${name}`)).length <= 1
}

describe('paths', () => {
  test.each(pages)('that %s names are there', (page) => {
    const text = readFileSync(page, 'utf8')
    const block = /^```.*?^```/gms
    const blocks = [...text.matchAll(block)].map(([found]) => found).join('\n')
    expect(missingOf([...quotedOf(text.replaceAll(block, '')), ...rootedWordsOf(blocks)])).toEqual(
      [],
    )
  })

  test('that comments name are there, and each is one file', () => {
    const wrong = code.flatMap((file) => {
      const comments = readFileSync(file, 'utf8').match(
        /(?<!['\w/])\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm,
      )
      const text = (comments ?? []).join('\n')
      const names = [...quotedOf(text), ...rootedWordsOf(text), ...fileWordsOf(text)].filter(isPath)
      const unclear = names.filter((name) => !isClear(name, file))
      return [...new Set([...missingOf(names), ...unclear])].map((name) => `${file}: ${name}`)
    })
    expect(wrong).toEqual([])
  })
})
