import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { errorsPage } from '../scripts/errors-page.ts'
import { type ErrorEntry, errorCatalogue } from '../src/core/error-catalogue.ts'
import { notFoundRemedies } from '../src/core/not-found.ts'
import { refusalCatalogue } from '../src/core/refusal-catalogue.ts'
import { nothingNamed, unknownNames } from './support/named-remedies.ts'
import { withoutRemedy, writtenRemedies } from './support/written-remedies.ts'

const entries: readonly (readonly [string, ErrorEntry])[] = Object.entries(errorCatalogue)

/** Everything that is written in these files, but for the catalogue and this test of it. */
function textOf(...patterns: readonly string[]): string {
  const files = globSync(patterns).filter((file) => !file.includes('error-catalogue'))
  return files.map((file) => readFileSync(file, 'utf8')).join('\n')
}

const product = textOf('src/**/*.ts', 'connectors/**/*.ts', 'processors/*.ts')
const tests = textOf('test/**/*.test.ts', 'test/contracts/*.ts')

describe('the catalogue of errors', () => {
  test('is the one in docs/errors.md (npm run docs)', () => {
    expect(readFileSync('docs/errors.md', 'utf8')).toBe(
      errorsPage(errorCatalogue, refusalCatalogue),
    )
  })

  test.each(entries)('says of %s what it means and what to do', (code, entry) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(entry.status).toSatisfy((status: number) => status >= 400 && status < 600)
    expect([entry.meaning, entry.remedy]).toEqual([
      expect.stringMatching(/^[A-Z].*\.$/),
      expect.stringMatching(/^[A-Z].*\.$/),
    ])
  })

  test.each(entries)('calls %s retryable as its status does', (_, { status, retryable }) => {
    expect(retryable).toBe(status === 429 || status === 503 || status === 408)
  })

  test.each(entries)('has %s because the service answers it', (code) => {
    expect(product).toMatch(new RegExp(`(DomainError\\(\\s*|error: |code: |return \\[)'${code}'`))
  })

  test.each(entries)('has %s because a test expects it', (code) => {
    expect(tests).toMatch(new RegExp(`\\b${code}\\b`))
  })

  test('is in the order of the alphabet', () => {
    const codes = entries.map(([code]) => code)

    expect(codes).toEqual(codes.toSorted())
  })
})

const remedies = Object.entries({ ...refusalCatalogue, ...errorCatalogue })

describe('what to do about', () => {
  test.each(remedies)('%s names something to do it with', (_, { remedy }) => {
    expect(nothingNamed(remedy)).toBe(false)
  })

  test.each(remedies)('%s names only what there is', (_, { remedy }) => {
    expect(unknownNames(remedy)).toEqual([])
  })

  test.each([
    'GET /nothing',
    'STREAMVAULT_NOTHING',
    'docs/nothing.md',
    'X-Nothing-Such',
    'noSuchKey',
    'npx streamvault nothing',
  ])('%s would be noticed', (name) => {
    expect(unknownNames(`Try ${name}.`)).toEqual([name])
  })

  test('the rest names nothing', () => {
    expect(nothingNamed('Correct what is wrong.')).toBe(true)
  })
})

describe('a place that refuses', () => {
  test('says what to do itself, where its code alone says too little', () => {
    expect(withoutRemedy(['conflict', 'destination_not_allowed', 'not_found'])).toEqual([])
  })

  const places = writtenRemedies().filter(({ texts }) => texts.length > 0)

  test('names only what there is', () => {
    const wrong = places.flatMap(({ place, texts }) => {
      const unknown = texts.flatMap(unknownNames)
      return unknown.length > 0 ? [{ place, unknown }] : []
    })

    expect(places.length).toBeGreaterThan(80)
    expect(wrong).toEqual([])
  })

  test.each(Object.entries(notFoundRemedies))('names where there is a %s', (_, remedy) => {
    expect(unknownNames(remedy)).toEqual([])
    expect(nothingNamed(remedy)).toBe(false)
  })
})
