import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const pages = globSync(['*.md', '{docs,examples,clients,bench}/**/*.md']).filter(
  (page) => !page.includes('node_modules'),
)
const product = globSync(
  [
    '{Dockerfile,docker-compose.yml}',
    'console/src/**/*',
    '{src,connectors,processors,bin,receivers,scripts,packaging,examples,clients}/**/*',
  ],
  { withFileTypes: true },
)
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((file) => !file.includes('node_modules'))
const everything = [
  ...pages,
  ...product,
  ...globSync(['*.{ts,json,yaml,yml}', '{bench,examples,test}/**/*.{ts,js,py,c,json}']),
]
  // Recipes cite each other by names that are none of docs/: their links are checked as links.
  .filter((file) => !file.includes('node_modules') && !file.startsWith('docs/recipes/'))

/** A page of docs/ that a text names, and maybe a heading of it; addresses of other projects are none. */
const citation = /(?<![\w/.-])(docs\/)?([a-z-]+\.md)#([\p{L}\p{N}_-]+)/gu

/** A page that a file names by its path. */
const namedPage = /(?<![\w/.-])docs\/(?:[a-z-]+\/)?[\w-]+\.md/g

/**
 * The number of a decision, which leads nowhere here: as a word of prose, or before a title. Not
 * what looks like one: hex colours, escapes in URLs, bytes in hex, names in quotes, and parts of
 * topics, of paths and of longer names.
 */
const bareNumber =
  /(?<![\w#%\\/.'"`$-])(?<![\dA-F]{2} )D[1-9]\d?[a-z]?(?![\w/-]|\.\w)|(?<=['"`])D[1-9]\d?[a-z]?(?=: )/g

/** Links of a page to other files of the project, without those that stand in blocks of code. */
function linksOf(page: string): readonly string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```.*?^```/gms, '')
  const targets = [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

/** What a heading is linked by: lower case, without punctuation, and a hyphen for each space. */
function anchorsOf(page: string): readonly string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```.*?^```/gms, '')
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe('the links of', () => {
  test.each(pages)('%s lead somewhere', (page) => {
    const broken = linksOf(page).filter((link) => {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      if (!existsSync(target)) return true
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor)
    })
    expect(broken).toEqual([])
  })
})

describe('citations', () => {
  test('lead to headings that exist', () => {
    const broken = everything.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(citation)]
        .filter(([, , page = '', anchor = '']) => {
          const target = join('docs', page)
          return !existsSync(target) || !anchorsOf(target).includes(anchor)
        })
        .map(([cited]) => `${file}: ${cited}`),
    )
    expect(broken).toEqual([])
  })

  test('of whole pages lead to pages that exist', () => {
    const broken = product.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(namedPage)]
        .filter(([page]) => !existsSync(page))
        .map(([page]) => `${file}: ${page}`),
    )
    expect(broken).toEqual([])
  })

  test('of decisions mean one heading each', () => {
    const anchors = anchorsOf('docs/decisions.md')
    expect(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index)).toEqual([])
  })

  test('are no numbers of decisions', () => {
    const bare = everything.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(bareNumber)].map(([cited]) => `${file}: ${cited}`),
    )
    expect(bare).toEqual([])
  })

  // A § stands for the D, or these lines would be found themselves.
  test.each([
    '/** The time of a reading (§19). */',
    '(§38 to 40)',
    'the keys of §59, and others',
    'as in §21.',
    "describe('§33: what is coalesced'",
    '// §8: sent again',
    '(§53a)',
    "test('come in the envelope of §55', async",
  ])('by number are found: %s', (text) => {
    expect(text.replace('§', 'D').match(bareNumber)).toHaveLength(1)
  })

  test.each([
    '#§20',
    "'§20'",
    '`§20`',
    'spBv1.0/plant/DDATA/edge/§20',
    '%§8%A7',
    'FF §8 FF E0',
    '§20.temperature',
    'unit-§20',
    '§100',
    'GRI§20',
  ])('by number are not seen in %s', (text) => {
    expect(text.replace('§', 'D').match(bareNumber)).toBeNull()
  })
})
