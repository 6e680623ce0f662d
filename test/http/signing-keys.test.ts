import { createPublicKey, type JsonWebKey } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { expect, test } from 'vitest'
import { acceptedMax } from '../../src/access/auth/signing-keys.ts'
import { ApiClient } from '../support/api-client.ts'
import { newPerson } from '../support/people.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { signingKeyIn } from '../support/signing-key.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

interface PublicKey extends JsonWebKey {
  readonly kid: string
}

async function started(folder = services.newFolder()) {
  const service = await services.start(folder)
  const api = new ApiClient(service.http)
  return {
    folder,
    service,
    api,
    newToken: async (): Promise<string> => {
      const body = { apiKey: adminKey, apiSecret: adminSecret }
      const answer = await api.request<{ accessToken: string }>('POST', '/auth/token', { body })
      return answer.body.accessToken
    },
    statusWith: async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` }
      return (await api.request('GET', '/auth/validate', { headers })).status
    },
    publicKeys: async (): Promise<readonly PublicKey[]> =>
      (await api.request<{ keys: PublicKey[] }>('GET', '/.well-known/jwks.json')).body.keys,
  }
}

function kidOf(token: string): string | undefined {
  return jwt.decode(token, { complete: true })?.header.kid
}

test('anybody can check a token with the published key', async () => {
  const { newToken, publicKeys } = await started()
  const token = await newToken()

  const [key, ...others] = await publicKeys()

  expect(others).toEqual([])
  expect(key).toEqual({
    kty: 'EC',
    crv: 'P-256',
    alg: 'ES256',
    use: 'sig',
    kid: kidOf(token),
    x: expect.any(String) as string,
    y: expect.any(String) as string,
  })
  const publicKey = createPublicKey({ key: key as JsonWebKey, format: 'jwk' })
  expect(jwt.verify(token, publicKey)).toMatchObject({ sub: expect.any(String) as string })
})

test('after a rotation both keys are accepted, and the new one signs, over a restart too', async () => {
  const { folder, service, api, newToken, statusWith, publicKeys } = await started()
  const before = await newToken()

  const rotated = await api.withKey<{ kid: string }>('POST', '/auth/signing-keys/rotate')

  expect(rotated.status).toBe(200)
  const after = await newToken()
  expect(kidOf(after)).toBe(rotated.body.kid)
  expect(kidOf(before)).not.toBe(rotated.body.kid)
  expect(await Promise.all([before, after].map(statusWith))).toEqual([200, 200])
  const kids = [kidOf(after), kidOf(before)]
  expect((await publicKeys()).map(({ kid }) => kid)).toEqual(kids)

  await service.end('SIGTERM')
  const again = await started(folder)
  expect(await Promise.all([before, after].map(again.statusWith))).toEqual([200, 200])
  expect((await again.publicKeys()).map(({ kid }) => kid)).toEqual(kids)
  expect(kidOf(await again.newToken())).toBe(rotated.body.kid)
})

test('a rotation without overlap ends every token, remembered or not', async () => {
  const { api, newToken, statusWith, publicKeys } = await started()
  const first = await newToken()
  await api.withKey('POST', '/auth/signing-keys/rotate')
  const second = await newToken()
  expect(await Promise.all([first, second].map(statusWith))).toEqual([200, 200])

  const body = { overlapSeconds: 0 }
  expect((await api.withKey('POST', '/auth/signing-keys/rotate', body)).status).toBe(200)

  expect(await Promise.all([first, second].map(statusWith))).toEqual([401, 401])
  expect(await statusWith(await newToken())).toBe(200)
  expect(await publicKeys()).toHaveLength(1)
})

test('a rotation that would end a token before its time is 429, and one without overlap is not', async () => {
  const { api, newToken, statusWith, publicKeys } = await started()
  const first = await newToken()
  const rotate = (body?: object) =>
    api.withKey<{ error?: string; retryAfter?: number }>('POST', '/auth/signing-keys/rotate', body)
  for (let count = 0; count < acceptedMax; count++) expect((await rotate()).status).toBe(200)

  const refused = await rotate()

  expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
  expect(refused.body.retryAfter).toBeGreaterThan(7_000)
  expect(refused.body.retryAfter).toBeLessThanOrEqual(7_200)
  expect(await statusWith(first)).toBe(200)
  expect(await publicKeys()).toHaveLength(acceptedMax + 1)
  expect((await rotate({ overlapSeconds: 0 })).status).toBe(200)
  expect(await statusWith(first)).toBe(401)
  expect((await rotate()).status).toBe(200)
})

test('an overlap ends by itself', async () => {
  const { api, newToken, statusWith } = await started()
  const token = await newToken()

  await api.withKey('POST', '/auth/signing-keys/rotate', { overlapSeconds: 8 })

  expect(await statusWith(token)).toBe(200)
  await expect.poll(() => statusWith(token)).toBe(401)
})

test('rotations at one time leave one key that signs', async () => {
  const { folder, api, newToken, statusWith } = await started()

  const answers = await Promise.all(
    Array.from({ length: 4 }, () => api.withKey('POST', '/auth/signing-keys/rotate')),
  )

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const token = await newToken()
  expect(kidOf(token)).toBe(signingKeyIn(folder).kid)
  expect(await statusWith(token)).toBe(200)
})

test('only platform:admin rotates', async () => {
  const { api } = await started()
  const ada = await newPerson(api)

  const answer = await ada.withKey('POST', '/auth/signing-keys/rotate')

  expect(answer.status).toBe(403)
})

test('validation wants a token, not a key', async () => {
  const { api } = await started()

  expect((await api.withKey('GET', '/auth/validate')).status).toBe(400)
  expect((await api.request('GET', '/auth/validate')).status).toBe(401)
})
