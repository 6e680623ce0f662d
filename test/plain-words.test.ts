import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { oddUsesIn, shownUses } from './support/plain-words.ts'
import { textsOf } from './support/program-texts.ts'

/*
 * Words that readers from elsewhere stumble over are not used any more: on pages, and in all that the programs show, which
 * is errors, remedies, problems of settings, helps of metrics and commands, descriptions of operations, mails, logs.
 */

const pages = globSync([
  '*.md',
  'bench/README.md',
  'docs/**/*.md',
  'examples/**/*.md',
  'clients/**/*.md',
])
const sources = globSync([
  '{src,connectors,processors,bin}/**/*.{ts,js}',
  'console/src/**/*.{ts,tsx}',
])

describe('plain words are on', () => {
  test.each(pages)('%s', (page) => {
    expect(shownUses(page, oddUsesIn(readFileSync(page, 'utf8')))).toEqual([])
  })
})

describe('plain words', () => {
  test('are what the programs show', () => {
    const found = sources.flatMap((file) =>
      textsOf(file, readFileSync(file, 'utf8')).flatMap(({ line, text }) =>
        shownUses(`${file}:${line}`, oddUsesIn(text)),
      ),
    )
    expect(found).toEqual([])
  })
})

describe('an unused word', () => {
  test.each([
    'the inbox tells of it',
    'what is untold',
    'the whole file',
    'Mend the definition',
    'as\never',
    'made anew',
    'whoever reads it',
    'whatever comes',
    'gone for good',
    'which unit is meant',
    'heard last',
    'a pause is taken for an end',
    'it takes it for a duplicate',
    'a clock that is not believed',
    'it comes no further',
    'the text is none',
    'there is none of these',
    'nobody asks',
    'what has been let in',
    'what befalls a stream',
    'what became of it',
    'in what order',
    'of which there is one',
    'that which is kept',
  ])('is found: %s', (text) => {
    expect(oddUsesIn(text)).not.toEqual([])
  })

  test.each(['there is none', '`src/telling/`', 'recommended', 'what it means', 'it is None'])(
    'is not seen in: %s',
    (text) => {
      expect(oddUsesIn(text)).toEqual([])
    },
  )

  test('is found in strings, templates and elements of a program, and not in comments', () => {
    const source = [
      "import 'the whole'",
      '// the whole',
      "const one = 'the whole'",
      'const two = `${one} is the',
      '  whole of ${one}`',
      'export const three = () => <p title="the whole">all the whole</p>',
      "const whole = 'one'",
    ].join('\n')

    expect(textsOf('page.tsx', source)).toEqual([
      { line: 3, text: 'the whole' },
      { line: 4, text: '… is the\n  whole of …' },
      { line: 6, text: 'the whole' },
      { line: 6, text: 'all the whole' },
    ])
  })
})
