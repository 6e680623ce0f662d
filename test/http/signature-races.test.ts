import { expect, test } from 'vitest'
import { atStatus } from '../support/anchored.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { revoke, share } from '../support/granted.ts'
import { createKey, newPerson, newUsername } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { type ShownSignature, Signer } from '../support/signers.ts'
import { StateBeside } from '../support/state-beside.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

const service = runningService({ STREAMVAULT_UPLOAD_WAIT: '3s' })

const rounds = Array.from({ length: 15 }, (_, at) => at)

/** What is left of signatures whose attachment is gone, or that nobody looks at any more. */
async function leftBehind() {
  await using beside = await StateBeside.open(service.process)
  const { state } = beside
  const gone = await state
    .selectFrom('signatures')
    .select('id')
    .where('attachment_id', 'not in', state.selectFrom('attachments').select('id'))
    .execute()
  const counts = await state
    .selectFrom('totals')
    .select('owner_id')
    .where('list', '=', 'signatures_of_attachment')
    .where('owner_id', 'not in', state.selectFrom('attachments').select('id'))
    .execute()
  const anchors = await state
    .selectFrom('anchors')
    .select('id')
    .where('resource_type', '=', 'signature')
    .where('resource_id', 'not in', state.selectFrom('signatures').select('id'))
    .execute()
  return [...gone, ...counts, ...anchors]
}

test('one that is asked for while the file comes is signed, whichever is first', async () => {
  for (const round of rounds) {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    const path = `/attachments/${id}/signatures`
    const signer = new Signer(round % 2 === 0 ? 'Ed25519' : 'ES256')
    const [brought, own, sent] = await Promise.all([
      service.api.withKey<ShownSignature>('POST', path, signer.bodyFor(cidOf('hello'))),
      service.api.withKey<ShownSignature>('POST', path, {}),
      upload(service.api, url, 'hello'),
    ])
    expect([brought.status, own.status, sent.status]).toEqual([201, 201, 200])
    for (const { body } of [brought, own]) {
      const stored = await atStatus(service.api, `${path}/${body.id}`, 'METADATA_STORED')
      expect(stored['cid']).toBe(cidOf('hello'))
    }
  }
})

test('one that is asked for while its attachment is deleted leaves nothing', async () => {
  for (const _ of rounds) {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    await upload(service.api, url, 'hello')
    const path = `/attachments/${id}/signatures`
    const asked = await Promise.all([
      ...[1, 2, 3].map(() =>
        service.api.withKey('POST', path, new Signer('Ed25519').bodyFor(cidOf('hello'))),
      ),
      service.api.withKey('DELETE', `/attachments/${id}`),
    ])
    for (const { status } of asked.slice(0, 3)) expect([201, 404]).toContain(status)
    expect(asked[3]?.status).toBe(204)
    expect((await service.api.withKey('GET', path)).status).toBe(404)
  }
  expect(await leftBehind()).toEqual([])
})

test('one that is asked for while a permission ends is a refusal, or fails, or was in time', async () => {
  const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
  for (const _ of rounds.slice(0, 8)) {
    const { id, stream_id: streamId, presigned_url: url } = await attachmentOf(ada)
    const path = `/attachments/${id}/signatures`
    const permission = await share(ada, bob, { kind: 'streams', id: streamId }, 'WRITE')
    const [made] = await Promise.all([
      bob.withKey<ShownSignature>('POST', path, {}),
      revoke(ada, permission),
    ])
    await upload(service.api, url, 'hello')
    expect([201, 403, 404]).toContain(made.status)
    if (made.status !== 201) continue
    const failed = await atStatus(ada, `${path}/${made.body.id}`, 'FAILED')
    expect(failed.failure?.error).toBe('permission_ended')
  }
})

test('somebody who takes the name of a deleted signer has not signed', async () => {
  const ada = await newPerson(service.api)
  const { id, stream_id: streamId, presigned_url: url } = await attachmentOf(ada)
  const path = `/attachments/${id}/signatures`
  const username = newUsername()
  const rest = { first_name: '', last_name: '' }
  const user = async () => {
    const made = await service.api.withKey<{ id: string }>('POST', '/users', { username, ...rest })
    expect(made.status).toBe(201)
    return made.body.id
  }
  const first = await user()
  const key = await createKey(service.api, { userId: first })
  const answer = await ada.withKey('POST', `/streams/${streamId}/permissions`, {
    username,
    role: 'WRITE',
  })
  expect(answer.status).toBe(201)
  const headers = { 'x-api-key': key.apiKey, 'x-api-secret': key.apiSecret }
  const made = await service.api.request<ShownSignature>('POST', path, { headers, body: {} })
  expect(made.body.signed_by).toBe(username)
  await upload(service.api, url, 'hello')
  const signature = `${path}/${made.body.id}`
  await atStatus(ada, signature, 'METADATA_STORED')

  expect((await service.api.withKey('DELETE', `/users/${first}`)).status).toBe(204)
  await user()

  expect((await ada.withKey<ShownSignature>('GET', signature)).body.signed_by).toBeNull()
})

test('of two attachments with the same content each has its own signatures, and a CID those of both', async () => {
  const signer = new Signer('Ed25519')
  const content = `the same ${newUsername()}`
  const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
  for (const one of [ada, bob]) {
    const { id, presigned_url: url } = await attachmentOf(one)
    await upload(service.api, url, content)
    const path = `/attachments/${id}/signatures`
    const { body } = await one.withKey<ShownSignature>('POST', path, signer.bodyFor(cidOf(content)))
    await atStatus(one, `${path}/${body.id}`, 'METADATA_STORED')
    const list = await one.withKey<{ total_records: number }>('GET', path)
    expect(list.body.total_records).toBe(1)
  }
  const path = `/verify/${cidOf(content)}`
  const { body } = await service.api.request<{ signatures: object[] }>('GET', path)
  expect(body.signatures).toHaveLength(2)
  const text = JSON.stringify(body.signatures)
  for (const { userId } of [ada, bob]) expect(text).not.toContain(userId)
  expect(text).not.toContain('attachment')
})

test('what was not checked is not told by a CID, nor what nobody has put in', async () => {
  const content = `not there ${newUsername()}`
  const { id, presigned_url: url } = await attachmentOf(service.api)
  const path = `/attachments/${id}/signatures`
  const signer = new Signer('ES256')
  await service.api.withKey('POST', path, signer.bodyFor(cidOf(content)))
  const asked = () => service.api.request('GET', `/verify/${cidOf(content)}`)
  expect((await asked()).status).toBe(404)
  await upload(service.api, url, 'other content')
  expect((await asked()).status).toBe(404)
})
