import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { verifySignature } from '../../receivers/verify-signature.js'
import { deliveryHeaders } from '../../src/telling/webhooks/delivery-headers.ts'

interface Vector {
  readonly format: 'emitted' | 'forthcoming'
  readonly secret: string
  readonly body: string
  readonly signature: string
}

/** The test vectors of the page, one a line. */
const vectors = readFileSync('docs/webhooks.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{"format":'))
  .map((line) => JSON.parse(line) as Vector)

describe('the test vectors of docs/webhooks.md', () => {
  test('are there for both formats', () => {
    expect(new Set(vectors.map(({ format }) => format))).toEqual(
      new Set(['emitted', 'forthcoming']),
    )
  })

  test.each(vectors)('$signature is what we send', ({ format, secret, body, signature }) => {
    const { sent } = deliveryHeaders(
      { secret, previousSecret: undefined, customHeaders: {} },
      { deliveryId: '', eventId: '', eventType: '', format, body, nowUs: 0 },
    )
    expect(sent['X-Service-Signature']).toBe(signature)
  })

  test.each(vectors)('$signature is found good', ({ secret, body, signature }) => {
    const headers = { 'X-Service-Signature': signature }
    expect(verifySignature({ body, headers }, secret)).toBe(true)
    expect(
      verifySignature({ body: Buffer.from(body), headers: new Headers(headers) }, secret),
    ).toBe(true)
    expect(verifySignature({ body: `${body} `, headers }, secret)).toBe(false)
    expect(verifySignature({ body, headers }, `${secret} `)).toBe(false)
    expect(verifySignature({ body, headers }, 'another', secret)).toBe(true)
  })
})

describe('a signature', () => {
  const body = '{}'

  test.each([
    ['is missing', {}],
    ['is empty', { 'x-service-signature': '' }],
    ['is too short', { 'x-service-signature': 'sha256=00' }],
    ['comes twice', { 'x-service-signature': ['sha256=00', 'sha256=00'] }],
  ])('that %s is not good', (_, headers) => {
    expect(verifySignature({ body, headers }, 'a secret')).toBe(false)
  })

  test('is not good without a secret', () => {
    const { sent } = deliveryHeaders(
      { secret: '', previousSecret: undefined, customHeaders: {} },
      { deliveryId: '', eventId: '', eventType: '', format: 'emitted', body, nowUs: 0 },
    )
    expect(verifySignature({ body, headers: sent }, '')).toBe(false)
  })

  test('is not sent without a secret', () => {
    const { sent } = deliveryHeaders(
      { secret: null, previousSecret: undefined, customHeaders: {} },
      { deliveryId: '', eventId: '', eventType: '', format: 'emitted', body, nowUs: 0 },
    )
    expect(Object.keys(sent)).not.toContain('X-Service-Signature')
  })

  test('is made with the old secret until the overlap ends, and beside it with the new one', () => {
    const webhook = {
      secret: 'new',
      previousSecret: { secret: 'old', untilUs: 10 },
      customHeaders: {},
    }
    const delivery = {
      deliveryId: '',
      eventId: '',
      eventType: '',
      format: 'forthcoming',
      body,
    } as const
    const during = deliveryHeaders(webhook, { ...delivery, nowUs: 9 }).sent
    expect(verifySignature({ body, headers: during }, 'old')).toBe(true)
    expect(verifySignature({ body, headers: during }, 'new')).toBe(true)
    const after = deliveryHeaders(webhook, { ...delivery, nowUs: 10 }).sent
    expect(verifySignature({ body, headers: after }, 'old')).toBe(false)
    expect(verifySignature({ body, headers: after }, 'new')).toBe(true)
  })
})
