import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'
import {
  builtPage,
  builtScript,
  ServedConsole,
  scriptPath,
  writeBuilt,
} from '../support/served-console.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

let served: ServedConsole

beforeEach(async () => {
  served = await ServedConsole.start()
})

afterEach(() => served[Symbol.asyncDispose]())

const pagePaths = [
  '/',
  '/console',
  '/console/',
  '/console/?q=boiler',
  '/console/streams',
  '/console/streams/0199-id/history?range=7d',
  '/console/index.html',
  // Names of things may have dots in them.
  '/console/record/device/pump-7.north',
]

describe('a console that is built', () => {
  beforeEach(() => writeBuilt(served.folder))

  test.each(pagePaths)('has its page at %s', async (path) => {
    const { status, headers, bytes } = await served.ask(path)

    expect(status).toBe(200)
    expect(bytes.toString()).toBe(builtPage)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
  })

  test('says of its page that it is the same as before', async () => {
    const first = await served.ask('/')
    const etag = String(first.headers.etag)

    for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const again = await served.ask('/console/', { headers: { 'if-none-match': known } })
      expect(again.status).toBe(304)
      expect(again.bytes.length).toBe(0)
      expect(again.headers.etag).toBe(etag)
    }
    const other = await served.ask('/', { headers: { 'if-none-match': '"other"' } })
    expect(other.status).toBe(200)
  })

  test('sends assets that can be kept for good', async () => {
    const { status, headers, bytes } = await served.ask(scriptPath)

    expect(status).toBe(200)
    expect(bytes.toString()).toBe(builtScript)
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
    expect(headers['content-encoding']).toBeUndefined()
  })

  test.each([
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['br;q=0.5, gzip', 'gzip', gunzipSync],
    ['br;q=0, *', 'gzip', gunzipSync],
  ] as const)('sends to whoever takes %s the form %s', async (accepted, coding, decompress) => {
    const { headers, bytes } = await served.ask(scriptPath, {
      headers: { 'accept-encoding': accepted },
    })

    expect(headers['content-encoding']).toBe(coding)
    expect(headers.vary).toBe('accept-encoding')
    expect(bytes.length).toBeLessThan(builtScript.length / 2)
    expect(decompress(bytes).toString()).toBe(builtScript)
  })

  test('sends what has no compressed form as it is', async () => {
    const { status, headers } = await served.ask('/console/icon.svg', {
      headers: { 'accept-encoding': 'br' },
    })

    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'image/svg+xml', 'cache-control': 'no-cache' })
    expect(headers['content-encoding']).toBeUndefined()
  })

  test.each([
    '/console/assets/main-0000.js',
    '/console/assets',
    '/console/assets/',
    '/console/assets/main-4f2a.js.br',
    '/console/assets/%2e%2e/stamp.json',
    '/console/assets/../stamp.json',
    '/console/favicon.ico',
    '/console/main.js.map',
    '/console/stamp.json',
    '/console/..%2f..%2fpackage.json',
    '/favicon.ico',
    '/nothing',
  ])('has nothing at %s, and not its page', async (path) => {
    const { status, headers, bytes } = await served.ask(path)

    expect(status).toBe(404)
    expect(JSON.parse(bytes.toString())).toMatchObject({ error: 'not_found' })
    expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers['cache-control']).toBe('no-store')
  })

  test.each(['/', '/console/streams', scriptPath])('is only read: %s', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status } = await served.ask(path, { method })
      expect([404, 405]).toContain(status)
    }
    const whole = await served.ask(path)
    const head = await served.ask(path, { method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(head.bytes.length).toBe(0)
    expect(head.headers['content-length']).toBe(String(whole.bytes.length))
    expect(head.headers.etag).toBe(whole.headers.etag)
  })

  test('stays one page with its assets when another one is built meanwhile', async () => {
    await served.ask('/')
    rmSync(served.folder, { recursive: true })
    writeBuilt(served.folder, 'a newer page')

    const { bytes } = await served.ask('/')

    expect(bytes.toString()).toBe(builtPage)
  })

  test('tells browsers to keep other windows away from it, where that counts', async () => {
    await using behind = await ServedConsole.start({ trustedProxies: ['127.0.0.1'] })
    writeBuilt(behind.folder)

    const plain = await behind.ask('/')
    const secure = await behind.ask('/', { headers: { 'x-forwarded-proto': 'https' } })

    expect(plain.headers['cross-origin-opener-policy']).toBeUndefined()
    expect(secure.headers['cross-origin-opener-policy']).toBe('same-origin')
  })

  test('varies by the origin as well, where pages of others may ask', async () => {
    await using shared = await ServedConsole.start({ corsOrigins: ['https://console.example'] })
    writeBuilt(shared.folder)

    const { headers } = await shared.ask(scriptPath)

    expect(headers.vary).toBe('Origin, accept-encoding')
  })
})

describe('a console beside operations of the interface', () => {
  const schema = {
    operationId: 'readSession',
    summary: 'Read the session.',
    tags: ['Operations'],
    response: { 200: { type: 'object', properties: {} } },
  } as const

  const idParams = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string' } },
  } as const

  test('leaves them their paths', async () => {
    await using beside = await ServedConsole.start({
      others: async (app) => {
        app.get('/console/session', { schema }, async () => ({}))
        app.put(
          '/console/settings',
          { schema: { ...schema, operationId: 'replaceSettings' } },
          async () => ({}),
        )
        app.delete(
          '/console/sessions/:id',
          { schema: { ...schema, operationId: 'endSession', params: idParams } },
          async () => ({}),
        )
      },
    })
    writeBuilt(beside.folder)

    const session = await beside.ask('/console/session')
    const another = await beside.ask('/console/sessions/7')
    const settings = await beside.ask('/console/settings')
    const below = await beside.ask('/console/settings/')
    const page = await beside.ask('/console/sessions-of-others')

    expect(session.bytes.toString()).toBe('{}')
    expect(another.status).toBe(405)
    expect(another.headers.allow).toBe('DELETE')
    expect([settings.status, below.status]).toEqual([405, 404])
    expect(page.bytes.toString()).toBe(builtPage)
  })
})

describe('a console that is not built', () => {
  test.each(pagePaths)('says how to build it at %s', async (path) => {
    const { status, headers, bytes } = await served.ask(path)

    expect(status).toBe(503)
    expect(bytes.toString()).toContain('npm run build:console')
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('no-store')
    const policyOfIt = String(headers['content-security-policy'])
    expect(policyOfIt).toMatch(/^default-src 'none'; style-src 'sha256-[^ ]+'; /)
    expect(policyOfIt).not.toMatch(/script-src|unsafe/)
  })

  test('has no assets', async () => {
    expect((await served.ask(scriptPath)).status).toBe(404)
  })

  test('is there once it is built, without a restart', async () => {
    await served.ask('/')
    writeBuilt(served.folder)

    expect((await served.ask('/')).status).toBe(200)
  })

  test('is not one of which only a part is there', async () => {
    writeBuilt(served.folder)
    rmSync(join(served.folder, 'index.html'))

    expect((await served.ask('/')).status).toBe(503)
  })
})

describe('the service', () => {
  const service = runningService()

  test.each(['/', '/console/streams'])(
    'has the console at %s, or says how to get it',
    async (path) => {
      const { status, headers } = await fetch(service.process.http + path)

      expect([200, 503]).toContain(status)
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    },
  )

  test('has a page at each path that the console knows, and no operation', async () => {
    const text = readFileSync('console/src/routing/paths.ts', 'utf8')
    const places = [...text.matchAll(/['`](\/console[^'`$]*)/g)].map(([, path = '']) => path)
    expect(places.length).toBeGreaterThan(10)
    for (const path of places) {
      const { headers } = await fetch(service.process.http + path)
      expect([path, headers.get('content-type')]).toEqual([path, 'text/html; charset=utf-8'])
    }
  })

  test('has its operations where they were', async () => {
    for (const path of ['/streams', '/vaults', '/console/nothing.js']) {
      const { headers } = await fetch(service.process.http + path)
      expect(headers.get('content-type')).toMatch(/^application\/json/)
    }
    // Every operation with GET and no more in its path is still one.
    const description = (await (await fetch(`${service.process.http}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, object>>
    }
    const read = Object.entries(description.paths).filter(([path, one]) => {
      return 'get' in one && path.startsWith('/console') && !path.includes('{')
    })
    for (const [path] of read) {
      const { status, headers } = await fetch(service.process.http + path)
      expect([path, status]).toEqual([path, 401])
      expect(headers.get('content-type')).toMatch(/^application\/json/)
    }
  })
})
