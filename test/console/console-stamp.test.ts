import { renameSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { builtDigest, digestOf, hasSources, stampOf } from '../../scripts/console-stamp.js'
import { ConsoleProject } from '../support/console-project.ts'

describe('the digest of the sources', () => {
  test('is the same as long as nothing changes', () => {
    using project = new ConsoleProject()

    expect(digestOf(project.root)).toBe(digestOf(project.root))
    expect(digestOf(project.root)).toMatch(/^[0-9a-f]{64}$/)
  })

  test.each<[string, (project: ConsoleProject) => void]>([
    ['a changed file', (project) => project.write('console/main.js', 'other')],
    ['a new file, empty or not', (project) => project.write('console/pages/new.tsx', '')],
    ['a file less', (project) => project.remove('console/main.js')],
    ['another name', (project) => move(project, 'console/main.js', 'console/more.js')],
    ['a changed client', (project) => project.write('clients/typescript/client.ts', 'x')],
    [
      'another version of what builds it',
      (project) => project.write('package.json', '{"devDependencies": {"vite": "2"}}'),
    ],
    [
      'another version of what is built in',
      (project) =>
        project.write(
          'package.json',
          '{"dependencies": {"x": "2"}, "devDependencies": {"vite": "1"}}',
        ),
    ],
  ])('is another one after %s', (_, change) => {
    using project = new ConsoleProject()
    const before = digestOf(project.root)

    change(project)

    expect(digestOf(project.root)).not.toBe(before)
  })

  test('does not count what is of the service', () => {
    using project = new ConsoleProject()
    const before = digestOf(project.root)

    project.write('src/main.ts', 'other')
    project.write('clients/python/client.py', 'other')
    project.write('console/node_modules/x/index.js', 'other')

    expect(digestOf(project.root)).toBe(before)
  })

  const content = fc.record({ one: fc.string(), other: fc.string() })

  test('is not the same for two contents, wherever they are divided into files', () => {
    using project = new ConsoleProject()
    const digest = ({ one, other }: { readonly one: string; readonly other: string }) => {
      project.write('console/a', one)
      project.write('console/b', other)
      return digestOf(project.root)
    }
    fc.assert(
      fc.property(content, content, (before, after) => {
        const isSame = before.one === after.one && before.other === after.other
        expect(digest(before) === digest(after)).toBe(isSame)
      }),
    )
    const shifted = { one: 'xconsole/b\n1\ny', other: '' }
    expect(digest({ one: 'x', other: 'y' })).not.toBe(digest(shifted))
  })
})

describe('a stamp', () => {
  test('gives back the digest that it was made of', () => {
    using project = new ConsoleProject()
    const { name, content } = stampOf('d1')
    project.write(`built/${name}`, content)

    expect(builtDigest(project.path('built'))).toBe('d1')
  })

  test.each(['', 'no JSON', '{}'])('that says %j is none', (text) => {
    using project = new ConsoleProject()
    project.write(`built/${stampOf('').name}`, text)

    expect(builtDigest(project.path('built'))).toBeUndefined()
  })

  test('that is not there is none', () => {
    using project = new ConsoleProject()

    expect(builtDigest(project.path('nowhere'))).toBeUndefined()
  })
})

test('without the folder there are no sources', () => {
  using project = new ConsoleProject()
  expect(hasSources(project.root)).toBe(true)

  project.remove('console')

  expect(hasSources(project.root)).toBe(false)
})

function move(project: ConsoleProject, from: string, to: string): void {
  renameSync(project.path(from), project.path(to))
}
