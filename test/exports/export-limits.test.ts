import { expect, test } from 'vitest'
import { exported, type JobBody, jobIn } from '../support/exports.ts'
import { newPerson, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

/** One byte of a file is as much as a user may have. */
const service = runningService({ STREAMVAULT_EXPORTS_MAX: '1' })

test('a user whose exports have all the bytes that they may have gets no other', async () => {
  const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
  const body = { streamIds: [await streamOf(ada)], format: 'csv' }
  await exported(ada, body)
  const refused = await ada.withToken<{ error: string }>('POST', '/exports', body)
  const ofBob = { streamIds: [await streamOf(bob)], format: 'csv' }

  expect([refused.status, refused.body.error]).toEqual([507, 'disk_full'])
  expect((await exported(bob, ofBob)).state).toBe('completed')
})

test('a job that finds no room for its next file fails, and goes on once there is some', async () => {
  const ada = await newPerson(service.api)
  const body = { streamIds: [await streamOf(ada), await streamOf(ada)], format: 'csv' }
  const failed = await exported(ada, body)
  const path = `/exports/${failed.exportId}`
  const resumed = await ada.withToken<JobBody>('POST', `${path}/resume`)
  const again = await jobIn(ada, path)

  expect(failed).toMatchObject({ state: 'failed', failure: { error: 'disk_full' } })
  expect(failed.files).toHaveLength(1)
  expect(resumed.status).toBe(202)
  expect(again.files).toEqual(failed.files)
})
