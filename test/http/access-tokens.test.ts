import { generateKeyPairSync } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { beforeAll, expect, test } from 'vitest'
import { sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { type SigningKey, signedWith, signingKeyIn } from '../support/signing-key.ts'

const service = runningService()

/** The service's own key, so that each test can break one thing of a token and nothing else. */
let key: SigningKey
/** What a real token says. */
let claims: jwt.JwtPayload

const foreignKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })

beforeAll(async () => {
  key = signingKeyIn(service.process.dataDir)
  claims = jwt.decode(await service.api.token(), { json: true }) ?? {}
})

/** Signed as the service signs, but for what is given. */
function signed(payload: jwt.JwtPayload, options: jwt.SignOptions = {}): string {
  return signedWith(key, payload, options)
}

function without(...names: readonly string[]): jwt.JwtPayload {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)))
}

/** A header as the service writes it, with changes. */
function header(changes: object): jwt.JwtHeader {
  return { alg: 'ES256', typ: 'JWT', kid: key.kid, ...changes }
}

async function answerTo(token: string): Promise<{ status: number; error: string }> {
  const answer = await sendRaw(service.process.http, {
    method: 'GET',
    path: '/vaults',
    headers: ['authorization', `Bearer ${token}`],
  })
  return { status: answer.status, error: answer.body.error }
}

const refused = { status: 401, error: 'invalid_api_key' }

test('a token is a JWT of one hour, signed with ES256', async () => {
  const decoded = jwt.verify(await service.api.token(), key.publicKey, { complete: true })

  expect(decoded.header).toEqual({ alg: 'ES256', typ: 'JWT', kid: key.kid })
  const { iat = 0, exp = 0, ...named } = decoded.payload as jwt.JwtPayload
  expect(exp - iat).toBe(3600)
  expect(named).toMatchObject({
    iss: expect.any(String) as string,
    aud: expect.any(String) as string,
    sub: expect.any(String) as string,
  })
})

test('a token with these claims and this key is good, so each refusal below has its one reason', async () => {
  expect((await answerTo(signed(claims))).status).toBe(200)
})

test.each([
  ['no token at all', 'nonsense'],
  ['three empty parts', '..'],
  ['three parts of garbage', 'a.b.c'],
  ['JSON that is no token', Buffer.from('{}').toString('base64url').repeat(3)],
])('%s is 401', async (_, token) => {
  expect(await answerTo(token)).toEqual(refused)
})

test('a token without a signature (alg none) is 401', async () => {
  const token = jwt.sign(claims, '', { algorithm: 'none', keyid: key.kid })

  expect(await answerTo(token)).toEqual(refused)
  expect(await answerTo(`${token}AAAA`)).toEqual(refused)
})

test('a token signed with HS256 and the public key as its secret is 401', async () => {
  const token = jwt.sign(claims, key.publicKey, { algorithm: 'HS256', keyid: key.kid })

  expect(await answerTo(token)).toEqual(refused)
})

test('a token that says ES256 but is signed with a foreign key is 401', async () => {
  const token = jwt.sign(claims, foreignKey.privateKey, { algorithm: 'ES256', keyid: key.kid })

  expect(await answerTo(token)).toEqual(refused)
})

test('a token that brings its own key is 401', async () => {
  const jwk = foreignKey.publicKey.export({ format: 'jwk' })
  const token = jwt.sign(claims, foreignKey.privateKey, {
    algorithm: 'ES256',
    header: header({ jwk }),
  })

  expect(await answerTo(token)).toEqual(refused)
})

test('a token whose claims were changed after signing is 401', async () => {
  const [head, , signature] = (await service.api.token()).split('.')
  const changed = Buffer.from(JSON.stringify({ ...claims, exp: (claims.exp ?? 0) + 1 }))

  expect(await answerTo(`${head}.${changed.toString('base64url')}.${signature}`)).toEqual(refused)
})

test('a token with an unknown kid is 401', async () => {
  expect(await answerTo(signed(claims, { keyid: 'unknown' }))).toEqual(refused)
})

test('a token without a kid is 401', async () => {
  expect(await answerTo(jwt.sign(claims, key.privateKey, { algorithm: 'ES256' }))).toEqual(refused)
})

test('a token of another type is 401', async () => {
  expect(await answerTo(signed(claims, { header: header({ typ: 'secevent+jwt' }) }))).toEqual(
    refused,
  )
})

test.each(['exp', 'sub', 'iss', 'aud', 'scope'])('a token without %s is 401', async (name) => {
  expect(await answerTo(signed(without(name)))).toEqual(refused)
})

test.each(['iss', 'aud'])('a token with another %s is 401', async (name) => {
  expect(await answerTo(signed({ ...claims, [name]: 'somebody-else' }))).toEqual(refused)
})

test('an expired token is 401 token_expired', async () => {
  const nowS = Math.floor(Date.now() / 1000)
  const token = signed({ ...claims, iat: nowS - 3_610, exp: nowS - 10 })

  expect(await answerTo(token)).toEqual({ status: 401, error: 'token_expired' })
})

test('a token is refused as soon as it expires, although it was good before', async () => {
  const nowS = Math.floor(Date.now() / 1000)
  const token = signed({ ...claims, iat: nowS - 3_592, exp: nowS + 8 })
  expect((await answerTo(token)).status).toBe(200)

  await expect
    .poll(() => answerTo(token), { interval: 200 })
    .toEqual({ status: 401, error: 'token_expired' })
})
