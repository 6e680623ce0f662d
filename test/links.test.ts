import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const pages = [...globSync('*.md'), ...globSync('docs/*.md'), ...globSync('examples/**/*.md')]

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
