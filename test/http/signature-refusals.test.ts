import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { otherForm } from '../../src/ledgers/signatures/check-signature.ts'
import { order25519 } from '../../src/ledgers/signatures/curves.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { Signer } from '../support/signers.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

const service = runningService()

const cid = cidOf('hello')
const ed = new Signer('Ed25519')
const es = new Signer('ES256')
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ format: 'jwk' })

interface Refusal {
  readonly error: string
  readonly message: string
  readonly details?: readonly { readonly path: string }[]
}

let path: string
let waitingPath: string

beforeAll(async () => {
  const { id, presigned_url: url } = await attachmentOf(service.api)
  await upload(service.api, url, 'hello')
  path = `/attachments/${id}/signatures`
  waitingPath = `/attachments/${(await attachmentOf(service.api)).id}/signatures`
})

async function refused(body: object, at = path) {
  const answer = await service.api.withKey<Refusal>('POST', at, body)
  const { status, body: said } = answer
  return { status, error: said.error, path: said.details?.[0]?.path, text: JSON.stringify(said) }
}

function withKey(signer: Signer, change: object) {
  return { ...signer.bodyFor(cid), public_key: { ...signer.jwk, ...change } }
}

/** 32 bytes in base64url, of the hex that tables of points have. */
function hex(text: string): string {
  return Buffer.from(text, 'hex').toString('base64url')
}

/** The points whose order divides 8, in the one way that each is written, with either sign. */
const small = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '0000000000000000000000000000000000000000000000000000000000000080',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
]

const p25519 = 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'
const p256 = 'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff'

const badKeys: readonly (readonly [string, object, string])[] = [
  ['nothing but an algorithm', { algorithm: 'Ed25519' }, 'public_key'],
  ['no algorithm', { public_key: ed.jwk, signature: 'x' }, 'algorithm'],
  ['no signature', { algorithm: 'ES256', public_key: es.jwk }, 'signature'],
  ['an algorithm that there is not', { ...ed.bodyFor(cid), algorithm: 'RS256' }, 'algorithm'],
  ['a member that is none', { ...ed.bodyFor(cid), note: 'x' }, 'note'],
  ['a key that is a text', { ...ed.bodyFor(cid), public_key: 'key' }, 'public_key'],
  ['RSA', { ...es.bodyFor(cid), public_key: rsa }, 'public_key.kty'],
  ['a key of the other kind', { ...es.bodyFor(cid), public_key: ed.jwk }, 'public_key.kty'],
  ['another curve', withKey(es, { crv: 'P-384' }), 'public_key.crv'],
  ['X25519', withKey(ed, { crv: 'X25519' }), 'public_key.crv'],
  ['another purpose', withKey(ed, { use: 'enc' }), 'public_key.use'],
  ['another alg', withKey(es, { alg: 'ES384' }), 'public_key.alg'],
  ['a member that no key has', withKey(ed, { y: es.jwk['y'] }), 'public_key'],
  ['a private key of Ed25519', withKey(ed, ed.secret), 'public_key.d'],
  ['a private key of P-256', withKey(es, es.secret), 'public_key.d'],
  ['a secret', withKey(ed, { k: 'c2VjcmV0' }), 'public_key.k'],
  ['a point with padding', withKey(ed, { x: `${ed.jwk['x']}=` }), 'public_key.x'],
  ['a point that is too short', withKey(ed, { x: hex('00'.repeat(31)) }), 'public_key.x'],
  ['a point that is no text', withKey(ed, { x: 7 }), 'public_key.x'],
  ['no y', { ...es.bodyFor(cid), public_key: { ...es.jwk, y: undefined } }, 'public_key.y'],
  ['a point that is not reduced', withKey(ed, { x: hex(p25519) }), 'public_key.x'],
  [
    'a point that is off the curve',
    withKey(ed, { x: hex(`02${'00'.repeat(31)}`) }),
    'public_key.x',
  ],
  ['a point that is off P-256', withKey(es, { y: es.jwk['x'] }), 'public_key'],
  ['a coordinate that is not reduced', withKey(es, { x: hex(p256) }), 'public_key'],
  ['infinity', withKey(es, { x: hex('00'.repeat(32)), y: hex('00'.repeat(32)) }), 'public_key'],
  ...small.map(
    (point) =>
      [
        `the weak point ${point.slice(0, 8)}`,
        withKey(ed, { x: hex(point) }),
        'public_key.x',
      ] as const,
  ),
]

test.each(badKeys)('%s is 400, at its path, and not said again', async (_, body, at) => {
  for (const where of [path, waitingPath]) {
    const answer = await refused(body, where)
    expect(answer).toMatchObject({ status: 400, error: 'invalid_request', path: at })
    for (const secret of [ed.secret['d'], es.secret['d'], 'c2VjcmV0', rsa.n]) {
      expect(answer.text).not.toContain(secret)
    }
  }
})

/** The signature with its S, or s, made another number. */
function withS(signature: string, change: (s: bigint) => bigint, order: 'little' | 'big'): string {
  const bytes = Buffer.from(signature, 'base64url')
  const half = Buffer.from(bytes.subarray(32))
  if (order === 'little') half.reverse()
  const changed = change(BigInt(`0x${half.toString('hex')}`))
  const s = Buffer.from(changed.toString(16).padStart(64, '0'), 'hex')
  if (order === 'little') s.reverse()
  return Buffer.concat([bytes.subarray(0, 32), s]).toString('base64url')
}

const good = ed.bodyFor(cid)
const goodEs = es.bodyFor(cid)

const badForms: readonly (readonly [string, object])[] = [
  ['with padding', { ...good, signature: `${good.signature}==` }],
  ['in base64 of another alphabet', { ...good, signature: `+${good.signature.slice(1)}` }],
  ['of 63 bytes', { ...good, signature: hex('11'.repeat(63)) }],
  ['of 65 bytes', { ...good, signature: hex('11'.repeat(65)) }],
  ['with bits that do not count', { ...good, signature: `${good.signature.slice(0, -1)}_` }],
  [
    'with an S above the order',
    { ...good, signature: withS(good.signature, (s) => s + order25519, 'little') },
  ],
  ['with an s of 0', { ...goodEs, signature: withS(goodEs.signature, () => 0n, 'big') }],
  ['that is empty', { ...good, signature: '' }],
]

test.each(badForms)(
  'a signature %s is 422, whether or not the content is there',
  async (_, body) => {
    for (const where of [path, waitingPath]) {
      expect(await refused(body, where)).toMatchObject({ status: 422, error: 'signature_mismatch' })
    }
  },
)

test.each([
  ['other content', ed.bodyFor(cidOf('something else'))],
  ['the CID alone', { ...good, signature: ed.signed(cid) }],
  ['a text without its last line', { ...good, signature: ed.signed(`CID: ${cid}\n`) }],
  ['the same with another key', { ...new Signer('Ed25519').bodyFor(cid), public_key: ed.jwk }],
  ['nothing', { ...goodEs, signature: hex('11'.repeat(64)) }],
])('a signature of %s is 422', async (_, body) => {
  expect(await refused(body)).toMatchObject({ status: 422, error: 'signature_mismatch' })
})

describe('a second signature', () => {
  test.each(['Ed25519', 'ES256'] as const)('of the same key is 409 (%s)', async (algorithm) => {
    const signer = new Signer(algorithm)
    for (const where of [path, waitingPath]) {
      expect((await service.api.withKey('POST', where, signer.bodyFor(cid))).status).toBe(201)
      const again =
        algorithm === 'ES256'
          ? signer.bodyFor(cid)
          : { ...signer.bodyFor(cid), public_key: { ...signer.jwk, kid: 'another name' } }
      expect(await refused(again, where)).toMatchObject({ status: 409, error: 'conflict' })
    }
  })

  test('by the service is 409', async () => {
    for (const where of [path, waitingPath]) {
      expect((await service.api.withKey('POST', where, {})).status).toBe(201)
      expect(await refused({}, where)).toMatchObject({ status: 409, error: 'conflict' })
    }
  })

  test('that is the other form of one of ES256 is 422, and either form alone is taken', async () => {
    for (const where of [path, waitingPath]) {
      for (const isOther of [false, true]) {
        const body = new Signer('ES256').bodyFor(cid)
        const other = { ...body, signature: otherForm('ES256', body.signature) ?? '' }
        const [first, second] = isOther ? [other, body] : [body, other]
        expect((await service.api.withKey('POST', where, first)).status).toBe(201)
        expect(await refused(second, where)).toMatchObject({
          status: 422,
          error: 'signature_mismatch',
        })
      }
    }
  })

  test('at the same time is not taken either', async () => {
    const body = new Signer('Ed25519').bodyFor(cid)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.api.withKey('POST', path, body)),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted((one, other) => one - other)).toEqual([201, 409, 409, 409, 409])
  })

  test('under the same Idempotency-Key is the first one', async () => {
    const body = new Signer('Ed25519').bodyFor(cid)
    const headers = {
      'x-api-key': adminKey,
      'x-api-secret': adminSecret,
      'idempotency-key': 'signed once',
    }
    const ask = () => service.api.request<{ id: string }>('POST', path, { headers, body })
    const answers = [await ask(), await ask()]
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect(answers[1]?.body).toEqual(answers[0]?.body)
  })
})

test('a key of the service is nobody else’s', async () => {
  const { body } = await service.api.request<{ keys: Record<string, string>[] }>(
    'GET',
    '/.well-known/signing-keys.json',
  )
  const { kty, crv, x } = body.keys[0] ?? {}
  const answer = await refused({ ...good, public_key: { kty, crv, x } })
  expect(answer).toMatchObject({ status: 400, path: 'public_key' })
})

test('what is not asked for with an id is not found', async () => {
  for (const one of ['x', '00000000-0000-4000-8000-000000000000']) {
    expect((await service.api.withKey('GET', `${path}/${one}`)).status).toBe(404)
    expect((await service.api.withKey('POST', `/attachments/${one}/signatures`, {})).status).toBe(
      404,
    )
  }
})
