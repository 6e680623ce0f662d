import { createPrivateKey, sign } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { order256 } from '../../src/ledgers/signatures/curves.ts'
import { signingText } from '../../src/ledgers/signatures/signing-text.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { runningService } from '../support/running-service.ts'
import { type ShownSignature, Signer } from '../support/signers.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

const service = runningService()

const cid = cidOf('hello')
const ed = new Signer('Ed25519')
const es = new Signer('ES256')

let path: string

beforeAll(async () => {
  const { id, presigned_url: url } = await attachmentOf(service.api)
  await upload(service.api, url, 'hello')
  path = `/attachments/${id}/signatures`
})

interface Refusal {
  readonly error: string
  readonly details?: readonly { readonly path: string }[]
}

async function refused(body: object | string) {
  const { status, body: said } = await service.api.withKey<Refusal>('POST', path, body)
  return { status, error: said.error, path: said.details?.[0]?.path, text: JSON.stringify(said) }
}

function withKey(signer: Signer, change: object) {
  return { ...signer.bodyFor(cid), public_key: { ...signer.jwk, ...change } }
}

const [x = '', esX = ''] = [ed.jwk['x'], es.jwk['x']]
const d = ed.secret['d'] ?? ''

/** The last of 43 characters has two bits that are in no byte. */
function otherSpelling(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(text.at(-1) ?? '')
  return text.slice(0, -1) + alphabet[last ^ 1]
}

function hex(value: bigint): string {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').toString('base64url')
}

const p256 = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const b256 = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

/** A point of P-256 whose x is so small that x + p has 32 bytes, too. */
function smallPoint(): { readonly x: bigint; readonly y: bigint } {
  for (let small = 1n; ; small++) {
    const square = (small ** 3n - 3n * small + b256) % p256
    const y = power(square, (p256 + 1n) / 4n)
    if ((y * y) % p256 === square) return { x: small, y }
  }
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % p256
    square = (square * square) % p256
  }
  return result
}

const near = smallPoint()

const badKeys: readonly (readonly [string, object, string])[] = [
  ['a curve in small letters', withKey(ed, { crv: 'ed25519' }), 'public_key.crv'],
  ['a curve in other letters', withKey(es, { crv: 'p-256' }), 'public_key.crv'],
  ['a kind that is a list', withKey(ed, { kty: ['OKP'] }), 'public_key.kty'],
  ['a curve that is an object', withKey(ed, { crv: { toString: 'Ed25519' } }), 'public_key.crv'],
  ['a coordinate that is a list', withKey(ed, { x: [x] }), 'public_key.x'],
  ['a coordinate that is null', withKey(es, { y: null }), 'public_key.y'],
  ['bits that do not count', withKey(ed, { x: otherSpelling(x) }), 'public_key.x'],
  ['bits that do not count, of P-256', withKey(es, { x: otherSpelling(esX) }), 'public_key.x'],
  ['a coordinate with space', withKey(ed, { x: ` ${x}` }), 'public_key.x'],
  ['a coordinate of a million characters', withKey(ed, { x: 'A'.repeat(500_000) }), 'public_key.x'],
  ['x + p', withKey(es, { x: hex(p256 + near.x), y: hex(near.y) }), 'public_key'],
  ['a y of p', withKey(es, { y: hex(p256) }), 'public_key'],
  ['an alg that is a list', withKey(ed, { alg: ['EdDSA'] }), 'public_key.alg'],
  ['the alg of the other kind', withKey(ed, { alg: 'ES256' }), 'public_key.alg'],
  ['a use that is null', withKey(ed, { use: null }), 'public_key.use'],
  ['operations that sign', withKey(ed, { key_ops: ['sign'] }), 'public_key.key_ops'],
  ['operations of both', withKey(ed, { key_ops: ['verify', 'sign'] }), 'public_key.key_ops'],
  ['operations that are a text', withKey(ed, { key_ops: 'verify' }), 'public_key.key_ops'],
  ['a name that is an object', withKey(ed, { kid: { d } }), 'public_key.kid'],
  ['a name that is a list', withKey(ed, { kid: [d] }), 'public_key.kid'],
  ['an ext that is a text', withKey(ed, { ext: d }), 'public_key.ext'],
  ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].map(
    (name) =>
      [`the private member ${name}`, withKey(es, { [name]: d }), `public_key.${name}`] as const,
  ),
  ['a private member that is null', withKey(es, { d: null }), 'public_key.d'],
  ['a private member in capitals', withKey(es, { D: d }), 'public_key'],
  ['a key within the key', withKey(es, { jwk: ed.secret }), 'public_key'],
  ['certificates', withKey(es, { x5c: [d] }), 'public_key'],
  ['a constructor', withKey(es, { constructor: d }), 'public_key'],
  ['a set of keys', { ...ed.bodyFor(cid), public_key: { keys: [ed.jwk] } }, 'public_key.kty'],
]

test.each(badKeys)('%s is 400, and not said again', async (_, body, at) => {
  const answer = await refused(body)
  expect(answer).toMatchObject({ status: 400, error: 'invalid_request', path: at })
  expect(answer.text).not.toContain(d)
  expect(answer.text.length).toBeLessThan(1_000)
})

test.each([
  ['what a browser exports', { key_ops: ['verify'], ext: true }],
  ['operations that are none', { key_ops: [] }],
  ['a name, and what it is for', { kid: 'mine', use: 'sig', alg: 'EdDSA' }],
])('%s is taken beside the key, and not kept', async (_, more) => {
  const signer = new Signer('Ed25519')
  const { status, body } = await service.api.withKey<ShownSignature>('POST', path, {
    ...signer.bodyFor(cid),
    public_key: { ...signer.jwk, ...more },
  })
  expect(status).toBe(201)
  expect(body.public_key).toEqual(signer.jwk)
})

test('JSON that says a thing twice, or has a prototype, is none', async () => {
  const signer = new Signer('Ed25519')
  const good = JSON.stringify(signer.bodyFor(cid))
  const secret = JSON.stringify(signer.secret)
  const texts = [
    good.replace('{', `{"public_key":${secret},`),
    good.replace(/\}$/, `,"public_key":${secret}}`),
    good.replace('"x":', `"x":"${x}","x":`),
    '{"public_key":{"__proto__":{"d":"x"}}}',
    '{"__proto__":{"algorithm":"Ed25519"}}',
  ]
  for (const text of texts) {
    expect(await refused(text)).toMatchObject({ status: 400, error: 'malformed_body' })
  }
})

/** A signature of two numbers. */
function numbers(r: bigint, s: bigint): object {
  const bytes = [r, s].map((one) => Buffer.from(hex(one), 'base64url'))
  return { ...es.bodyFor(cid), signature: Buffer.concat(bytes).toString('base64url') }
}

function numbersOf(signature: string): [bigint, bigint] {
  const bytes = Buffer.from(signature, 'base64url')
  const one = (from: number) => BigInt(`0x${bytes.subarray(from, from + 32).toString('hex')}`)
  return [one(0), one(32)]
}

const [r, s] = numbersOf(es.bodyFor(cid).signature)

test.each([
  ['r of 0', numbers(0n, s)],
  ['r of n', numbers(order256, s)],
  ['r of n + 1', numbers(order256 + 1n, s)],
  ['s of 0', numbers(r, 0n)],
  ['s of n', numbers(r, order256)],
  ['s of n + 1', numbers(r, order256 + 1n)],
  ['r and s of 0', numbers(0n, 0n)],
  ['r and s of 1', numbers(1n, 1n)],
  ['the numbers changed', numbers(s, r)],
  ['both in DER', { ...es.bodyFor(cid), signature: der(es) }],
  ['nothing but 64 zeros, of Ed25519', { ...ed.bodyFor(cid), signature: 'A'.repeat(86) }],
  ['one of the other kind', { ...ed.bodyFor(cid), signature: es.bodyFor(cid).signature }],
])('a signature with %s is 422', async (_, body) => {
  expect(await refused(body)).toMatchObject({ status: 422, error: 'signature_mismatch' })
})

function der(signer: Signer): string {
  const key = createPrivateKey({ key: { ...signer.secret }, format: 'jwk' })
  return sign('sha256', Buffer.from(signingText(cid)), key).toString('base64url')
}

test('the point that x + p is another form of is taken in its own', async () => {
  const body = withKey(es, { x: hex(near.x), y: hex(near.y) })
  expect(await refused(body)).toMatchObject({ status: 422, error: 'signature_mismatch' })
})
