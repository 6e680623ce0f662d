import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, test } from 'vitest'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import {
  assetStreamOf,
  attachmentAsItIs,
  attachmentOf,
  type ShownAttachment,
  upload,
} from '../support/uploads.ts'

const service = runningService({ STREAMVAULT_UPLOAD_WAIT: '3s' })

interface Told {
  readonly type: string
  readonly data: ShownAttachment
}

/** What the service has written down of the attachments of a user. */
function toldOf({ userId }: Person): readonly Told[] {
  using state = new DatabaseSync(`${service.process.dataDir}/state.db`, { readOnly: true })
  const rows = state
    .prepare(
      `SELECT type, data FROM events WHERE owner_id = ? AND type LIKE 'data_attachment.%'
        ORDER BY at, rowid`,
    )
    .all(userId) as unknown as readonly Record<'type' | 'data', string>[]
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) as ShownAttachment }))
}

describe('an attachment', () => {
  let owner: Person

  beforeAll(async () => {
    owner = await newPerson(service.api)
  })

  test('is told of when it is made, and when it is deleted: once each, and with no address', async () => {
    const made = await attachmentOf(owner)
    await upload(service.api, made.presigned_url, 'hello')
    const before = await attachmentAsItIs(owner, made.id)
    await owner.withKey('DELETE', `/attachments/${made.id}`)

    const told = toldOf(owner).filter(({ data }) => data.id === made.id)

    expect(told).toEqual([
      { type: 'data_attachment.created', data: { ...made, presigned_url: '' } },
      { type: 'data_attachment.deleted', data: before },
    ])
  })

  test('is told of when its file has not come in time, and says so', async () => {
    const made = await attachmentOf(owner)
    const statusOf = async () => (await attachmentAsItIs(owner, made.id)).status
    await expect.poll(statusOf).toBe('FAILED')

    const after = await attachmentAsItIs(owner, made.id)
    const { status } = await upload(service.api, made.presigned_url, 'late')

    expect(after).toMatchObject({ presigned_url: '', failure: { error: 'upload_expired' } })
    expect(after.progress.map(({ step, status: reached }) => [step, reached])).toEqual([
      [1, 'SERVICE_RECEIVED'],
      [2, 'UPLOAD_PENDING'],
      [3, 'FAILED'],
    ])
    expect(status).toBe(403)
    const told = toldOf(owner).filter(({ data }) => data.id === made.id)
    expect(told.slice(1)).toEqual([{ type: 'data_attachment.failed', data: after }])
  })

  test('is told of to streams of the type service', async () => {
    const listener = await newPerson(service.api)
    const { body: stream } = await listener.withToken<{ streamId: string }>('POST', '/streams', {
      name: 'changes',
      vaultId: await vaultOf(listener),
      type: 'service',
    })
    const streamId = await assetStreamOf(listener)
    const { id, presigned_url: url } = await attachmentOf(listener, { stream_id: streamId })
    await upload(service.api, url, 'hello')
    await listener.withKey('DELETE', `/attachments/${id}`)

    const heard = async () => {
      const path = `/streams/${stream.streamId}/data`
      const { body } = await listener.withToken<{ data: Record<string, unknown>[] }>('GET', path)
      return body.data
        .filter(({ resourceId }) => resourceId === id)
        .map(({ event, resourceType, name }) => [event, resourceType, name])
    }

    await expect.poll(heard).toEqual([
      ['attachment.created', 'attachment', 'report'],
      ['attachment.stored', 'attachment', 'report'],
      ['attachment.deleted', 'attachment', 'report'],
    ])
  })
})
