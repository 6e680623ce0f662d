import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'
import { SteadyLoad } from '../support/steady-load.ts'
import {
  expectStopBeside,
  expectStopBy,
  expectStopWhileItStarts,
  halfRequest,
  opened,
} from '../support/stopped-services.ts'

const services = startedServices()
const { newFolder, launch, start } = services

describe('starting', () => {
  test('prints listening with both addresses once it takes readings at them', async () => {
    const { http, mqttPort } = await start(newFolder())

    const api = new ApiClient(http)
    const streamId = await api.createStream()
    const device = await connectAsync({
      host: '127.0.0.1',
      port: mqttPort,
      username: adminKey,
      password: adminSecret,
    })
    await device.publishAsync(`streams/${streamId}/data`, '{"temperature":1}', { qos: 1 })
    await device.endAsync()

    expect(await api.settled(streamId, 1)).toMatchObject({ stored: 1 })
  })

  test('prints listening even when nothing else is logged', async () => {
    const process = await launch(newFolder(), { STREAMVAULT_LOG_LEVEL: 'silent' })

    await expect
      .poll(() => process.output())
      .toMatch(/^listening http:\/\/127\.0\.0\.1:\d+ mqtt:\/\/127\.0\.0\.1:\d+$/m)
  })

  test('leaves MQTT out when its port is 0', async () => {
    const { mqttPort, output } = await start(newFolder(), { STREAMVAULT_MQTT_PORT: '0' })

    expect(mqttPort).toBe(0)
    expect(output()).toContain('"mqtt":"off"')
  })

  test('makes the data folder when it is missing, for its owner only', async () => {
    const folder = join(newFolder(), 'deep', 'data')

    await start(folder)

    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600)
  })

  test('is refused on a data folder that another process uses, which goes on', async () => {
    const folder = newFolder()
    const { http } = await start(folder)

    const second = await launch(folder)

    expect(await second.exited).toBe(1)
    expect(second.output()).toContain(folder)
    expect(second.output()).toMatch(/used by another process/)
    expect(second.output()).not.toMatch(/\n\s+at /)
    expect((await fetch(`${http}/health/ready`)).status).toBe(200)
  })

  test('is refused on a port that is taken, with exit code 1 and its number', async () => {
    const { http } = await start(newFolder())
    const { port } = new URL(http)

    const second = await launch(newFolder(), { STREAMVAULT_HTTP_PORT: port })

    expect(await second.exited).toBe(1)
    expect(second.output()).toContain(port)
    expect(second.output()).not.toMatch(/\n\s+at /)
  })

  test.each(['state.db', 'mqtt-sessions.db', 'journal.db', 'time-series.duckdb'])(
    'is refused where %s is none, in order, and with nothing but the reason',
    async (name) => {
      const folder = newFolder()
      writeFileSync(join(folder, name), randomBytes(9_000))

      const process = await launch(folder)

      expect(await process.exited).toBe(1)
      expect(process.output()).toMatch(/^streamvault: cannot go on: .*not a.* database.*\n$/m)
      expect(process.output()).not.toContain('terminate')
    },
  )

  test('is refused with every problem of the environment at once, and stores nothing', async () => {
    const folder = join(newFolder(), 'data')

    const process = await launch(folder, {
      STREAMVAULT_HTTP_PORT: 'eighty',
      STREAMVAULT_MQTT_PORT: '70000',
      STREAMVAULT_ADMIN_SECRET: 'hush-hush',
      STREAMVAULT_MASTER_KEY: 'c2hvcnQ=',
      STREAMVAULT_PUBLIC_URL: 'vault.example',
      STREAMVAULT_JOURNAL_MAX: 'plenty',
      STREAMVAULT_LOG_LEVEL: 'loud',
      STREAMVAULT_TIMESERIES_URL: 'influx://host',
      STREAMVAULT_STATE_URL: 'mongo://host',
      STREAMVAULT_JOURNAL_URL: 'pulsar://host',
    })

    expect(await process.exited).toBe(1)
    const named = process.output().match(/^STREAMVAULT_[A-Z_]+/gm)
    expect(named?.toSorted()).toEqual([
      'STREAMVAULT_ADMIN_SECRET',
      'STREAMVAULT_HTTP_PORT',
      'STREAMVAULT_JOURNAL_MAX',
      'STREAMVAULT_JOURNAL_URL',
      'STREAMVAULT_LOG_LEVEL',
      'STREAMVAULT_MASTER_KEY',
      'STREAMVAULT_MQTT_PORT',
      'STREAMVAULT_PUBLIC_URL',
      'STREAMVAULT_STATE_URL',
      'STREAMVAULT_TIMESERIES_URL',
    ])
    expect(process.output()).not.toMatch(/hush-hush|c2hvcnQ=|\n\s+at /)
    expect(existsSync(folder)).toBe(false)
  })
})

describe('stopping', () => {
  test('by SIGTERM exits 0', async () => {
    await expectStopBy(services, 'SIGTERM')
  })

  test('leaves whole databases, and nothing that still has to be brought into them', async () => {
    const folder = newFolder()
    const { http, end } = await start(folder)
    await new ApiClient(http).createStream()

    await end('SIGTERM')

    expect(readdirSync(folder).filter((name) => /-(wal|shm)$|\.wal$/.test(name))).toEqual([])
  })

  test('under load exits 0 within 10 s and keeps everything that was acknowledged', async () => {
    const folder = newFolder()
    const service = await start(folder)
    const streamId = await new ApiClient(service.http).createStream()
    const load = new SteadyLoad(service, streamId)
    await load.acknowledgedAtLeast(400)

    const stoppedMs = performance.now()
    expect(await service.end('SIGTERM')).toBe(0)

    expect(performance.now() - stoppedMs).toBeLessThan(10_000)
    const acknowledged = await load.end()
    const api = new ApiClient((await start(folder)).http)
    const counters = await api.settled(streamId, acknowledged.size)
    const values = (await api.readAll(streamId)).map(({ temperature }) => Number(temperature))
    expect(new Set(values).size).toBe(values.length)
    expect([...acknowledged].filter((value) => !values.includes(value))).toEqual([])
    expect(counters).toMatchObject({ stored: values.length, pending: 0, quarantined: 0 })
  })

  test.each([
    ['with half a request to HTTP', { where: 'http', sent: halfRequest }],
    ['that has sent nothing to MQTT', { where: 'mqtt', sent: '' }],
  ] as const)('exits 0 within 10 s beside a connection %s', async (_, connection) => {
    await expectStopBeside(services, connection)
  })

  test('by SIGTERM while it starts exits 0', async () => {
    await expectStopWhileItStarts(services, 'SIGTERM')
  })

  test('takes two signals that come together for one', async () => {
    const process = await launch(newFolder())
    await process.listening()

    process.signal('SIGTERM')
    process.signal('SIGINT')

    expect(await process.exited).toBe(0)
    expect(process.output()).not.toContain('stopping at once')
  })

  test('waits for nothing more after a signal that comes later', async () => {
    // Requests under way are not broken off here, so that stopping takes as long as it may.
    const patient =
      'import { Server } from "node:http"; Server.prototype.closeAllConnections = () => undefined'
    const process = await launch(newFolder(), {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(patient)}`,
    })
    const { http } = await process.listening()
    const slow = await opened(Number(new URL(http).port), halfRequest)

    // Signals of the first moments are taken for one.
    const again = setInterval(() => process.signal('SIGTERM'), 200)

    expect(await process.exited).toBe(1)
    clearInterval(again)
    slow.destroy()
    expect(process.output()).toContain('stopping at once')
  })
})
