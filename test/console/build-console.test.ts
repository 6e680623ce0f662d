import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { builtDigest, digestOf } from '../../scripts/console-stamp.js'
import { ConsoleFiles } from '../../src/operating/console/console-files.ts'
import { checkConsole } from '../../src/operating/doctor/console-checks.ts'
import { ConsoleProject } from '../support/console-project.ts'

test('a build is whole: page, assets, what is smaller of them, and what it was made from', async () => {
  using project = new ConsoleProject()

  const { code, output } = await project.build()

  expect(output).toMatch(/console: built in [\d.]+ s: \d+ files/)
  expect(code).toBe(0)
  const [script = ''] = globSync(join(project.built, 'assets/*.js'))
  const page = readFileSync(join(project.built, 'index.html'), 'utf8')
  expect(page).toContain(`/console/assets/${script.split('/').at(-1)}`)
  expect(brotliDecompressSync(readFileSync(`${script}.br`))).toEqual(readFileSync(script))
  expect(gunzipSync(readFileSync(`${script}.gz`))).toEqual(readFileSync(script))
  expect(builtDigest(project.built)).toBe(digestOf(project.root))
  expect(await new ConsoleFiles(project.built).all()).toHaveProperty('size', 2)
  expect(readdirSync(project.path('node_modules/.cache'))).toEqual(['console'])
})

test('a page is built once, until its sources change', async () => {
  using project = new ConsoleProject()
  await project.build()
  const { ino } = statSync(project.built)

  expect((await project.build()).output).toContain('built already')
  expect(statSync(project.built).ino).toBe(ino)

  project.write('console/main.js', 'document.title = "another"')
  expect((await project.build()).output).toContain('built in')
  expect(builtDigest(project.built)).toBe(digestOf(project.root))
})

test('sources that cannot be built fail nothing but what has asked for it, and leave the page of before', async () => {
  using project = new ConsoleProject()
  await project.build()
  const before = builtDigest(project.built)
  project.write('console/main.js', 'const = ')

  const installed = await project.build()
  const asked = await project.build('--strict')

  expect(installed.output).toContain('console: not built')
  expect([installed.code, asked.code]).toEqual([0, 1])
  expect(builtDigest(project.built)).toBe(before)
  expect(readdirSync(project.path('node_modules/.cache'))).toEqual(['console'])
})

test.each([
  ['the packages of development', 'node_modules/vite', 'Vite is not installed'],
  ['the sources', 'console', 'there is no folder console/'],
])('without %s nothing is built, and that is said', async (_, missing, said) => {
  using project = new ConsoleProject()
  project.remove(missing)

  const { code, output } = await project.build()

  expect(output).toContain(said)
  expect(code).toBe(0)
  expect(existsSync(project.built)).toBe(false)
  expect((await project.build('--strict')).code).toBe(1)
})

test('builds at the same time leave one whole page', async () => {
  using project = new ConsoleProject()

  const ends = await Promise.all([project.build(), project.build(), project.build()])

  expect(ends.map(({ code, output }) => [code, output.includes('not built')])).toEqual(
    ends.map(() => [0, false]),
  )
  expect(builtDigest(project.built)).toBe(digestOf(project.root))
  expect(readdirSync(project.path('node_modules/.cache'))).toEqual(['console'])
})

test('what a killed build has left is taken away', async () => {
  using project = new ConsoleProject()
  // No process has this id (proc(5), pid_max).
  mkdirSync(project.path('node_modules/.cache/console.4194305.new'), { recursive: true })

  await project.build()

  expect(readdirSync(project.path('node_modules/.cache'))).toEqual(['console'])
})

test('the doctor knows a page that is missing, good, or older than its sources', async () => {
  using project = new ConsoleProject()

  const missing = await checkConsole(project.root)
  await project.build()
  const good = await checkConsole(project.root)
  project.write('console/main.js', 'document.title = "another"')
  const stale = await checkConsole(project.root)
  project.remove('console')
  const alone = await checkConsole(project.root)

  expect(missing).toMatchObject({ status: 'warn', message: 'it is not built: / answers 503' })
  expect(missing.advice).toContain('npm run build:console')
  expect(good).toMatchObject({ status: 'ok', message: 'it is built' })
  expect(stale).toMatchObject({ status: 'warn', advice: expect.stringContaining('build:console') })
  expect(stale.message).toContain('other sources')
  expect(alone).toMatchObject({ status: 'ok', message: 'it is built; its sources are not here' })
})
