import { expect, test } from 'vitest'
import { isSignedBy } from '../../src/ledgers/signatures/check-signature.ts'
import { parseSignatureKey } from '../../src/ledgers/signatures/signature-key.ts'
import { atStatus } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { backUp } from '../support/backups.ts'
import { settingsOf, streamvaultJson } from '../support/command-line.ts'
import type { ShownSignature } from '../support/signers.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

const services = startedServices()

interface PublishedKey {
  readonly x: string
  readonly kid: string
}

async function published(api: ApiClient): Promise<readonly PublishedKey[]> {
  const path = '/.well-known/signing-keys.json'
  return (await api.request<{ keys: PublishedKey[] }>('GET', path)).body.keys
}

/** What the service signs, once the content is there. */
async function signature(api: ApiClient): Promise<string> {
  const { id, presigned_url: url } = await attachmentOf(api)
  await upload(api, url, 'hello')
  const path = `/attachments/${id}/signatures`
  const made = await api.withKey<ShownSignature>('POST', path, {})
  await atStatus(api, `${path}/${made.body.id}`, 'METADATA_STORED')
  return `${path}/${made.body.id}`
}

/** The key that has made a signature, of those that are published. */
async function signerOf(api: ApiClient, path: string): Promise<string | undefined> {
  const { signed_text: text, signature: made } = (await api.withKey<ShownSignature>('GET', path))
    .body
  return (await published(api)).find(({ x }) => {
    const key = parseSignatureKey('Ed25519', { kty: 'OKP', crv: 'Ed25519', x })
    return !('problem' in key) && isSignedBy(key, text, made)
  })?.kid
}

test('a backup has the keys for content: what they have signed is checked, and the last one signs on', async () => {
  using folder = new TemporaryFolder()
  const first = await services.start(services.newFolder())
  const api = new ApiClient(first.http)
  const old = await signature(api)
  await api.withKey('POST', '/content-keys/rotate')
  const keys = await published(api)
  await backUp(api, folder.file('backup'))
  await first.end('SIGTERM')

  const dataDir = folder.file('restored')
  const words = ['restore', '--from', folder.file('backup'), '--data-dir', dataDir]
  await streamvaultJson(words, settingsOf(dataDir))
  const restored = new ApiClient((await services.start(dataDir)).http)

  expect(keys).toHaveLength(2)
  expect(await published(restored)).toEqual(keys)
  expect(await signerOf(restored, old)).toBe(keys[1]?.kid)
  expect(await signerOf(restored, await signature(restored))).toBe(keys[0]?.kid)
})
