import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = 'console/src/'
const files = globSync('console/src/**/*.{ts,tsx}')

/** Without comments: these may speak of what code must not do. */
function codeOf(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '')
}

/** What a file imports: relative paths from the root of the project, packages by their names. */
function importsOf(file: string): readonly string[] {
  const found = codeOf(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)
  return [...found].map(([, path = '']) =>
    path.startsWith('.') ? normalize(join(dirname(file), path)) : path,
  )
}

/** Rooms of the console, from what all stand on up to the entry. Each imports those before it, and itself. */
const rooms = [
  'formats',
  'settings',
  'api',
  'routing',
  'components',
  'charts',
  'editor',
  'quarantine',
  'first-stream',
  'pages',
  'shell',
]

function roomOf(file: string): string {
  const [room = '', ...more] = file.slice(root.length).split('/')
  return more.length === 0 ? 'entry' : room
}

describe('the console', () => {
  test.each(files)('%s imports its own, and the typed client', (file) => {
    const strange = importsOf(file).filter(
      (path) =>
        path.includes('/') &&
        !path.startsWith(root) &&
        !path.startsWith('clients/typescript/') &&
        !/^(?:@codemirror|@lezer|@preact|preact|preact-iso|uplot)\//.test(path),
    )
    expect(strange).toEqual([])
  })

  test.each(files)('%s imports only rooms that its own stands on', (file) => {
    const room = roomOf(file)
    const allowed = room === 'entry' ? rooms : rooms.slice(0, rooms.indexOf(room) + 1)
    const others = importsOf(file)
      .filter((path) => path.startsWith(root) && !path.endsWith('.css'))
      .map(roomOf)
    expect(others.filter((other) => other !== 'entry' && !allowed.includes(other))).toEqual([])
  })

  test('every room is known', () => {
    const found = new Set(files.map(roomOf))
    expect([...found].filter((room) => room !== 'entry' && !rooms.includes(room))).toEqual([])
  })

  test('pages import no other page', () => {
    const page = /^console\/src\/pages\/([^/]+)\//
    const foreign = files.flatMap((file) => {
      const own = page.exec(file)?.[1]
      if (own === undefined) return []
      return importsOf(file)
        .filter((path) => (page.exec(path)?.[1] ?? own) !== own)
        .map((path) => `${file} imports ${path}`)
    })
    expect(foreign).toEqual([])
  })

  test.each([
    [
      'talks to the service',
      'api',
      /\b(?:fetch|XMLHttpRequest|EventSource|WebSocket|sendBeacon)\(/,
    ],
    ['draws with uPlot', 'charts', /from 'uplot'|import 'uplot/],
    ['edits with CodeMirror', 'editor', /from '@(?:codemirror|lezer)\//],
  ] as const)('only one room %s', (_, room, pattern) => {
    const found = files.filter((file) => pattern.test(codeOf(file)))
    expect(found.filter((file) => roomOf(file) !== room)).toEqual([])
  })

  test('nothing is kept in the browser, and nothing is made of markup', () => {
    const forbidden =
      /\b(?:localStorage|sessionStorage|indexedDB)\b|document\.cookie|\binnerHTML\b|dangerouslySetInnerHTML|\bouterHTML\b|insertAdjacentHTML|\beval\(|new Function\(/
    expect(files.filter((file) => forbidden.test(codeOf(file)))).toEqual([])
  })

  test('no files import each other in a ring', () => {
    const imports = new Map(
      files.map((file) => [file, new Set(importsOf(file).filter((path) => path.startsWith(root)))]),
    )
    for (let size = -1; size !== imports.size; ) {
      size = imports.size
      for (const [one, others] of imports) {
        if ([...others].every((other) => !imports.has(other))) imports.delete(one)
      }
    }
    expect([...imports.keys()]).toEqual([])
  })
})
