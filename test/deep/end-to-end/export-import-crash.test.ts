import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { download, type JobBody, jobIn } from '../../support/exports.ts'
import { type ImportBody, sendImport } from '../../support/imports.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import type { ServiceProcess } from '../../support/service-process.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

const kills = 5
const rows = 60_000
/** Every so many rows one has no number. */
const wrongEvery = 500

function csvOf(count: number): string {
  const lines = Array.from({ length: count }, (_, row) => {
    const timestamp = new Date(Date.UTC(2026, 0, 1) + row * 1000).toISOString()
    return `${timestamp},${row % wrongEvery === 7 ? 'hot' : row}`
  })
  return `timestamp,temperature\n${lines.join('\n')}\n`
}

/** Lets a job go on through kills at random moments; resolves with the service that saw its end. */
async function killed(
  dataDir: string,
  path: string,
  first: ServiceProcess,
): Promise<{ readonly process: ServiceProcess; readonly api: ApiClient; readonly job: JobBody }> {
  const random = new SeededRandom(7)
  let process = first
  for (let kill = 0; kill < kills; kill++) {
    await jobIn(new ApiClient(process.http), path, ['running', 'completed'])
    await sleep(random.integer(0, 600))
    await process.end('SIGKILL')
    process = await services.start(dataDir)
  }
  const api = new ApiClient(process.http)
  return { process, api, job: await jobIn(api, path) }
}

test('an import that is killed again and again stores each row once', async () => {
  const dataDir = services.newFolder()
  const process = await services.start(dataDir)
  const api = new ApiClient(process.http)
  const id = await api.createStream({ temperature: { type: 'number' } })
  const file = { format: 'csv', content: csvOf(rows) } as const
  const { body } = await sendImport({ api, process }, id, file)
  const after = await killed(dataDir, `/imports/${body.importId}`, process)
  const job = after.job as ImportBody
  const refused = rows / wrongEvery
  const counters = await after.api.settled(id, rows)

  expect(job).toMatchObject({ state: 'completed', rows, accepted: rows - refused, refused })
  expect(counters).toMatchObject({ stored: rows - refused, quarantined: refused, discarded: 0 })
  expect(await after.api.readAll(id)).toHaveLength(rows - refused)
})

test('an export that is killed again and again goes on after its last file', async () => {
  const dataDir = services.newFolder()
  const process = await services.start(dataDir)
  const api = new ApiClient(process.http)
  const ids: string[] = []
  for (let count = 0; count < 4; count++) {
    const id = await api.createStream({ temperature: { type: 'number' } })
    const { body } = await sendImport({ api, process }, id, {
      format: 'csv',
      content: csvOf(rows / 4),
    })
    await jobIn(api, `/imports/${body.importId}`)
    ids.push(id)
  }
  const wish = { streamIds: ids, format: 'parquet' }
  const made = await api.withToken<JobBody>('POST', '/exports', wish)
  const path = `/exports/${made.body.exportId}`
  await expect
    .poll(async () => (await jobIn(api, path, ['running', 'completed'])).files)
    .not.toEqual([])
  const folder = join(dataDir, 'exports', made.body.exportId)
  const [first = ''] = readdirSync(folder).toSorted()
  const written = statSync(join(folder, first)).mtimeMs
  const after = await killed(dataDir, path, process)

  expect(after.job).toMatchObject({ state: 'completed', rows: rows - rows / wrongEvery })
  expect(after.job.files.map((one) => one.streamId)).toEqual(ids.toSorted())
  expect(statSync(join(folder, first)).mtimeMs).toBe(written)
  expect(readdirSync(folder).toSorted()).toEqual(after.job.files.map(({ name }) => name))
  for (const one of after.job.files) {
    const answer = await download(after, after.job, one)
    const bytes = await answer.arrayBuffer()
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
    expect([answer.status, digest]).toEqual([200, one.sha256])
  }
})
