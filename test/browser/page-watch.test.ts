import { existsSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiServer } from '../support/api-server.ts'
import { hindrancesOn } from '../support/console/accessible.ts'
import { BrowserPages } from '../support/console/browser-pages.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src *; require-trusted-types-for 'script'; trusted-types 'none'"

let pages: BrowserPages

beforeAll(async () => {
  pages = await BrowserPages.launch()
})

afterAll(async () => {
  await pages.end()
})

/** A page with a script of its own, under the policy of the console but for where it may connect to. */
async function pageWith(script: string, body = '<h1>A page</h1>') {
  const server = await ApiServer.start(({ url: { pathname } }, answer) => {
    if (pathname === '/script.js') {
      answer.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
      return
    }
    const headers = { 'content-type': 'text/html', 'content-security-policy': policy }
    answer.writeHead(pathname === '/' ? 200 : 404, headers)
    const main = `<title>A page</title><main>${body}<script src="/script.js"></script></main>`
    answer.end(`<!doctype html><html lang="en">${main}`)
  })
  const page = await pages.newPage(server.origin)
  await page.goto('/')
  return {
    page,
    async [Symbol.asyncDispose]() {
      await pages.closePages()
      await server[Symbol.asyncDispose]()
    },
  }
}

test('a page that does nothing wrong has no faults, though its calls fail', async () => {
  await using watched = await pageWith("fetch('/missing').then(() => { document.title = 'asked' })")
  const { page } = watched
  await expect.poll(() => page.title()).toBe('asked')

  expect(await pages.faults()).toEqual([])
  expect(await hindrancesOn(page)).toEqual([])
})

test.each([
  ['an error that nobody catches', "throw new Error('lost')", /^uncaught: .*lost/],
  ['a promise that nobody hears', "Promise.reject(new Error('lost'))", /^uncaught: .*lost/],
  ['an error in the console', "console.error('lost')", /^error in the console: lost/],
  [
    'markup in a sink',
    "document.body.innerHTML = '<b>'",
    /^policy violated: require-trusted-types-for/,
  ],
  [
    'a style in markup',
    "document.body.setAttribute('style', 'color: red')",
    /^policy violated: style-src-attr/,
  ],
  [
    'a call to another origin',
    "fetch('http://127.0.0.2:1/').catch(() => {})",
    /^asked elsewhere: http:\/\/127.0.0.2:1/,
  ],
  ['something in a storage', "localStorage.setItem('secret', 'a')", /^kept in the browser: secret/],
  ['a database', "indexedDB.open('readings')", /^kept in the browser: readings/],
  ['a cookie of a script', "document.cookie = 'secret=a'", /^kept in the browser: secret=a/],
])('%s is a fault', async (_, script, expected) => {
  await using watched = await pageWith(script)

  await watched.page.waitForLoadState()
  await expect.poll(() => pages.faults()).toContainEqual(expect.stringMatching(expected))
})

test('what hinders people is found', async () => {
  await using watched = await pageWith('', '<h1>A page</h1><img src="data:,"><button></button>')

  const found = await hindrancesOn(watched.page)

  expect(found).toContainEqual(expect.stringMatching(/^image-alt: /))
  expect(found).toContainEqual(expect.stringMatching(/^button-name: /))
})

test('what a page looked like is kept under a name that any disk takes', async () => {
  await using watched = await pageWith('')
  await watched.page.waitForLoadState()

  const [kept = ''] = await pages.keepScreenshots('watch: a/b "ü" \u202e')
  const path = kept.split(' ')[0] ?? ''

  expect(path).toMatch(/^test-failures\/watch-a-b-[-\w.]*0\.png$/)
  expect(existsSync(path)).toBe(true)
  rmSync(path)
})
