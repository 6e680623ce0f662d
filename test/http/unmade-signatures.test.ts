import { expect, test } from 'vitest'
import { atStatus, statusesOf } from '../support/anchored.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { revoke, share } from '../support/granted.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { type ShownSignature, Signer } from '../support/signers.ts'
import { StateBeside } from '../support/state-beside.ts'
import { attachmentAsItIs, attachmentOf, upload } from '../support/uploads.ts'

const service = runningService({ STREAMVAULT_UPLOAD_WAIT: '3s' })

/** What somebody is told of signatures. */
async function toldOf(userId: string) {
  await using beside = await StateBeside.open(service.process)
  const rows = await beside.state
    .selectFrom('events')
    .select(['type', 'data'])
    .where('owner_id', '=', userId)
    .where('resource_type', '=', 'signature')
    .orderBy('at')
    .execute()
  return rows.map(({ type, data }) => [type, (JSON.parse(data) as ShownSignature).status])
}

const byType = ([one = '']: readonly string[], [other = '']: readonly string[]) =>
  one.localeCompare(other)

test('what waits for content that never comes is FAILED, and that is told', async () => {
  const ada = await newPerson(service.api)
  const { id } = await attachmentOf(ada)
  const path = `/attachments/${id}/signatures`
  const ids: string[] = []
  for (const body of [{}, new Signer('ES256').bodyFor(cidOf('hello'))]) {
    ids.push((await ada.withKey<ShownSignature>('POST', path, body)).body.id)
  }

  await expect.poll(async () => (await attachmentAsItIs(ada, id)).status).toBe('FAILED')

  for (const one of ids) {
    const failed = await atStatus(ada, `${path}/${one}`, 'FAILED')
    expect(failed.failure?.error).toBe('content_failed')
    expect(statusesOf(failed)).toEqual(['SERVICE_RECEIVED', 'FAILED'])
  }
  const answer = await ada.withKey<{ error: string }>('POST', path, {})
  expect([answer.status, answer.body.error]).toEqual([409, 'conflict'])
  expect((await toldOf(ada.userId)).toSorted(byType)).toEqual([
    ['signature.created', 'SERVICE_RECEIVED'],
    ['signature.created', 'SERVICE_RECEIVED'],
    ['signature.failed', 'FAILED'],
    ['signature.failed', 'FAILED'],
  ])
})

test('somebody who may write signs, and is told as the owner is', async () => {
  const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
  const { id, stream_id: streamId, presigned_url: url } = await attachmentOf(ada)
  const path = `/attachments/${id}/signatures`
  await share(ada, bob, { kind: 'streams', id: streamId }, 'WRITE')
  const body = new Signer('ES256').bodyFor(cidOf('hello'))

  const made = await bob.withKey<ShownSignature>('POST', path, body)
  await upload(service.api, url, 'hello')

  expect(made.status).toBe(201)
  await atStatus(bob, `${path}/${made.body.id}`, 'METADATA_STORED')
  const { body: seen } = await ada.withKey<ShownSignature>('GET', `${path}/${made.body.id}`)
  expect(seen.signed_by).toBe(made.body.signed_by)
  expect(seen.signed_by).toMatch(/\w/)
  for (const one of [ada, bob]) {
    expect(await toldOf(one.userId)).toEqual([['signature.created', 'SERVICE_RECEIVED']])
  }
  expect((await service.api.withKey('DELETE', `/users/${bob.userId}`)).status).toBe(204)
  const after = await ada.withKey<ShownSignature>('GET', `${path}/${made.body.id}`)
  expect(after.body.signed_by).toBeNull()
})

test.each(['revoked', 'made READ', 'ended with its user'])(
  'a permission to write that is %s before the content comes ends the signature',
  async (end) => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const { id, stream_id: streamId, presigned_url: url } = await attachmentOf(ada)
    const path = `/attachments/${id}/signatures`
    const permission = await share(ada, bob, { kind: 'streams', id: streamId }, 'WRITE')
    const made = await bob.withKey<ShownSignature>('POST', path, {})

    if (end === 'revoked') await revoke(ada, permission)
    else if (end === 'made READ') {
      expect((await ada.withKey('PUT', permission, { role: 'READ' })).status).toBe(200)
    } else await service.api.withKey('DELETE', `/users/${bob.userId}`)
    await upload(service.api, url, 'hello')

    const failed = await atStatus(ada, `${path}/${made.body.id}`, 'FAILED')
    expect(failed).toMatchObject({ signature: '', failure: { error: 'permission_ended' } })
    expect((await toldOf(ada.userId)).map(([type]) => type)).toEqual([
      'signature.created',
      'signature.failed',
    ])
  },
)

test('one that fails is in nobody’s way', async () => {
  const ada = await newPerson(service.api)
  const { id, presigned_url: url } = await attachmentOf(ada)
  const path = `/attachments/${id}/signatures`
  const signer = new Signer('Ed25519')
  const ask = (cid: string) => ada.withKey<ShownSignature>('POST', path, signer.bodyFor(cid))
  const wrong = await ask(cidOf('other'))
  await upload(service.api, url, 'hello')
  await atStatus(ada, `${path}/${wrong.body.id}`, 'FAILED')

  const right = await ask(cidOf('hello'))

  expect(right.status).toBe(201)
  await atStatus(ada, `${path}/${right.body.id}`, 'METADATA_STORED')
})
