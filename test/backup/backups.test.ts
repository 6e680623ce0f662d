import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { backUp, beginBackup, endOfBackup } from '../support/backups.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()

describe('while a backup is being made', () => {
  let faulty: FaultyService

  beforeAll(async () => {
    faulty = await FaultyService.start()
    return () => faulty[Symbol.asyncDispose]()
  })

  // However slow the test is: what has to be written stands still until the fault is over.
  beforeEach(() => faulty.faults.begin('hold', 'backup/staging/time-series'))

  test('a second one is refused', async () => {
    using folder = new TemporaryFolder()
    const { api, faults } = faulty
    const first = await beginBackup(api, folder.file('backup'))
    const second = await api.withToken('POST', '/backups', { to: folder.file('two') })
    faults.end()
    expect(second).toMatchObject({ status: 409, body: { error: 'conflict' } })
    expect((await endOfBackup(api, first.backupId)).status).toBe('completed')
    expect(existsSync(folder.file('two'))).toBe(false)
  })

  test('it can be cancelled: it leaves nothing, and another one may follow', async () => {
    using folder = new TemporaryFolder()
    const { api, faults } = faulty
    const { backupId } = await beginBackup(api, folder.file('backup'))
    const cancelled = await api.withToken('POST', `/backups/${backupId}/cancel`)
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    expect(existsSync(folder.file('backup'))).toBe(false)
    faults.end()
    await backUp(api, folder.file('backup'))
  })
})

test('a place that is not empty is left as it is', async () => {
  using folder = new TemporaryFolder()
  writeFileSync(folder.file('mine'), 'mine')
  const { backupId } = await beginBackup(service.api, folder.path)
  const ended = await endOfBackup(service.api, backupId)
  expect(ended).toMatchObject({ status: 'failed', error: expect.stringContaining('not empty') })
  expect(readdirSync(folder.path)).toEqual(['mine'])
})

test.each([
  ['relative/folder', 'absolute'],
  ['s3://BUCKET!/', 'bucket'],
  ['s3://key:secret@bucket/prefix', 'credentials'],
  ['s3://bucket/prefix?endpoint=ftp://host', 'endpoint'],
  ['s3://bucket/prefix?acl=public', 'acl'],
  ['s3://bucket/%zz', 'percent'],
])('%s is refused as a place', async (to, reason) => {
  const answer = await service.api.withToken<{ details: object }>('POST', '/backups', { to })
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  expect(answer.body.details).toEqual([{ path: 'to', message: expect.stringContaining(reason) }])
})

test('no backup can be made in the data folder', async () => {
  const to = `${service.process.dataDir}/backup`
  const answer = await service.api.withToken('POST', '/backups', { to })
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

test('backups are only for who runs the service', async () => {
  const person = await newPerson(service.api)
  const answer = await person.withToken('GET', '/backups')
  expect(answer).toMatchObject({ status: 403, body: { error: 'insufficient_permissions' } })
})

test('the list has the newest first, with what became of each', async () => {
  using folder = new TemporaryFolder()
  const one = await backUp(service.api, folder.file('one'))
  const two = await backUp(service.api, folder.file('two'))
  const { body } = await service.api.withToken<object[]>('GET', '/backups?limit=2')
  expect(body).toMatchObject([{ backupId: two.backupId }, { backupId: one.backupId }])
})
