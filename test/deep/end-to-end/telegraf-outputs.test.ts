import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installedProgram } from '../../../scripts/servers/installed-program.ts'
import { pageBlocks } from '../../support/page-blocks.ts'
import {
  createFleet,
  type ProtocolFleet,
  readingsByDevice,
  registeredDevice,
} from '../../support/protocol-fleet.ts'
import { runningService } from '../../support/running-service.ts'
import { adminKey, adminSecret } from '../../support/service-process.ts'
import { isLeftOut } from '../../support/test-server.ts'

/** The outputs of Telegraf, each of which writes into a fleet. */

const telegraf = installedProgram('telegraf')
const isMissing = isLeftOut('Telegraf', telegraf !== undefined, 'scripts/install-deep-tools')

const schema = {
  measurement: { type: 'string' },
  usage_idle: { type: 'number' },
  cpu: { type: 'string' },
}

const timeMs = Date.UTC(2026, 0, 1)
const hosts = ['web-1', 'web 2']

/** What a machine measures: lines of processors, at a time that no other line has. */
const measured = hosts.flatMap((host, place) =>
  Array.from({ length: 3 }, (_, index) => {
    const tags = `cpu=cpu${index},host=${host.replaceAll(' ', '\\ ')}`
    return `cpu,${tags} usage_idle=${90.5 + index} ${timeMs + place * 10 + index}000000`
  }),
)

describe.skipIf(isMissing)('Telegraf', () => {
  const service = runningService()
  let folder = ''
  let made = 0

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'streamvault-telegraf-'))
  })

  afterAll(() => rmSync(folder, { recursive: true }))

  async function fleetOf(source: object = {}): Promise<ProtocolFleet> {
    const name = `hosts ${++made}`
    return await createFleet(service.api, { name, deviceField: 'host', schema, source })
  }

  /** Runs it until it has read all lines, and written them or given up; resolves with what it logs. */
  async function written(output: string, lines: readonly string[] = measured): Promise<string> {
    const metrics = join(folder, 'metrics')
    writeFileSync(metrics, `${lines.join('\n')}\n`)
    const config = join(folder, 'telegraf.conf')
    writeFileSync(
      config,
      `[agent]
  omit_hostname = true
  metric_batch_size = 1000
  precision = "1ns"
[[inputs.file]]
  files = ["${metrics}"]
  data_format = "influx"
${output}
`,
    )
    return await new Promise((resolve) => {
      const words = ['--config', config, '--once']
      const env = { ...process.env, API: http(), WRITE_KEY: adminKey, WRITE_SECRET: adminSecret }
      execFile(telegraf ?? 'telegraf', words, { timeout: 120_000, env }, (_, out, log) =>
        resolve(out + log),
      )
    })
  }

  async function expectAll(fleet: ProtocolFleet): Promise<void> {
    const readings = await readingsByDevice(service.api, fleet)
    expect([...readings.keys()].toSorted()).toEqual(hosts.toSorted())
    for (const rows of readings.values()) {
      expect(rows.map(({ cpu, usage_idle }) => [cpu, usage_idle])).toEqual([
        ['cpu0', 90.5],
        ['cpu1', 91.5],
        ['cpu2', 92.5],
      ])
      expect(rows[0]?.['measurement']).toBe('cpu')
    }
    expect(readings.get('web-1')?.[0]?.['timestamp']).toBe('2026-01-01T00:00:00.000000Z')
  }

  const http = () => service.process.http

  function v1(database: string, more = ''): string {
    return `[[outputs.influxdb]]
  urls = ["${http()}"]
  database = "${database}"
  username = "${adminKey}"
  password = "${adminSecret}"
  ${more}`
  }

  function v2(bucket: string, token = `${adminKey}:${adminSecret}`, more = ''): string {
    return `[[outputs.influxdb_v2]]
  urls = ["${http()}"]
  bucket = "${bucket}"
  organization = "any"
  token = "${token}"
  ${more}`
  }

  test.each(['gzip', 'identity'])('writes with outputs.influxdb, in %s', async (coding) => {
    const fleet = await fleetOf()
    const log = await written(
      v1(fleet.name, `skip_database_creation = true\n  content_encoding = "${coding}"`),
    )

    await expectAll(fleet)
    expect(log).not.toMatch(/ [WE]! \[outputs/)
  })

  test('writes with outputs.influxdb although it can make no database', async () => {
    const fleet = await fleetOf()
    const log = await written(v1(fleet.name))

    await expectAll(fleet)
    expect(log).toContain('creation failed')
  })

  test.each(['gzip', 'identity'])('writes with outputs.influxdb_v2, in %s', async (coding) => {
    const fleet = await fleetOf()
    const log = await written(v2(fleet.name, undefined, `content_encoding = "${coding}"`))

    await expectAll(fleet)
    expect(log).not.toMatch(/ [WE]! \[outputs/)
  })

  test.each(['gzip', 'identity'])('writes with outputs.http, in %s', async (coding) => {
    const fleet = await fleetOf()
    const log = await written(`[[outputs.http]]
  url = "${http()}/fleets/${fleet.fleetId}/data"
  username = "${adminKey}"
  password = "${adminSecret}"
  data_format = "influx"
  content_encoding = "${coding}"
  [outputs.http.headers]
    Content-Type = "text/x-influx-line-protocol"`)

    await expectAll(fleet)
    expect(log).not.toMatch(/ [WE]! \[outputs/)
  })

  test.each(['non-batch', 'batch'])(
    'writes with outputs.mqtt, in the layout %s',
    async (layout) => {
      const mark = `hosts-${layout}`
      const source = { topic: `${mark}/{device}/cpu`, format: 'line-protocol' }
      const fleet = await createFleet(service.api, { name: mark, schema, source })
      const log = await written(`[[outputs.mqtt]]
  servers = ["mqtt://127.0.0.1:${service.process.mqttPort}"]
  topic = '${mark}/{{ .Tag "host" }}/{{ .PluginName }}'
  username = "${adminKey}"
  password = "${adminSecret}"
  qos = 1
  layout = "${layout}"
  data_format = "influx"`)

      await expectAll(fleet)
      expect(log).not.toMatch(/ [WE]! \[outputs/)
    },
  )

  test('writes with the settings of its page', async () => {
    const fleet = await createFleet(service.api, { name: 'hosts', deviceField: 'host', schema })
    const page = pageBlocks('docs/integrations/telegraf.md')
    const log = await written(page.find(({ label }) => label === 'fleet.conf')?.text ?? '')

    await expectAll(fleet)
    expect(log).not.toMatch(/ [WE]! \[outputs/)
  })

  test('writes as a device of the fleet, without a name of a database', async () => {
    const fleet = await fleetOf()
    const { apiKey, apiSecret } = await registeredDevice(service.api, fleet, 'web-1')
    const own = measured.filter((line) => line.includes('host=web-1'))
    const log = await written(v2('', `${apiKey}:${apiSecret}`), own)

    expect((await readingsByDevice(service.api, fleet)).get('web-1'), log).toHaveLength(3)
  })

  test.each([
    ['outputs.influxdb', (name: string) => v1(name, 'skip_database_creation = true')],
    ['outputs.influxdb_v2', (name: string) => v2(name)],
  ])('shows with %s which lines were refused, and drops only them', async (_, output) => {
    const fleet = await fleetOf()
    const log = await written(output(fleet.name), [
      ...measured,
      `cpu,host=web-1 usage_idle="much" ${timeMs + 900}000000`,
    ])

    await expectAll(fleet)
    expect(log).toMatch(/partial write: line \d: usage_idle must be number.* dropped=1 of 7/)
  })

  test.each([
    ['outputs.influxdb', (name: string) => v1(name, 'skip_database_creation = true')],
    ['outputs.influxdb_v2', (name: string) => v2(name)],
  ])('shows with %s that there is no such database', async (_, output) => {
    expect(await written(output('no such database'))).toContain('no fleet no such database')
  })

  test('shows that the token is wrong', async () => {
    const { name } = await fleetOf()

    expect(await written(v2(name, 'wrong:token'))).toContain('not valid')
  })
})
