import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { metricsOf } from '../support/metrics.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()
const MiB = 1024 ** 2

/** A folder on a small disk of its own, in memory; every Linux has one. */
class SmallDisk implements Disposable {
  readonly folder = mkdtempSync('/dev/shm/streamvault-test-')
  readonly #filler = join(this.folder, 'filler')

  get free(): number {
    const { bavail, bsize } = statfsSync(this.folder)
    return bavail * bsize
  }

  fill(bytes: number): void {
    const file = openSync(this.#filler, 'a')
    const block = Buffer.alloc(MiB, 1)
    for (let written = 0; written < bytes; written += block.length) writeSync(file, block)
    closeSync(file)
  }

  clear(): void {
    rmSync(this.#filler)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

test('with little room on the disk readings wait, and go on by themselves', async () => {
  using disk = new SmallDisk()
  const limit = disk.free - 64 * MiB
  const dataDir = join(disk.folder, 'data')
  const service = await services.start(dataDir, { STREAMVAULT_DISK_MIN: String(limit) })
  const api = new ApiClient(service.http)
  const streamId = await api.createStream()
  const path = `/streams/${streamId}/data`
  const push = (temperature: number) =>
    api.withToken<{ error: string }>('POST', path, {
      timestamp: new Date(1_770_000_000_000 + temperature).toISOString(),
      temperature,
    })
  const readiness = async () => {
    const answer = await fetch(`${service.http}/health/ready`)
    return [answer.status, Object.keys(((await answer.json()) as { failing: object }).failing)]
  }
  /** What `GET /metrics` says of the disk, and of the parts behind it. */
  const failing = async () => {
    const metric = await metricsOf(service)
    return ['disk', 'folder', 'journal'].map((part) => metric(`part_failing{part="${part}"}`))
  }
  const client = await connectAsync(`mqtt://127.0.0.1:${service.mqttPort}`, {
    username: adminKey,
    password: adminSecret,
    protocolVersion: 4,
  })
  const publish = (temperature: number) =>
    client.publishAsync(`streams/${streamId}/data`, JSON.stringify({ temperature }), { qos: 1 })

  expect((await push(1)).status).toBe(202)
  await publish(2)
  expect(await failing()).toEqual([0, 0, 0])
  disk.fill(72 * MiB)
  await expect.poll(readiness).toEqual([503, ['disk']])
  expect(await failing()).toEqual([1, 0, 0])

  const refused = await push(3)
  expect([refused.status, refused.body.error]).toEqual([503, 'disk_low'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  let isAcknowledged = false
  const published = publish(4).then(() => (isAcknowledged = true))
  // What makes room is done all the same, and so is what does not take any.
  const start = '2026-01-01T00:00:00Z'
  const removed = await api.withToken('DELETE', `${path}?start=${start}&end=${start}`)
  expect(removed.status).toBe(204)
  expect(await api.readAll(streamId)).toHaveLength(2)
  expect(isAcknowledged).toBe(false)

  disk.clear()
  await expect.poll(readiness).toEqual([200, []])
  expect(await failing()).toEqual([0, 0, 0])
  await published
  expect((await push(5)).status).toBe(202)
  expect(await api.settled(streamId, 4)).toMatchObject({ received: 4, stored: 4 })
  await client.endAsync()
})
