import { expect, test } from 'vitest'
import { atStatus, statusesOf } from '../support/anchored.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { type ShownSignature, Signer } from '../support/signers.ts'
import { StateBeside } from '../support/state-beside.ts'
import { attachmentAsItIs, attachmentOf } from '../support/uploads.ts'

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
  expect((await toldOf(ada.userId)).toSorted()).toEqual([
    ['signature.created', 'SERVICE_RECEIVED'],
    ['signature.created', 'SERVICE_RECEIVED'],
    ['signature.failed', 'FAILED'],
    ['signature.failed', 'FAILED'],
  ])
})
