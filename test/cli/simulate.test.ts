import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import type { DataPage } from '../support/api-client.ts'
import { makeCertificate } from '../support/certificate.ts'
import { settingsOf, streamvaultJson } from '../support/command-line.ts'
import { runningService } from '../support/running-service.ts'
import { newDataDir } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const service = runningService()
const services = startedServices()

test('simulate lets devices publish, some of it wrong, and all of it is accounted for', async () => {
  const { api, process } = service
  const environment = settingsOf(process.dataDir)
  const words = ['--devices', '3', '--rate', '40', '--seconds', '4', '--faults', '0.3']

  const { streamIds, sent, acknowledged } = await streamvaultJson<{
    streamIds: string[]
    sent: number
    acknowledged: number
  }>(['simulate', ...words], environment)

  expect(streamIds).toHaveLength(3)
  expect(acknowledged).toBe(sent)
  const sum = async (name: 'received' | 'duplicates' | 'quarantined' | 'pending') => {
    const counters = await Promise.all(streamIds.map(async (id) => (await api.status(id)).counters))
    return counters.reduce((total, one) => total + one[name], 0)
  }
  await expect.poll(() => sum('received')).toBe(sent)
  await expect.poll(() => sum('pending')).toBe(0)
  expect(await sum('duplicates')).toBeGreaterThan(0)
  expect(await sum('quarantined')).toBeGreaterThan(0)
  const page = await api.withToken<DataPage>('GET', `/streams/${streamIds[0]}/data?limit=1`)
  expect(Object.keys(page.body.data[0] ?? {})).toEqual([
    'timestamp',
    'humidity',
    'power',
    'state',
    'temperature',
  ])
})

test('simulate publishes over TLS and over WebSockets, and trusts what it is told to', async () => {
  const folder = newDataDir()
  const certificate = makeCertificate(folder)
  const mqttsPort = await freePort()
  const { http, dataDir } = await services.start(services.newFolder(), {
    STREAMVAULT_TLS_CERT: certificate.certPath,
    STREAMVAULT_TLS_KEY: certificate.keyPath,
    STREAMVAULT_MQTT_PORT: '0',
    STREAMVAULT_MQTTS_PORT: String(mqttsPort),
  })
  const environment = settingsOf(dataDir)
  const words = ['simulate', '--devices', '1', '--rate', '20', '--seconds', '0.5']
  const trust = ['--ca', certificate.certPath]

  for (const broker of [[], ['--mqtt', `${http.replace('https', 'wss')}/mqtt`]]) {
    const done = await streamvaultJson<{ sent: number; acknowledged: number }>(
      [...words, ...trust, ...broker],
      environment,
    )
    expect(done.sent).toBeGreaterThan(0)
    expect(done.acknowledged).toBe(done.sent)
  }
  rmSync(folder, { recursive: true })
})
