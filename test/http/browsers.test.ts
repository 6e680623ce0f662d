import { describe, expect, test } from 'vitest'
import { sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const friend = 'https://console.example'
const service = runningService({ STREAMVAULT_CORS_ORIGINS: `${friend},http://localhost:3000` })

function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(service.process.http + path, { headers })
}

function preflight(origin: string, path = '/vaults'): Promise<Response> {
  return fetch(service.process.http + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key,x-api-secret,content-type,idempotency-key',
    },
  })
}

describe('a page of an origin that is allowed', () => {
  test.each([friend, 'http://localhost:3000'])('may ask from %s', async (origin) => {
    const answer = await preflight(origin)

    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    expect(answer.headers.get('access-control-allow-methods')).toContain('DELETE')
    const allowed = answer.headers.get('access-control-allow-headers')
    expect(allowed).toContain('x-api-secret')
    expect(allowed).toContain('authorization')
    expect(answer.headers.get('vary')).toMatch(/origin/i)
  })

  test('may read the answer, and the headers that it needs', async () => {
    const answer = await get('/health', { origin: friend })

    expect(answer.headers.get('access-control-allow-origin')).toBe(friend)
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/Link.*Retry-After/)
  })

  test('may read why it was refused', async () => {
    const answer = await get('/vaults', { origin: friend })

    expect(answer.status).toBe(401)
    expect(answer.headers.get('access-control-allow-origin')).toBe(friend)
  })

  test('gets no credentials that the browser holds', async () => {
    const answer = await preflight(friend)

    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  })
})

describe('a page of any other origin', () => {
  test.each([
    'https://evil.example',
    'https://console.example.evil.example',
    'https://sub.console.example',
    'http://console.example',
    'https://console.example:8443',
    'null',
  ])('may not: %s', async (origin) => {
    const asked = await preflight(origin)
    const answered = await get('/health', { origin })

    for (const { headers } of [asked, answered]) {
      expect(headers.get('access-control-allow-origin')).not.toBe(origin)
      expect(headers.get('access-control-allow-origin')).not.toBe('*')
    }
  })
})

test('OPTIONS that is no preflight is 405 on a path, and 404 on none', async () => {
  const known = await sendRaw(service.process.http, { method: 'OPTIONS', path: '/vaults' })
  const unknown = await sendRaw(service.process.http, { method: 'OPTIONS', path: '/nothing' })

  expect(known.body.error).toBe('method_not_allowed')
  expect(unknown.body.error).toBe('not_found')
})

describe('every answer', () => {
  const keys = { 'x-api-key': adminKey, 'x-api-secret': adminSecret }

  test.each([
    ['data', '/vaults', keys],
    ['refusals', '/vaults', {}],
    ['unknown paths', '/nothing', {}],
    ['unreadable paths', '/vaults/%zz', {}],
    ['health', '/health/live', {}],
    ['the description', '/openapi.json', {}],
    ['the page of it', '/docs', {}],
  ])('of %s tells browsers to do nothing with it', async (_, path, headers) => {
    const answer = await get(path, headers)

    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/default-src 'none'/)
    expect(policy).toMatch(/frame-ancestors 'none'/)
    expect(policy).not.toMatch(/unsafe/)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
  })

  test('over plain HTTP leaves out what only TLS can promise', async () => {
    const answer = await get('/health')

    expect(answer.headers.get('strict-transport-security')).toBeNull()
  })

  test('names no product or version', async () => {
    const answer = await get('/health')

    expect(answer.headers.get('server')).toBeNull()
    expect(answer.headers.get('x-powered-by')).toBeNull()
  })

  test('of /docs allows the style sheet that it needs, and that is there', async () => {
    const page = await get('/docs')
    const style = await get('/docs/style.css')

    expect(page.headers.get('content-security-policy')).toContain("style-src 'self'")
    expect(style.status).toBe(200)
    expect(style.headers.get('content-type')).toMatch(/^text\/css/)
  })
})
