import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isPrometheusMissing, Prometheus } from '../support/prometheus.ts'
import { runningService } from '../support/running-service.ts'
import { newFleet, newFleetKey, streamOf } from './followed-fleet.ts'
import { nodeExporter } from './node-exporter.ts'
import { recipePage } from './recipe-page.ts'

/** What a node_exporter 1.8 shows, a few lines of it. */
const exposed = `# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 412345.67
node_cpu_seconds_total{cpu="0",mode="user"} 9876.5
# HELP node_filesystem_avail_bytes Filesystem space available to non-root users in bytes.
# TYPE node_filesystem_avail_bytes gauge
node_filesystem_avail_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 4.1877102592e+10
node_filesystem_avail_bytes{device="/dev/sda15",fstype="vfat",mountpoint="/boot/efi"} 1.17733376e+08
# HELP node_load1 1m load average.
# TYPE node_load1 gauge
node_load1 0.42
# HELP node_load15 15m load average.
# TYPE node_load15 gauge
node_load15 0.4
# HELP node_memory_MemAvailable_bytes Memory information field MemAvailable_bytes.
# TYPE node_memory_MemAvailable_bytes gauge
node_memory_MemAvailable_bytes 6.102437888e+09
`

describe.skipIf(isPrometheusMissing)('a Prometheus with the configuration of the page', () => {
  const service = runningService()
  let exporter: Server
  let prometheus: Prometheus | undefined

  beforeAll(async () => {
    exporter = createServer((_, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4').end(exposed)
    })
    await new Promise<void>((resolve) => {
      exporter.listen(0, '127.0.0.1', resolve)
    })
  })

  afterAll(async () => {
    await prometheus?.[Symbol.asyncDispose]()
    exporter.close()
    exporter.closeAllConnections()
  })

  test('brings what the page names of each host, and nothing else', async () => {
    const { definition } = recipePage(nodeExporter)
    const { vaultId } = await newFleet(service.api, definition, 'hosts')
    const { apiKey, apiSecret } = await newFleetKey(service.api)
    const hosts = ['127.0.0.1', 'localhost'].map(
      (name) => `${name}:${(exporter.address() as AddressInfo).port}`,
    )
    const page = readFileSync('docs/recipes/node-exporter.md', 'utf8')
    const written = /^```yaml\n(.*?)\n```$/ms.exec(page)?.[1] ?? ''
    const configuration = written
      .replace('"web-1:9100", "web-2:9100"', hosts.map((host) => `"${host}"`).join(', '))
      .replace('https://HOST', service.api.base)
      .replace('KEY', apiKey)
      .replace('SECRET', apiSecret)
    prometheus = await Prometheus.start(`global: {scrape_interval: 1s}\n${configuration}\n`)

    for (const host of hosts) {
      const streamId = await streamOf(service.api, vaultId, host)
      const latest = async () => {
        const path = `/streams/${streamId}/latest`
        return (await service.api.withToken<{ data: object } | undefined>('GET', path)).body?.data
      }
      await expect.poll(latest, { timeout: 20_000 }).toEqual({
        timestamp: expect.any(String),
        up: 1,
        load1: 0.42,
        memory_available: 6_102_437_888,
        disk_available: 41_877_102_592,
      })
      expect((await service.api.status(streamId)).counters).toMatchObject({ quarantined: 0 })
    }
    const streams = await service.api.withToken<object[]>('GET', `/streams?vaultId=${vaultId}`)
    expect(streams.body).toHaveLength(hosts.length)
  })
})
