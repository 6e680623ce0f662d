import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { isSignedBy } from '../../src/ledgers/signatures/check-signature.ts'
import { parseSignatureKey } from '../../src/ledgers/signatures/signature-key.ts'
import { atStatus } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { newPerson } from '../support/people.ts'
import type { ShownSignature } from '../support/signers.ts'
import { startedServices } from '../support/started-services.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

const services = startedServices()

interface PublishedKey {
  readonly kty: string
  readonly crv: string
  readonly x: string
  readonly kid: string
  readonly created_at: string
  readonly retired_at: string | null
}

async function started(folder = services.newFolder()) {
  const service = await services.start(folder)
  const api = new ApiClient(service.http)
  const published = async () =>
    (await api.request<{ keys: PublishedKey[] }>('GET', '/.well-known/signing-keys.json')).body.keys
  return {
    folder,
    service,
    api,
    published,
    rotate: () => api.withKey<{ kid: string }>('POST', '/content-keys/rotate'),
    /** What the service has signed. */
    signature: async (): Promise<ShownSignature> => {
      const { id, presigned_url: url } = await attachmentOf(api)
      await upload(api, url, 'hello')
      const path = `/attachments/${id}/signatures`
      const made = await api.withKey<ShownSignature>('POST', path, {})
      const stored = await atStatus(api, `${path}/${made.body.id}`, 'METADATA_STORED')
      return stored as unknown as ShownSignature
    },
  }
}

/** The key that has made a signature, of those that are published. */
function signerIn(keys: readonly PublishedKey[], { signed_text: text, signature }: ShownSignature) {
  return keys.find(({ kty, crv, x }) => {
    const key = parseSignatureKey('Ed25519', { kty, crv, x })
    return !('problem' in key) && isSignedBy(key, text, signature)
  })?.kid
}

test('after a rotation the new key signs, and the old ones stay for what they have signed', async () => {
  const { folder, service, published, rotate, signature } = await started()
  const [first, ...others] = await published()
  expect(others).toEqual([])
  expect(first).toMatchObject({ kty: 'OKP', crv: 'Ed25519', retired_at: null })
  const before = await signature()

  const rotated = await rotate()

  expect(rotated.status).toBe(200)
  const after = await signature()
  const keys = await published()
  expect(keys.map(({ kid }) => kid)).toEqual([rotated.body.kid, first?.kid])
  expect(keys.map((key) => key.retired_at === null)).toEqual([true, false])
  expect([signerIn(keys, before), signerIn(keys, after)]).toEqual([first?.kid, rotated.body.kid])

  await service.end('SIGTERM')
  using state = new DatabaseSync(`${folder}/state.db`, { readOnly: true })
  const kept = state.prepare('SELECT kid FROM content_keys WHERE private_key_encrypted IS NOT NULL')
  expect(kept.all().map(({ kid }) => kid)).toEqual([rotated.body.kid])
  const again = await started(folder)
  expect(await again.published()).toEqual(keys)
  expect(signerIn(keys, await again.signature())).toBe(rotated.body.kid)
})

test('rotations at one time leave one key that signs', async () => {
  const { published, rotate, signature } = await started()

  const answers = await Promise.all(Array.from({ length: 4 }, rotate))

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const keys = await published()
  expect(keys).toHaveLength(5)
  const signing = keys.filter((key) => key.retired_at === null).map(({ kid }) => kid)
  expect(signing).toHaveLength(1)
  expect(signerIn(keys, await signature())).toBe(signing[0])
})

test('only platform:admin rotates, and the audit log tells of it', async () => {
  const { api, rotate } = await started()
  const ada = await newPerson(api)

  expect((await ada.withKey('POST', '/content-keys/rotate')).status).toBe(403)
  const { kid } = (await rotate()).body

  const { body } = await api.withKey<{ action: string; subjectId: string }[]>(
    'GET',
    '/audit?action=content_key.rotated',
  )
  expect(body.map(({ action, subjectId }) => [action, subjectId])[0]).toEqual([
    'content_key.rotated',
    kid,
  ])
  expect(body).toHaveLength(2)
})

test('none of them signs tokens', async () => {
  const { api, published } = await started()
  const { body } = await api.request<{ keys: { kid: string }[] }>('GET', '/.well-known/jwks.json')
  const kids = (await published()).map(({ kid }) => kid)
  expect(body.keys.filter(({ kid }) => kids.includes(kid))).toEqual([])
})
