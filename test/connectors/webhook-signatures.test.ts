import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InboundHook } from '../../connectors/webhook/inbound-hook.ts'
import type { StreamId } from '../../src/core/ids.ts'
import { type Sender, senders } from '../support/webhook-senders.ts'

const now = 1_800_000_000
const nowUs = now * 1_000_000
const all: readonly (readonly [string, Sender])[] = Object.entries(senders)
const timed = all.filter(([name]) => !['github', 'shopify', 'token'].includes(name))

interface Kept {
  readonly signature: object
  readonly secret: string
  readonly previous?: { readonly secret: string; readonly untilUs: number }
}

function hookOf({ signature, secret, previous }: Kept, rest: object = {}): InboundHook {
  const source = { protocol: 'webhook', signature, credentials: { secret }, ...rest }
  return new InboundHook({ streamId: 'stream' as StreamId, source, previous })
}

function isGood(hook: InboundHook, headers: Readonly<Record<string, string>>, body: string) {
  return hook.verify(headers, Buffer.from(body), nowUs).ok
}

function flipped(text: string, bit: number): string {
  const bytes = Buffer.from(text)
  const at = (bit >> 3) % bytes.length
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (bit & 7)), at)
  return bytes.toString('latin1')
}

const bodies = fc.json()
const bits = fc.nat(65_535)

describe('published examples are good', () => {
  test('of GitHub', () => {
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
    const headers = { 'x-hub-signature-256': signature }
    expect(isGood(hookOf(senders.github), headers, 'Hello, World!')).toBe(true)
  })

  test('of Slack', () => {
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
    const headers = {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    }
    const verdict = hookOf(senders.slack).verify(headers, Buffer.from(body), 1_531_420_618_000_000)
    expect(verdict.ok).toBe(true)
  })

  test('of Standard Webhooks', () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    }
    const body = Buffer.from('{"test": 2432232314}')
    const verdict = hookOf(senders['standard-webhooks']).verify(headers, body, 1_614_265_330e6)
    expect(verdict).toMatchObject({ ok: true, messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek' })
  })

  // RFC 4231, section 4.3.
  test.each([
    ['sha256', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    [
      'sha512',
      '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    ],
  ])('of HMAC with %s', (algorithm, signature) => {
    const hook = hookOf({
      signature: { scheme: 'hmac', header: 'X-Signature', algorithm },
      secret: 'Jefe',
    })
    const body = 'what do ya want for nothing?'
    expect(isGood(hook, { 'x-signature': signature }, body)).toBe(true)
    expect(isGood(hook, { 'x-signature': signature.toUpperCase() }, body)).toBe(true)
  })
})

describe.each(all)('messages of %s', (name, sender) => {
  const hook = hookOf(sender)
  const sent = (body: string) =>
    sender.headers({ body, secret: sender.secret, id: 'msg_1', timestamp: now })

  test('are good, and none of them without its headers', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const headers = sent(body)
        expect(isGood(hook, headers, body)).toBe(true)
        expect(isGood(hook, {}, body)).toBe(false)
      }),
    )
  })

  test('are refused when any bit of body or secret is another', () => {
    fc.assert(
      fc.property(bodies, bits, (body, bit) => {
        if (name !== 'token') {
          expect(hook.verify(sent(body), Buffer.from(flipped(body, bit), 'latin1'), nowUs).ok).toBe(
            false,
          )
        }
        const secret = name === 'standard-webhooks' ? 'whsec_' : ''
        const other = secret + flipped(sender.secret.slice(secret.length), bit & ~6)
        const otherHook = hookOf({ ...sender, secret: other })
        const isSameKey =
          name === 'standard-webhooks' &&
          Buffer.from(other.slice(6), 'base64').equals(
            Buffer.from(sender.secret.slice(6), 'base64'),
          )
        expect(isGood(otherHook, sent(body), body)).toBe(isSameKey)
      }),
    )
  })

  test('are refused when any bit of what is signed in the headers is another', () => {
    const unsigned = ['x-github-delivery', 'x-github-event', 'x-shopify-webhook-id']
    fc.assert(
      fc.property(bodies, bits, (body, bit) => {
        const headers = sent(body)
        for (const [header, text] of Object.entries(headers)) {
          if (unsigned.includes(header) || header === 'x-shopify-topic') continue
          const value = flipped(text, bit)
          // Digits of hexadecimal numbers are the same in either case, and v0 is not looked at.
          if (value.toLowerCase() === text.toLowerCase() && !text.endsWith('=')) continue
          if (header === 'stripe-signature' && value.slice(0, -7) === text.slice(0, -7)) continue
          expect(isGood(hook, { ...headers, [header]: value }, body)).toBe(false)
        }
      }),
    )
  })

  test('are good with the secret before, until its time is over', () => {
    const body = '{}'
    const previous = { secret: sender.secret, untilUs: nowUs + 1 }
    const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
    expect(isGood(hookOf({ ...sender, secret, previous }), sent(body), body)).toBe(true)
    const ended = { ...previous, untilUs: nowUs }
    expect(isGood(hookOf({ ...sender, secret, previous: ended }), sent(body), body)).toBe(false)
  })
})

describe.each(timed)('messages of %s', (_, sender) => {
  const verdictOf = (timestamp: number, tolerance?: string) => {
    const { secret, signature } = sender
    const hook = hookOf({ secret, signature: { ...signature, ...(tolerance && { tolerance }) } })
    const headers = sender.headers({ body: '{}', secret, id: 'msg_1', timestamp })
    return hook.verify(headers, Buffer.from('{}'), nowUs)
  }

  test('are good for five minutes before and after, if nothing else is said', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000, max: 1_000 }), (seconds) => {
        expect(verdictOf(now + seconds).ok).toBe(Math.abs(seconds) <= 300)
        expect(verdictOf(now + seconds, '1m').ok).toBe(Math.abs(seconds) <= 60)
      }),
    )
    expect(verdictOf(now - 301)).toEqual({
      ok: false,
      problem: 'the time that was signed is not within 300 s of now',
    })
  })

  test('have the same id only when they are the same', () => {
    expect(verdictOf(now)).toEqual(verdictOf(now))
    expect(verdictOf(now)).toMatchObject({ messageId: expect.any(String) as string })
  })
})

test('a time in milliseconds is one as well', () => {
  const { secret, signature, headers } = senders.hmac
  const sent = headers({ secret, body: '{}', id: '', timestamp: now * 1_000 })
  expect(isGood(hookOf({ secret, signature }), sent, '{}')).toBe(true)
})

test('what is signed is what the definition says', () => {
  const signature = {
    scheme: 'hmac',
    header: 'X-Zm-Signature',
    prefix: 'v0=',
    timestampHeader: 'X-Zm-Request-Timestamp',
    signedContent: 'v0:{timestamp}:{body}',
  }
  const { secret, headers } = senders.slack
  const sent = headers({ secret, body: '{}', id: '', timestamp: now })
  const renamed = {
    'x-zm-signature': sent['x-slack-signature'],
    'x-zm-request-timestamp': sent['x-slack-request-timestamp'],
  }
  expect(isGood(hookOf({ secret, signature }), renamed, '{}')).toBe(true)
})

test('nobody can sign for a secret that is no base64', () => {
  const { headers, signature } = senders['standard-webhooks']
  const sent = headers({
    secret: senders['standard-webhooks'].secret,
    body: '{}',
    id: '1',
    timestamp: now,
  })
  const withoutKey = createHmac('sha256', '').update(`1.${now}.{}`).digest('base64')
  const hook = hookOf({ signature, secret: '????????' })
  expect(isGood(hook, { ...sent, 'webhook-signature': `v1,${withoutKey}` }, '{}')).toBe(false)
})

test('a signature of Stripe without its time is none', () => {
  const { secret, signature } = senders.stripe
  const withoutTime = createHmac('sha256', secret).update('.{}').digest('hex')
  const headers = { 'stripe-signature': `v1=${withoutTime}` }
  expect(isGood(hookOf({ secret, signature }), headers, '{}')).toBe(false)
})

test('a token may stand behind a word', () => {
  const signature = { scheme: 'token', header: 'Authorization', prefix: 'Bearer ' }
  const hook = hookOf({ secret: 'the token', signature })
  expect(isGood(hook, { authorization: 'Bearer the token' }, '{}')).toBe(true)
  expect(isGood(hook, { authorization: 'Bearer a token' }, '{}')).toBe(false)
  expect(isGood(hook, { authorization: 'the token' }, '{}')).toBe(false)
})
