import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FreshClone } from '../support/fresh-clone.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { commandsOf } from '../support/page-commands.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'
import { persons } from '../support/persons.ts'

/*
 * Each of them has cloned the project, has run `npm ci`, and does what one page says: all of it prints what the page shows.
 */

describe.each(persons)('$name, from a fresh clone, with nothing but $page', (person) => {
  const blocks = pageBlocks(person.page)

  test(`has at most ${person.commandsMax} commands to give`, () => {
    expect(commandsOf(blocks)).toBeGreaterThan(0)
    expect(commandsOf(blocks)).toBeLessThanOrEqual(person.commandsMax)
  })

  describe.skipIf(isPageSkipped(person.page))('sees what the page shows', () => {
    let clone: FreshClone | undefined
    let reader: PageRun | undefined

    beforeAll(async () => {
      clone = new FreshClone()
      clone.install()
      reader = await PageRun.inClone(person, clone)
    })

    afterAll(async () => {
      await reader?.end()
      clone?.[Symbol.dispose]()
    })

    test.each(blocks.map((block) => [block.line, block] as const))(
      'at line %i',
      async (_, block) => await reader?.run(block),
    )
  })
})
