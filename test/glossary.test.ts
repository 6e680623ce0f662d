import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** A term of docs/glossary.md, in lower case, with the pages that its entry leads to. */
interface Term {
  readonly name: string
  readonly pages: readonly string[]
}

/** The entries: `- **Term**: what it means.` and links to pages, also of several terms. */
function termsOf(glossary: string): readonly Term[] {
  return glossary
    .split(/^- /m)
    .slice(1)
    .flatMap((entry) => {
      const [names = ''] = entry.split(': ')
      const pages = [...entry.matchAll(/\]\(([\w-]+\.md)/g)].map(([, page = '']) => page)
      return [...names.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name = '']) => ({
        name: name.toLowerCase(),
        pages,
      }))
    })
}

/** What a page marks as a term of its own: a word in *single* emphasis and lower case. */
function markedIn(page: string): readonly string[] {
  const prose = page.replaceAll(/^```.*?^```/gms, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/(?<![\w*])\*([a-z][^*\n]*)\*(?![\w*])/g)].map(([, term = '']) => term)
}

const terms = termsOf(readFileSync('docs/glossary.md', 'utf8'))
const names = terms.map(({ name }) => name)
const pages = globSync('docs/*.md').filter((page) => page !== 'docs/glossary.md')

/** Whether the glossary has a term, of which a page may speak in the plural. */
function isKnown(term: string): boolean {
  return names.includes(term) || names.includes(term.replace(/s$/, ''))
}

describe('the glossary', () => {
  test('has its terms once, in the order of the alphabet', () => {
    expect(new Set(names).size).toBe(names.length)
    const first = names.filter((name) => name !== 'live key')
    expect(first).toEqual(first.toSorted())
  })

  test.each(terms)('leads for "$name" to pages that use it', ({ name, pages: linked }) => {
    expect(linked).not.toEqual([])
    const silent = linked.filter((page) => {
      return !readFileSync(join('docs', page), 'utf8').toLowerCase().includes(name)
    })
    expect(silent).toEqual([])
  })

  test('has every count of a stream', () => {
    const [, sum = ''] =
      /^(received = [\w +]+),/m.exec(readFileSync('docs/architecture.md', 'utf8')) ?? []
    const counts = sum.split(/ [=+] /)
    expect(counts.length).toBeGreaterThan(5)
    expect(counts.filter((count) => !isKnown(count))).toEqual([])
  })

  test.each(pages)('has what %s marks as a term', (page) => {
    const marked = markedIn(readFileSync(page, 'utf8'))
    expect(marked.filter((term) => !isKnown(term))).toEqual([])
  })
})
