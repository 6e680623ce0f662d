import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { recipes } from './index.ts'
import { recipePage } from './recipe-page.ts'

const pages = globSync('docs/recipes/*.md')
  .map((page) => basename(page, '.md'))
  .filter((name) => name !== 'README')

const table = readFileSync('docs/recipes/README.md', 'utf8')

describe('a page of docs/recipes', () => {
  test('has a source that is simulated, and the other way round', () => {
    expect(recipes.map(({ name }) => name).toSorted()).toEqual(pages.toSorted())
  })

  test.each(pages)('has a row in the table: %s', (name) => {
    expect(table).toContain(`](${name}.md) | `)
  })
})

describe.each(recipes)('what $name sends', (recipe) => {
  test('is the same each time, and no message is the one before', () => {
    const messages = recipe.messages(200)
    expect(messages).toEqual(recipe.messages(200))
    expect(messages.filter((one, index) => isSame(one, messages[index - 1])).length).toBe(0)
  })

  test('comes by what its page names', () => {
    const { definition, example } = recipePage(recipe)
    const [first] = recipe.messages(1)
    expect(example.headers).toEqual(first?.headers)
    if (recipe.front === 'mqtt' || recipe.front === 'broker') {
      expect(definition.source['topic']).toBeTypeOf('string')
      expect(example.topic?.split('/').length).toBe(first?.topic?.split('/').length)
    }
  })
})

/** Whether a message says no more than the one before it. */
function isSame(one: object, other: object | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
