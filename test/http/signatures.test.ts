import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checkSignatureProof } from '../../src/ledgers/signatures/check-signature-proof.ts'
import { signingText } from '../../src/ledgers/signatures/signing-text.ts'
import { atStatus, makers, statusesOf } from '../support/anchored.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { type ShownSignature, Signer } from '../support/signers.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { attachmentOf, upload } from '../support/uploads.ts'
import { zipArchive } from '../support/zip-archive.ts'

const service = runningService({ STREAMVAULT_ANCHORING: 'on' })

const helloCid = cidOf('hello')

const fields = [
  'algorithm',
  'attachment_id',
  'cid',
  'created_at',
  'failure',
  'id',
  'progress',
  'public_key',
  'signature',
  'signed_by',
  'signed_text',
  'status',
  'tx_hash',
]

const way = ['SERVICE_RECEIVED', 'METADATA_STORED', 'LEDGER_SUBMITTED', 'COMPLETED']

interface Page {
  readonly total_records: number
  readonly content: readonly ShownSignature[]
}

/** Where signatures of a new attachment are, and the upload that it waits for. */
async function waiting(wanted: object = {}) {
  const { id, presigned_url: url } = await attachmentOf(service.api, wanted)
  const path = `/attachments/${id}/signatures`
  return {
    id,
    path,
    upload: (body: Parameters<typeof upload>[2] = 'hello') => upload(service.api, url, body),
  }
}

async function stored() {
  const made = await waiting()
  await made.upload()
  return made
}

async function asked(path: string, body: object) {
  const answer = await service.api.withKey<ShownSignature>('POST', path, body)
  expect(answer.status).toBe(201)
  return answer.body
}

async function read(path: string): Promise<ShownSignature> {
  return (await service.api.withKey<ShownSignature>('GET', path)).body
}

describe('a signature by the service', () => {
  test('comes onto the ledger, with a key that is published', async () => {
    const attachmentId = await makers.attachments(service.api)
    const path = `/attachments/${attachmentId}/signatures`

    const made = await asked(path, {})

    expect(Object.keys(made).toSorted()).toEqual(fields)
    expect(made).toMatchObject({ status: 'SERVICE_RECEIVED', signature: '', cid: '' })
    expect(made).toMatchObject({ public_key: null, signed_text: '', signed_by: 'admin' })
    const done = await atStatus(service.api, `${path}/${made.id}`, 'COMPLETED')
    expect(statusesOf(done)).toEqual(way)
    expect(done.tx_hash).toMatch(/^[0-9a-f]{64}$/)
    const { body } = await service.api.request<{ keys: { x: string }[] }>(
      'GET',
      '/.well-known/signing-keys.json',
    )
    expect(done['public_key']).toEqual({ kty: 'OKP', crv: 'Ed25519', x: body.keys[0]?.x })
    expect(done['signed_text']).toBe(signingText(String(done['cid'])))
  })

  test('is one that openssl takes', async () => {
    using folder = new TemporaryFolder()
    const { path } = await stored()
    const { id } = await asked(path, {})
    const shown = await atStatus(service.api, `${path}/${id}`, 'COMPLETED')
    const { public_key: jwk, signature, signed_text: text } = shown as unknown as ShownSignature
    const der = Buffer.concat([
      Buffer.from('302a300506032b6570032100', 'hex'),
      Buffer.from(jwk?.['x'] ?? '', 'base64url'),
    ])
    const [key, message, bytes] = ['key.der', 'text', 'sig'].map((name) => folder.file(name))
    writeFileSync(key ?? '', der)
    writeFileSync(message ?? '', text)
    writeFileSync(bytes ?? '', Buffer.from(signature, 'base64url'))
    const words = ['-verify', '-pubin', '-keyform', 'DER', '-inkey', key, '-rawin', '-in', message]
    const check = () =>
      spawnSync('openssl', ['pkeyutl', ...words, '-sigfile', bytes] as string[]).status

    expect(check()).toBe(0)
    writeFileSync(message ?? '', `${text} `)
    expect(check()).not.toBe(0)
  })
})

describe.each(['Ed25519', 'ES256'] as const)('a signature of %s that is brought', (algorithm) => {
  test('comes onto the ledger as it is', async () => {
    const { path, id: attachmentId } = await stored()
    const signer = new Signer(algorithm)
    const body = signer.bodyFor(helloCid)

    const made = await asked(path, body)

    const expected = { algorithm, public_key: signer.jwk, signature: body.signature }
    expect(made).toMatchObject({ ...expected, attachment_id: attachmentId })
    const done = await atStatus(service.api, `${path}/${made.id}`, 'COMPLETED')
    expect(done).toMatchObject({ ...expected, cid: helloCid, signed_text: signingText(helloCid) })
  })

  test('waits for the content, and is checked then', async () => {
    const { path, upload: send } = await waiting()
    const good = await asked(path, new Signer(algorithm).bodyFor(helloCid))
    const bad = await asked(path, new Signer(algorithm).bodyFor(cidOf('something else')))
    expect([good.status, bad.status]).toEqual(['SERVICE_RECEIVED', 'SERVICE_RECEIVED'])

    await send()

    await atStatus(service.api, `${path}/${good.id}`, 'COMPLETED')
    const failed = await atStatus(service.api, `${path}/${bad.id}`, 'FAILED')
    expect(failed).toMatchObject({ cid: '', failure: { error: 'signature_mismatch' } })
    expect(statusesOf(failed)).toEqual(['SERVICE_RECEIVED', 'FAILED'])
  })
})

test('a signature of an archive is of the folder in it', async () => {
  const { path, upload: send } = await waiting({ upload_as_zip: true })
  const sent = await send(Buffer.from(zipArchive([{ name: 'one.txt', content: 'one' }])))
  const cid = String(sent.body['cid'])
  const signer = new Signer('ES256')
  const made = await asked(path, signer.bodyFor(cid))
  const done = await atStatus(service.api, `${path}/${made.id}`, 'COMPLETED')
  const { body } = await service.api.withKey<object>('GET', `${path}/${made.id}/proof`)
  const question = { contentCids: [cid], trustedKeys: new Set<string>() }

  const { verdict, signed } = await checkSignatureProof(JSON.stringify(body), question)

  expect(done['cid']).toMatch(/^bafybei/)
  expect(done['cid']).toBe(cid)
  expect([verdict.is, signed?.cid]).toEqual(['proven_under_key', cid])
})

test('signatures go with their attachment', async () => {
  const { path, id } = await stored()
  const signature = await asked(path, {})

  expect((await service.api.withKey('DELETE', `/attachments/${id}`)).status).toBe(204)

  for (const one of [path, `${path}/${signature.id}`, `${path}/${signature.id}/proof`]) {
    expect((await service.api.withKey('GET', one)).status).toBe(404)
  }
  expect((await service.api.withKey('POST', path, {})).status).toBe(404)
})

test('a list has the oldest first, in pages', async () => {
  const { path } = await waiting()
  const ids: string[] = []
  for (let count = 0; count < 5; count++) {
    ids.push((await asked(path, new Signer('Ed25519').bodyFor(helloCid))).id)
  }

  const pages = await Promise.all(
    [1, 2, 3].map((page) => service.api.withKey<Page>('GET', `${path}?page=${page}&page_size=2`)),
  )

  expect(pages.map(({ body }) => body.total_records)).toEqual([5, 5, 5])
  expect(pages.flatMap(({ body }) => body.content.map(({ id }) => id))).toEqual(ids)
})

test('nobody else sees them', async () => {
  const { path } = await stored()
  const { id } = await asked(path, {})
  const bob = await newPerson(service.api)

  const statuses = await Promise.all([
    bob.withKey('POST', path, {}),
    bob.withKey('GET', path),
    bob.withKey('GET', `${path}/${id}`),
    bob.withKey('GET', `${path}/${id}/proof`),
    bob.withKey('POST', `${path}/${id}/retry`),
  ])

  expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
})

test('whoever has the CID is told who has signed, and nothing of whose it is', async () => {
  const { path, upload: send } = await waiting()
  const content = `content of ${path}`
  const signer = new Signer('ES256')
  const [own, brought] = [await asked(path, {}), await asked(path, signer.bodyFor(cidOf(content)))]
  await asked(path, new Signer('ES256').bodyFor(helloCid))
  await send(content)
  for (const { id } of [own, brought]) await atStatus(service.api, `${path}/${id}`, 'COMPLETED')

  const { status, body } = await service.api.request<{ signatures: readonly object[] }>(
    'GET',
    `/verify/${cidOf(content)}`,
  )

  expect(status).toBe(200)
  const first = await read(`${path}/${own.id}`)
  const common = { network: 'sandbox', status: 'COMPLETED', signed_text: first.signed_text }
  expect(body.signatures).toEqual([
    {
      ...common,
      algorithm: 'Ed25519',
      public_key: first.public_key,
      key_id: expect.stringMatching(/^[\w-]{43}$/) as string,
      signature: first.signature,
      signed_at: first['created_at'],
      tx_hash: first['tx_hash'],
    },
    {
      ...common,
      algorithm: 'ES256',
      public_key: signer.jwk,
      signature: brought.signature,
      signed_at: brought['created_at'],
      tx_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    },
  ])
})

test('a proof shows who has signed, and is contradicted by any other bit', async () => {
  const { path } = await stored()
  const signer = new Signer('Ed25519')
  const { id } = await asked(path, signer.bodyFor(helloCid))
  await atStatus(service.api, `${path}/${id}`, 'COMPLETED')
  const { body } = await service.api.withKey<object>('GET', `${path}/${id}/proof`)
  const text = JSON.stringify(body)
  const trustedKeys = new Set<string>()

  const shown = await checkSignatureProof(text, { contentCids: [helloCid], trustedKeys })
  expect(shown).toMatchObject({ verdict: { is: 'proven_under_key' }, signed: { cid: helloCid } })
  const other = await checkSignatureProof(text, { contentCids: [cidOf('x')], trustedKeys })
  expect(other.verdict.is).toBe('not_found')
  const { metadata } = body as { metadata: string }
  const changed = { ...body, metadata: metadata.replace(/"created_at":"2/, '"created_at":"1') }
  const verdict = (await checkSignatureProof(JSON.stringify(changed), { trustedKeys })).verdict
  expect(verdict).toEqual({
    is: 'contradicted',
    reason: 'the proof is not of the metadata beside it',
  })
})
