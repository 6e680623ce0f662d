import { expect, test } from 'vitest'
import type { DataPage } from '../support/api-client.ts'
import { streamvaultJson } from '../support/command-line.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()

test('simulate lets devices publish, some of it wrong, and all of it is accounted for', async () => {
  const { api, process } = service
  const environment = {
    STREAMVAULT_DATA_DIR: process.dataDir,
    STREAMVAULT_ADMIN_KEY: adminKey,
    STREAMVAULT_ADMIN_SECRET: adminSecret,
  }
  const words = ['--devices', '3', '--rate', '40', '--seconds', '2', '--faults', '0.3']

  const { streamIds, sent, acknowledged } = await streamvaultJson<{
    streamIds: string[]
    sent: number
    acknowledged: number
  }>(['simulate', ...words], environment)

  expect(streamIds).toHaveLength(3)
  expect(acknowledged).toBe(sent)
  const counters = await Promise.all(streamIds.map((id) => api.settled(id, 1)))
  const sum = (name: 'received' | 'duplicates' | 'quarantined') =>
    counters.reduce((total, one) => total + one[name], 0)
  expect(sum('received')).toBe(sent)
  expect(sum('duplicates')).toBeGreaterThan(0)
  expect(sum('quarantined')).toBeGreaterThan(0)
  const page = await api.withToken<DataPage>('GET', `/streams/${streamIds[0]}/data?limit=1`)
  expect(Object.keys(page.body.data[0] ?? {})).toEqual([
    'timestamp',
    'humidity',
    'power',
    'state',
    'temperature',
  ])
})
