import { describe, expect, test } from 'vitest'
import { chooseType } from '../../src/requests/http/accept.ts'

const offers = ['application/json', 'text/csv', 'application/x-ndjson'] as const

describe('the content type of an answer', () => {
  test.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/csv', 'text/csv'],
    ['TEXT/CSV; header=present', 'text/csv'],
    ['text/*', 'text/csv'],
    ['application/*', 'application/json'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['application/json;q=0.2, text/csv;q=0.9', 'text/csv'],
    ['application/json;q=0.9, text/csv;q=0.9', 'application/json'],
    ['text/html, application/xml;q=0.9, */*;q=0.8', 'application/json'],
    ['text/csv;q=0, */*', 'application/json'],
    ['application/json;q=0, */*;q=0.1', 'text/csv'],
    ['*/*;q=0.5, text/csv;q=0.4, application/x-ndjson', 'application/x-ndjson'],
    // The more specific range counts, whichever comes first.
    ['text/*;q=0.1, text/csv, application/json;q=0.5', 'text/csv'],
    ['image/png, text/csv;q=0.001', 'text/csv'],
    ['text, /, text/csv', 'text/csv'],
  ])('for %j is %s', (accept, type) => {
    expect(chooseType(accept, offers)).toBe(type)
  })

  test.each([
    'image/png',
    'text/html, application/xhtml+xml',
    '*/*;q=0',
    'text/csv;q=0',
    'text/csv;q=2',
    'text/csv;q=x',
    'csv',
    '*/csv',
  ])('for %j is none that there is', (accept) => {
    expect(() => chooseType(accept, offers)).toThrow(/there is application\/json, text\/csv/)
  })
})
