import { describe, expect, test } from 'vitest'
import { secretMark } from '../../../src/contracts/definitions/secret-mark.ts'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

function problemsOf(signature: unknown, rest: object = {}): readonly ErrorDetail[] {
  const found: ErrorDetail[] = []
  const source = { protocol: 'webhook', signature, credentials: { secret }, ...rest }
  parseSource(source, 'event_stream', found)
  return found
}

function placesOf(signature: unknown, rest: object = {}): readonly string[] {
  return problemsOf(signature, rest).map(({ path }) => path.replace('source.', ''))
}

const header = 'X-Signature'
const whole = {
  scheme: 'hmac',
  header,
  algorithm: 'sha512',
  encoding: 'base64url',
  prefix: 'v0=',
  timestampHeader: 'X-Time',
  signedContent: '{id}:{timestamp}:{body}',
  tolerance: '10m',
}

describe('a webhook', () => {
  test.each([
    [{ scheme: 'standard-webhooks', tolerance: '1m' }, {}],
    [{ scheme: 'github' }, { idHeader: 'X-Id', eventTypeHeader: 'X-Event' }],
    [{ scheme: 'stripe' }, { timestampField: 'created', timestampFormat: 'epoch_s' }],
    [{ scheme: 'slack' }, {}],
    [{ scheme: 'shopify' }, {}],
    [{ scheme: 'hmac', header }, {}],
    [{ scheme: 'token', header, prefix: 'Bearer ' }, {}],
    [whole, { idHeader: 'X-Id' }],
    [{ scheme: 'standard-webhooks' }, { credentials: { secret: secretMark } }],
  ])('may say %j %j', (signature, rest) => {
    expect(problemsOf(signature, rest)).toEqual([])
  })

  test.each([
    [undefined, {}, ['signature']],
    ['hmac', {}, ['signature']],
    [{}, {}, ['signature.scheme']],
    [{ scheme: 'none' }, {}, ['signature.scheme']],
    [{ scheme: 'hmac' }, {}, ['signature.header']],
    [{ scheme: 'token', header, encoding: 'hex' }, {}, ['signature.encoding']],
    [{ scheme: 'github', header }, {}, ['signature.header']],
    [{ scheme: 'github', tolerance: '1m' }, {}, ['signature.tolerance']],
    [{ scheme: 'hmac', header, tolerance: '1m' }, {}, ['signature.tolerance']],
    [{ scheme: 'hmac', header: 'X Y' }, {}, ['signature.header']],
    [{ scheme: 'hmac', header, algorithm: 'md5' }, {}, ['signature.algorithm']],
    [{ ...whole, signedContent: '{timestamp}{body}{body}' }, {}, ['signature.signedContent']],
    [{ ...whole, signedContent: '{body}' }, {}, ['signature.signedContent']],
    [whole, {}, ['signature.signedContent']],
    [
      { scheme: 'hmac', header, signedContent: '{timestamp}{body}' },
      {},
      ['signature.signedContent'],
    ],
    [{ scheme: 'github' }, { credentials: {} }, ['credentials.secret']],
    [{ scheme: 'github' }, { credentials: undefined }, ['credentials']],
    [{ scheme: 'github' }, { credentials: { secret: 'short' } }, ['credentials.secret']],
    [
      { scheme: 'standard-webhooks' },
      { credentials: { secret: 'no base64 at all, but long enough' } },
      ['credentials.secret'],
    ],
    [{ scheme: 'github' }, { idHeader: '' }, ['idHeader']],
    [{ scheme: 'github' }, { endpoint: 'https://example.com' }, ['endpoint']],
    [{ scheme: 'github' }, { format: 'sparkplug' }, ['format']],
  ])('may not say %j %j', (signature, rest, places) => {
    expect(placesOf(signature, rest)).toEqual(places)
  })
})
