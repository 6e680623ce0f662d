import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { beforeAll, expect, test } from 'vitest'
import { createKey, newPerson, personOf } from '../support/people.ts'
import { type RawAnswer, sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { type SigningKey, signedWith, signingKeyIn } from '../support/signing-key.ts'

const service = runningService()

let key: SigningKey
let claims: jwt.JwtPayload
let good = ''

beforeAll(async () => {
  key = signingKeyIn(service.process.dataDir)
  good = await service.api.token()
  claims = jwt.decode(good, { json: true }) ?? {}
})

async function answerTo(token: string): Promise<RawAnswer> {
  const headers = ['authorization', `Bearer ${token}`]
  const attacked = await sendRaw(service.process.http, { method: 'GET', path: '/vaults', headers })
  const path = '/auth/validate'
  const validated = await sendRaw(service.process.http, { method: 'GET', path, headers })
  expect(validated.status).toBe(attacked.status)
  return attacked
}

async function expectRefused(token: string): Promise<void> {
  const { status, body } = await answerTo(token)
  expect({ status, error: body.error }).toEqual({ status: 401, error: 'invalid_api_key' })
}

function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(
    'base64url',
  )
}

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The other of the two values of s: the same signature to whoever checks it. */
function flipped(signature: Buffer): Buffer {
  const s = order - BigInt(`0x${signature.subarray(32).toString('hex')}`)
  const bytes = Buffer.from(s.toString(16).padStart(64, '0'), 'hex')
  return Buffer.concat([signature.subarray(0, 32), bytes])
}

function low(signature: Buffer): Buffer {
  const other = flipped(signature)
  return signature.subarray(32).compare(other.subarray(32)) <= 0 ? signature : other
}

/** Signed with the service's own key, whatever header and claims say. */
function sealed(head: unknown, payload: unknown = claims): string {
  const text = `${encode(head)}.${encode(payload)}`
  const options = { key: key.privateKey, dsaEncoding: 'ieee-p1363' } as const
  return `${text}.${low(sign('sha256', Buffer.from(text), options)).toString('base64url')}`
}

function header(changes: object = {}): object {
  return { alg: 'ES256', typ: 'JWT', kid: key.kid, ...changes }
}

function pem(privateKey: KeyObject): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

test('what is sealed as the service does it is good', async () => {
  expect((await answerTo(sealed(header()))).status).toBe(200)
  expect((await answerTo(good)).status).toBe(200)
})

test.each([
  'none',
  'None',
  'NONE',
  'nOnE',
  '',
  'HS256',
  'ES384',
  'RS256',
  'PS256',
  'EdDSA',
  7,
  null,
])('the algorithm %j in the header is refused, although the signature is right', async (alg) => {
  await expectRefused(sealed(header({ alg })))
  const [head, body] = sealed(header({ alg })).split('.')
  await expectRefused(`${head}.${body}.`)
})

test.each(['HS256', 'HS384', 'HS512'] as const)(
  'a token under %s with the public key as its secret is refused',
  async (algorithm) => {
    const published = await service.api.request<{ keys: object[] }>('GET', '/.well-known/jwks.json')
    for (const secret of [key.publicKey, JSON.stringify(published.body.keys[0]), key.kid]) {
      await expectRefused(jwt.sign(claims, secret, { algorithm, keyid: key.kid }))
    }
  },
)

test.each([
  ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
  ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['PS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
] as const)('a token under %s with a key of somebody else is refused', async (algorithm, pair) => {
  await expectRefused(jwt.sign(claims, pem(pair.privateKey), { algorithm, keyid: key.kid }))
})

test.each(['jwk', 'jku', 'x5c', 'x5u', 'x5t', 'crit', 'b64', 'zip', 'cty', 'enc'])(
  'a header with %s is refused, with our own signature and with theirs',
  async (name) => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = pair.publicKey.export({ format: 'jwk' })
    const values = [jwk, 'http://127.0.0.1:1/keys', [jwk], ['exp'], '']
    for (const value of values) {
      await expectRefused(sealed(header({ [name]: value })))
      const theirs = jwt.sign(claims, pem(pair.privateKey), {
        algorithm: 'ES256',
        header: header({ [name]: value }) as jwt.JwtHeader,
      })
      await expectRefused(theirs)
    }
  },
)

test.each([
  ['an unknown one', 'unknown'],
  ['a path', '../../../../dev/null'],
  ['an absolute path', '/dev/null'],
  ['SQL', "' OR '1'='1"],
  ['SQL with a union', "x' UNION SELECT 'secret' --"],
  ['a very long one', 'k'.repeat(1_400)],
  ['one much too long', 'k'.repeat(10_000)],
  ['an array', ['a']],
  ['an object', { a: 1 }],
  ['a number', 1],
  ['null', null],
  ['nothing', ''],
  ['a name of objects', '__proto__'],
  ['another name of objects', 'constructor'],
  ['one with a zero byte', 'a\0b'],
])('a kid that is %s is refused', async (_, kid) => {
  await expectRefused(sealed(header({ kid })))
})

test('the right kid in an array, in another case, or missing is refused', async () => {
  await expectRefused(sealed(header({ kid: [key.kid] })))
  await expectRefused(sealed(header({ kid: ` ${key.kid}` })))
  await expectRefused(sealed({ alg: 'ES256', typ: 'JWT' }))
})

test.each(['at+jwt', 'jwt', 'JWS', '', null, undefined, ['JWT']])(
  'the type %j is refused',
  async (typ) => {
    await expectRefused(sealed(header({ typ })))
  },
)

const hour = 3_600
const nowS = Math.floor(Date.now() / 1_000)

test.each<[string, object]>([
  ['no exp', { exp: undefined }],
  ['no iat', { iat: undefined }],
  ['exp as a text', { exp: String(nowS + hour) }],
  ['exp as a fraction', { exp: nowS + hour + 0.5 }],
  ['exp that is far too large', { exp: 1e300 }],
  ['a life of a day', { exp: nowS + 24 * hour, iat: nowS }],
  ['a life of 45 minutes', { exp: nowS + hour / 2, iat: nowS - hour / 4 }],
  ['iat in the future', { exp: nowS + 3 * hour, iat: nowS + 2 * hour }],
  ['nbf in the future', { nbf: nowS + 600 }],
  ['nbf as a text', { nbf: 'soon' }],
  ['another iss', { iss: 'somebody' }],
  ['iss as an array', { iss: ['streamvault'] }],
  ['another aud', { aud: 'somebody' }],
  ['aud as an array', { aud: ['streamvault'] }],
  ['aud among others', { aud: ['somebody', 'streamvault'] }],
  ['no sub', { sub: undefined }],
  ['sub as a number', { sub: 1 }],
  ['the sub of somebody else', { sub: '00000000-0000-4000-8000-000000000000' }],
  ['no key', { api_key_id: undefined }],
  ['a key as an array', { api_key_id: ['sv_test_admin'] }],
  ['an unknown key', { api_key_id: 'sv_test_nobody' }],
  ['scope as an array', { scope: ['platform:admin'] }],
])('claims with %s are refused, although they are signed', async (_, changes) => {
  await expectRefused(sealed(header(), { ...claims, ...changes }))
})

test.each(['[]', 'null', '"text"', '7', '{', ''])(
  'claims that are %j are refused',
  async (text) => {
    await expectRefused(sealed(header(), text))
    await expectRefused(sealed(text, claims))
  },
)

test('a scope that the key does not have is not granted by its signed claim', async () => {
  const ada = await newPerson(service.api, { permission: 'read_only' })
  const payload = jwt.decode(await ada.token(), { json: true }) ?? {}
  const scope = `${String(payload['scope'])} platform:admin data:write`

  const answer = await service.api.request<{ scope: string }>('GET', '/auth/validate', {
    headers: { authorization: `Bearer ${signedWith(key, { ...payload, scope })}` },
  })

  expect(answer.body.scope).toBe(payload['scope'])
})

test('a token that was good vouches for no other one that ends like it', async () => {
  const token = sealed(header())
  const [head = '', payload = '', signature = ''] = token.split('.')
  expect((await answerTo(token)).status).toBe(200)

  await expectRefused(`${head}.${encode({ ...claims, scope: 'platform:admin' })}.${signature}`)
  await expectRefused(`${encode({ ...header(), kid: 'other' })}.${payload}.${signature}`)
  await expectRefused(`${head}.${payload}.AAAA${signature.slice(4)}`)
  expect((await answerTo(token)).status).toBe(200)
})

test('the other spelling of s is refused, although it verifies', async () => {
  for (let count = 0; count < 20; count++) {
    const [head, body, signature = ''] = (await newToken()).split('.')
    const other = flipped(Buffer.from(signature, 'base64url')).toString('base64url')
    const twin = `${head}.${body}.${other}`
    expect(jwt.verify(twin, key.publicKey)).toBeTypeOf('object')
    await expectRefused(twin)
  }
})

async function newToken(): Promise<string> {
  const { apiKey, apiSecret } = await createKey(service.api)
  return personOf(service.api, { apiKey, apiSecret, userId: '', scopes: [] }).token()
}

function signatureOf(token: string): Buffer {
  return Buffer.from(token.split('.')[2] ?? '', 'base64url')
}

test('every other last character of a signature is refused, although some mean the same', async () => {
  const last = good.at(-1)
  const others = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    .split('')
    .filter((character) => character !== last)
  const same = others.filter((character) =>
    signatureOf(good.slice(0, -1) + character).equals(signatureOf(good)),
  )
  expect(same).toHaveLength(15)

  for (const character of others) {
    await expectRefused(good.slice(0, -1) + character)
  }
})

test.each<[string, (token: string) => string]>([
  ['padding', (token) => `${token}==`],
  ['one character less', (token) => token.slice(0, -1)],
  ['one character more', (token) => `${token}A`],
  ['no signature', (token) => token.slice(0, token.lastIndexOf('.') + 1)],
  ['two parts', (token) => token.slice(0, token.lastIndexOf('.'))],
  ['four parts', (token) => `${token}.AAAA`],
  ['an empty fourth part', (token) => `${token}.`],
  ['a dot in front', (token) => `.${token}`],
  ['two dots', (token) => token.replace('.', '..')],
  ['only dots', () => '....'],
  ['plus and slash', (token) => token.replaceAll('-', '+').replaceAll('_', '/') + '+/'],
  ['a DER signature', (token) => `${token.slice(0, token.lastIndexOf('.'))}.${encode('0E\u0002')}`],
  ['a signature of zeros', (token) => zeros(token)],
  ['the signature of another token', (token) => zeros(token).slice(0, -86) + token.slice(-86, -1)],
  ['a tab', (token) => token.replace('.', '\t.')],
  ['a space', (token) => token.replace('.', ' .')],
  ['very much of it', (token) => token + 'A'.repeat(6_000)],
  ['a header of 6,000 characters', (token) => 'A'.repeat(6_000) + token],
])('a token with %s is refused', async (_, spoil) => {
  await expectRefused(spoil(good))
})

function zeros(token: string): string {
  const text = token.slice(0, token.lastIndexOf('.'))
  return `${text}.${Buffer.alloc(64).toString('base64url')}`
}

test('a token of a revoked key, and of a deleted user, is refused at once', async () => {
  const ada = await newPerson(service.api)
  const spare = await createKey(service.api, { userId: ada.userId })
  const [first, second] = [await ada.token(), await personOf(service.api, spare).token()]
  for (const token of [first, second]) expect((await answerTo(token)).status).toBe(200)

  await service.api.withKey('DELETE', `/keys/${ada.key.apiKey}`)
  await expectRefused(first)
  expect((await answerTo(second)).status).toBe(200)

  await service.api.withKey('DELETE', `/users/${ada.userId}`)
  await expectRefused(second)
})
