import { existsSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { type BackupAnswer, backUp, beginBackup, endOfBackup } from '../../support/backups.ts'
import { startStreamvault, streamvault, streamvaultJson } from '../../support/command-line.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { at } from '../../support/seconds.ts'
import {
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../../support/service-process.ts'
import { TcpProxy } from '../../support/tcp-proxy.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

const readings = 30_000

/** What goes over the network of less than half of the rows, and of more than one request for them. */
const bytesOfSome = 1_500_000

describe.skipIf(isQuestDbMissing)('with QuestDB', () => {
  const folder = new TemporaryFolder()
  const dataDir = newDataDir()
  let questDb: QuestDb
  /** Between it and the service: backups come no further than they should. */
  let proxy: TcpProxy
  let service: ServiceProcess
  let api: ApiClient
  let streamId: string

  async function start(): Promise<void> {
    service = await startServiceProcess(dataDir, storedIn('service', proxy.port))
    api = new ApiClient(service.http)
  }

  beforeAll(async () => {
    questDb = await QuestDb.start()
    proxy = await TcpProxy.start(questDb.port)
    await start()
    streamId = await api.createStream()
    await send(api, streamId)
    await api.settled(streamId, readings)
  })

  afterAll(async () => {
    await service.end('SIGKILL')
    await proxy[Symbol.asyncDispose]()
    await questDb[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true })
    folder[Symbol.dispose]()
  })

  const storedIn = (name: string, port = questDb.port) => ({
    STREAMVAULT_TIMESERIES_URL: `questdb://127.0.0.1:${port}/${name}`,
  })

  async function rowsOf(name: string): Promise<number> {
    const connection = questDb.connection()
    const { rows: tables } = await connection.run(
      `SELECT table_name FROM tables() WHERE starts_with(table_name, '${name}_readings_')`,
    )
    let count = 0
    for (const [table] of tables) {
      const { rows } = await connection.run(`SELECT count() FROM "${String(table)}"`)
      count += Number(rows[0]?.[0])
    }
    connection.close()
    return count
  }

  /** Resolves when some of the rows of a restore are there, but not all, and no more come. */
  async function inTheMiddleOf(name: string, held: TcpProxy): Promise<void> {
    await expect.poll(() => held.isHolding).toBe(true)
    await expect.poll(() => rowsOf(name)).toBeGreaterThan(0)
    expect(await rowsOf(name)).toBeLessThan(readings)
  }

  /** A backup that stands still while rows are copied: they come last. */
  async function backupInItsRows(path: string): Promise<BackupAnswer> {
    proxy.holdAfter(bytesOfSome)
    const begun = await beginBackup(api, path)
    await expect.poll(() => existsSync(`${path}/questdb-rows.ndjson.zst`)).toBe(true)
    await expect.poll(() => proxy.isHolding).toBe(true)
    const { body } = await api.withToken<BackupAnswer>('GET', `/backups/${begun.backupId}`)
    expect(body.status).toBe('running')
    return begun
  }

  test('a service that is killed while rows are copied leaves no manifest, and the next backup is whole', async () => {
    const { backupId, to } = await backupInItsRows(folder.file('cut-off'))
    await service.end('SIGKILL')
    proxy.reset()
    expect(existsSync(`${to}/manifest.json`)).toBe(false)
    const cutOff = ['restore', '--from', to, '--data-dir', folder.file('none')]
    expect(await streamvault(cutOff, storedIn('none'))).toMatchObject({ code: 1 })
    expect([existsSync(folder.file('none')), await rowsOf('none')]).toEqual([false, 0])

    await start()
    const { body } = await api.withToken<BackupAnswer>('GET', `/backups/${backupId}`)
    expect(body).toMatchObject({ status: 'failed', error: 'the service was stopped' })
    expect(await api.settled(streamId, readings)).toMatchObject({ stored: readings })
    const whole = await backUp(api, folder.file('whole'))
    const words = ['restore', '--from', whole.to, '--data-dir', folder.file('restored'), '--verify']
    expect(await streamvaultJson(words, storedIn('killed2'))).toMatchObject({ verified: true })
  })

  test('a QuestDB that is killed while rows are copied fails the backup, and nothing else', async () => {
    const { backupId, to } = await backupInItsRows(folder.file('cut-off-by-server'))
    await questDb.kill()
    proxy.reset()
    await questDb.start()
    const ended = await endOfBackup(api, backupId)
    expect(ended).toMatchObject({ status: 'failed' })
    expect(existsSync(`${to}/manifest.json`)).toBe(false)

    await send(api, streamId)
    const twice = { stored: readings, duplicates: readings }
    expect(await api.settled(streamId, 2 * readings)).toMatchObject(twice)
    const whole = await backUp(api, folder.file('whole2'))
    const words = [
      'restore',
      '--from',
      whole.to,
      '--data-dir',
      folder.file('restored2'),
      '--verify',
    ]
    expect(await streamvaultJson(words, storedIn('server2'))).toMatchObject({ verified: true })
  })

  test.each(['restore', 'questdb'])(
    'what a restore has left when %s was killed is taken by nobody, and the next one can take it away',
    async (killed) => {
      const { to } = await backUp(api, folder.file(`backup-${killed}`))
      const restored = folder.file(`restored-${killed}`)
      const words = ['restore', '--from', to, '--data-dir', restored]
      const name = `again${killed}`
      await using held = await TcpProxy.start(questDb.port)
      held.holdAfter(bytesOfSome)
      const child = startStreamvault(words, storedIn(name, held.port))
      const ended = new Promise((resolve) => child.once('exit', resolve))
      await inTheMiddleOf(name, held)
      if (killed === 'restore') child.kill('SIGKILL')
      else await questDb.kill()
      held.reset()
      await ended
      if (killed === 'questdb') await questDb.start()
      expect(child.exitCode).not.toBe(0)
      expect(existsSync(restored)).toBe(false)
      expect(await rowsOf(name)).toBeGreaterThan(0)

      const refused = await streamvault(words, storedIn(name))
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining('--discard-cut-off'),
      ])
      const anew = [...words, '--discard-cut-off', '--verify']
      expect(await streamvaultJson(anew, storedIn(name))).toMatchObject({ verified: true })
      expect(await rowsOf(name)).toBe(readings)
      // What is whole is not taken away.
      const second = ['restore', '--from', to, '--data-dir', folder.file('second')]
      const { code, stderr } = await streamvault([...second, '--discard-cut-off'], storedIn(name))
      expect([code, stderr]).toEqual([1, expect.stringContaining('already')])
    },
  )
})

/** Sends all of them, which are duplicates the second time. */
async function send(api: ApiClient, streamId: string): Promise<void> {
  const portion = 10_000
  for (let from = 0; from < readings; from += portion) {
    const body = Array.from({ length: portion }, (_, index) => ({
      timestamp: at(from + index),
      temperature: from + index,
    }))
    expect(await api.withToken('POST', `/streams/${streamId}/data`, body)).toMatchObject({
      status: 202,
    })
  }
}
