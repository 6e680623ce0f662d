import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'
import { runningService } from '../support/running-service.ts'
import {
  batchOf,
  readAsTelegraf,
  recordedBytes,
  recordedMetrics,
  sendAsTelegraf,
} from '../support/telegraf.ts'

const page = 'docs/integrations/telegraf.md'
const folder = 'examples/telegraf'

/** What stands in the place of `telegraf --config FILE`: it sends what that does, once. */
const standIn = `#!/bin/sh
exec node --input-type=module -e "
const { sendAsTelegraf } = await import('${resolve('test/support/telegraf.ts')}')
await sendAsTelegraf(process.argv.at(-1), process.env)" -- "$@"
`

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    reader = await PageRun.start(page)
    await reader.shell.run(`ln -s ${resolve('examples')} examples\ncat >bin/telegraf <<'END'\n${standIn}END
chmod +x bin/telegraf`)
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )
})

describe('what stands in the place of Telegraf', () => {
  test('writes the bytes that were recorded', () => {
    const settings = { json_timestamp_units: '1ms' }
    expect(batchOf(recordedMetrics, settings)).toBe(recordedBytes)
  })
})

describe('the settings of Telegraf', () => {
  const service = runningService()
  let environment: Readonly<Record<string, string>>

  beforeAll(async () => {
    const { api, process } = service
    const definition = readFileSync(`${folder}/cpu-stream.json`, 'utf8')
    const { source, schema } = JSON.parse(definition) as { source: object; schema: object }
    const stream = await api.createStream(schema, { source })
    const device = await api.withToken<{ apiKey: string; apiSecret: string }>('POST', '/devices', {
      name: 'telegraf',
      streamIds: [stream],
    })
    const { vaultId } = (await api.withToken<{ vaultId: string }>('GET', `/streams/${stream}`)).body
    const key = await api.withToken<{ apiKey: string; apiSecret: string }>('POST', '/keys', {
      name: 'telegraf',
      kind: 'live',
      permission: 'read_only',
    })
    environment = {
      API: process.http,
      BROKER_URL: `mqtt://127.0.0.1:${process.mqttPort}`,
      STREAM: stream,
      VAULT: vaultId,
      DEVICE_KEY: device.body.apiKey,
      DEVICE_SECRET: device.body.apiSecret,
      READ_KEY: key.body.apiKey,
      READ_SECRET: key.body.apiSecret,
    }
  })

  const [first] = recordedMetrics
  const other = { ...first, tags: { cpu: 'cpu-total', host: 'other' } }
  const later = { ...first, timeMs: (first?.timeMs ?? 0) + 10_000 }
  const metrics = [first, other, later, { ...first, name: 'mem' }] as typeof recordedMetrics

  test.each(['mqtt.conf', 'http.conf'])('of %s bring in each reading once', async (file) => {
    await sendAsTelegraf(`${folder}/${file}`, environment, metrics)
    const { received, quarantined, stored } = await service.api.settled(
      environment['STREAM'] ?? '',
      3,
    )
    expect([received % 3, quarantined, stored]).toEqual([0, 0, 3])
    const readings = await service.api.readAll(environment['STREAM'] ?? '')
    expect(Map.groupBy(readings, ({ host }) => host).get('vm')).toHaveLength(2)
    expect(readings).toHaveLength(3)
  })

  test('of http.conf go on when the schema refuses some readings, or all', async () => {
    const nameless = [20_000, 30_000].map((laterMs) => ({
      ...first,
      tags: {},
      timeMs: (first?.timeMs ?? 0) + laterMs,
    })) as unknown as typeof recordedMetrics
    await sendAsTelegraf(`${folder}/http.conf`, environment, nameless)
    await sendAsTelegraf(`${folder}/http.conf`, environment, [...metrics, ...nameless])
    const counters = async () => (await service.api.status(environment['STREAM'] ?? '')).counters
    await expect.poll(counters).toMatchObject({ stored: 3, quarantined: 4, pending: 0 })
  })

  test('of http.conf fail with a wrong secret, and Telegraf tries again', async () => {
    const wrong = { ...environment, DEVICE_SECRET: 'wrong' }
    await expect(sendAsTelegraf(`${folder}/http.conf`, wrong)).rejects.toThrow('401')
  })

  test('of read.conf get what its parsers read', async () => {
    const answers = await readAsTelegraf(`${folder}/read.conf`, environment)
    expect(answers.map(({ name, answer: { status } }) => [name, status])).toEqual([
      ['inputs.prometheus', 200],
      ['inputs.http', 200],
    ])
    const [metricsAnswer, readingsAnswer] = answers
    expect(metricsAnswer?.answer.headers.get('content-type')).toMatch(
      /^text\/plain; version=0\.0\.4/,
    )
    expect(await metricsAnswer?.answer.text()).toContain('\nstreamvault_journal_head ')
    const settings = readingsAnswer?.settings ?? {}
    const key = (name: string) => settings[`json_v2.object.${name}`]
    const body = (await readingsAnswer?.answer.json()) as Readonly<
      Record<string, readonly object[]>
    >
    const [item] = body[String(key('path'))] ?? []
    const [tag] = key('tags') as readonly string[]
    expect(item).toMatchObject({
      [String(tag)]: environment['STREAM'],
      // 2006-01-02T15:04:05Z07:00 of Go is RFC 3339, decimals included.
      [String(key('timestamp_key'))]: expect.stringMatching(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
      ),
      host: 'vm',
      idle: expect.any(Number),
    })
  })
})
