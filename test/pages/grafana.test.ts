import { globSync, readFileSync } from 'node:fs'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../../scripts/servers/free-port.ts'
import {
  type Dashboard,
  type DataSource,
  provisionedDashboards,
  provisionedSources,
  type Target,
  type Variable,
} from '../support/grafana-files.ts'
import { infinityRows, postgresClient, sqlOf } from '../support/grafana-sources.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import { runningService } from '../support/running-service.ts'
import { ServiceWithQuestDb } from '../support/service-with-questdb.ts'

const page = 'docs/integrations/grafana.md'
const dashboards = provisionedDashboards()

/** What the page has people set, with the values of a test. */
const environment = {
  STREAMVAULT_URL: 'http://127.0.0.1:8080',
  STREAMVAULT_KEY: 'key',
  STREAMVAULT_SECRET: 'secret',
  PROMETHEUS_URL: 'http://127.0.0.1:9090',
  QUESTDB_PG: '127.0.0.1:8812',
  QUESTDB_USER: 'grafana',
  QUESTDB_PASSWORD: 'change-me',
}

function sourceWith(uid: string, values: Readonly<Record<string, string>>): DataSource {
  const found = provisionedSources({ ...environment, ...values }).find((one) => one.uid === uid)
  if (found === undefined) throw new Error(`no data source ${uid} is provisioned`)
  return found
}

function dashboardOf(uid: string): Dashboard {
  const found = dashboards.find((one) => one.uid === uid)
  if (found === undefined) throw new Error(`there is no dashboard ${uid}`)
  return found
}

function queriesOf({ panels }: Dashboard): readonly (readonly [string, Target])[] {
  return panels.flatMap(({ title, targets }) =>
    targets.map((target) => [`${title} ${target.refId}`, target] as const),
  )
}

function variableOf({ templating }: Dashboard, name: string): Variable {
  const found = templating.list.find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no variable ${name}`)
  return found
}

/** What Grafana gives each query: a range in milliseconds, and an interval. */
function rangeValues(fromMs: number, toMs: number): Readonly<Record<string, string>> {
  return { __from: String(fromMs), __to: String(toMs), __interval: '1m' }
}

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    reader = await PageRun.start(page)
    const [settings, stream] = pageBlocks('docs/connect-a-device.md')
    await reader.shell.run(`${settings?.text}\n${stream?.text}`)
    const readings = [61.5, 62].map((temperature, minute) => ({
      timestamp: `2026-01-31T10:0${minute}:00Z`,
      temperature,
    }))
    await reader.shell.run(`post /streams/$STREAM/data "$OWNER" '${JSON.stringify(readings)}'`)
    const stored = `curl -s $API/streams/$STREAM/latest -H "$OWNER" | jq -c .data.temperature`
    await vi.waitUntil(async () => (await reader?.shell.run(stored)) === '62\n', 60_000)
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )
})

describe('the files of Grafana', () => {
  const types = new Map(provisionedSources(environment).map(({ uid, type }) => [uid, type]))

  test.each(dashboards.map((one) => [one.uid, one] as const))(
    'have a dashboard %s that is well formed',
    (_, { panels, templating }) => {
      const ids = panels.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      for (const { title, datasource, targets, gridPos } of panels) {
        expect([title, types.get(datasource.uid)]).toEqual([title, datasource.type])
        expect(targets.length).toBeGreaterThan(0)
        for (const target of targets) expect(target.datasource).toEqual(datasource)
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
      }
      // A column of QuestDB has a dollar, too.
      const names = new Set([...templating.list.map(({ name }) => name), 'removedBy'])
      for (const { datasource } of templating.list) {
        if (datasource !== undefined) expect(types.get(datasource.uid)).toBe(datasource.type)
      }
      const used = [...JSON.stringify([panels, templating]).matchAll(/\$\{?([a-z]\w*)/g)]
      expect(used.map(([, name = '']) => name).filter((name) => !names.has(name))).toEqual([])
    },
  )

  test('have panels that do not lie upon each other', () => {
    const cells = dashboards.flatMap(({ uid, panels }) =>
      panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from(
          { length: w * h },
          (_, cell) => `${uid} ${x + (cell % w)} ${y + Math.floor(cell / w)}`,
        ),
      ),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })

  test('need no variable that the page does not name', () => {
    const text = readFileSync(page, 'utf8')
    const files = globSync('examples/grafana/provisioning/**/*.yml')
    const used = files.flatMap((file) => readFileSync(file, 'utf8').match(/\$\w+/g) ?? [])
    expect(
      used.filter(
        (name) =>
          !text.includes(`| \`${name.slice(1)}\``) && !text.includes(`, \`${name.slice(1)}\``),
      ),
    ).toEqual([])
    const provider = parse(
      readFileSync('examples/grafana/provisioning/dashboards/streamvault.yml', 'utf8'),
    )
    expect(provider).toMatchObject({ apiVersion: 1, providers: [{ type: 'file' }] })
  })
})

describe('the calls of the data source Infinity', () => {
  const service = runningService()
  const dashboard = dashboardOf('streamvault-readings')
  let source: DataSource
  let values: Readonly<Record<string, string>>

  beforeAll(async () => {
    const { api } = service
    const key = await api.withKey<{ apiKey: string; apiSecret: string }>('POST', '/keys', {
      name: 'grafana',
      kind: 'live',
      permission: 'read_only',
    })
    source = sourceWith('streamvault-http', {
      STREAMVAULT_URL: service.process.http,
      STREAMVAULT_KEY: key.body.apiKey,
      STREAMVAULT_SECRET: key.body.apiSecret,
    })
    const stream = await api.createStream(
      { temperature: { type: 'number' }, mode: { type: 'string' } },
      { processing: { alertThresholds: { temperature: { max: 80 } } } },
    )
    const beganMs = Date.now()
    const readings = [61.5, 62, 90].map((temperature, second) => ({
      timestamp: new Date(beganMs - 60_000 + second * 1_000).toISOString(),
      temperature,
      mode: 'eco',
    }))
    await api.withToken('POST', `/streams/${stream}/data`, [...readings, { temperature: 'hot' }])
    await api.settled(stream, 4)
    const alerts = async () => (await api.withToken<readonly unknown[]>('GET', '/alerts')).body
    await vi.waitUntil(async () => (await alerts()).length > 0, 60_000)
    values = { ...rangeValues(beganMs - 3_600_000, beganMs + 60_000), field: 'temperature' }
  })

  /** The choices of a variable, as people get them; the first one is taken. */
  async function choose(name: string): Promise<string> {
    const { query } = variableOf(dashboard, name)
    const { infinityQuery } = query as { readonly infinityQuery: Target }
    const [first] = await infinityRows(source, infinityQuery, values)
    return String(first?.['__value'])
  }

  test('find the vaults, and the streams of one', async () => {
    values = { ...values, vault: await choose('vault') }
    values = { ...values, stream: await choose('stream') }
    expect(values).toMatchObject({ vault: expect.stringMatching(/^[\da-f-]{36}$/) })
    const { api } = service
    expect((await api.withToken('GET', `/streams/${values['stream']}`)).body).toMatchObject({
      vaultId: values['vault'],
    })
  })

  test.each(queriesOf(dashboard))('have rows, and no empty column, for %s', async (_, target) => {
    const rows = await infinityRows(source, target, values)
    expect(rows).not.toEqual([])
    for (const { text } of target['columns'] as readonly { readonly text: string }[]) {
      // An alert that goes on was not cleared yet.
      if (text !== 'cleared')
        expect([text, rows.some((row) => row[text] !== undefined)]).toEqual([text, true])
    }
  })

  test('have the values of the readings', async () => {
    const [[, target] = []] = queriesOf(dashboard)
    const rows = target === undefined ? [] : await infinityRows(source, target, values)
    const extremes = ['least', 'greatest'].map((name) => rows.map((row) => Number(row[name])))
    expect([Math.min(...(extremes[0] ?? [])), Math.max(...(extremes[1] ?? []))]).toEqual([61.5, 90])
  })

  test('have no variable where Infinity puts none in', () => {
    const selectors = queriesOf(dashboard).flatMap(
      ([, { columns }]) => columns as readonly { readonly selector: string }[],
    )
    expect(selectors.filter(({ selector }) => selector.includes('$'))).toEqual([])
  })
})

describe.skipIf(isQuestDbMissing)('the SQL of the PostgreSQL data source', () => {
  const dashboard = dashboardOf('streamvault-questdb')
  const ending = new AsyncDisposableStack()
  let client: Client
  let service: ServiceWithQuestDb
  let values: Readonly<Record<string, string>>

  beforeAll(async () => {
    const port = await freePort()
    const { QUESTDB_USER: user, QUESTDB_PASSWORD: password } = environment
    const questDb = ending.use(
      await QuestDb.start([
        'pg.enabled=true',
        `pg.net.bind.to=127.0.0.1:${port}`,
        'pg.readonly.user.enabled=true',
        `pg.readonly.user=${user}`,
        `pg.readonly.password=${password}`,
      ]),
    )
    service = ending.use(await ServiceWithQuestDb.start(questDb.port))
    const path = `/streams/${service.streamId}/data`
    const nowMs = Date.now()
    const times = [0, 1, 2].map((minute) => new Date(nowMs - minute * 60_000).toISOString())
    const readings = times.map((timestamp, number) => ({ timestamp, temperature: 20 + number }))
    await service.api.withToken('POST', path, readings)
    await service.api.settled(service.streamId, 3)
    // The oldest one is marked, and has to be in no answer.
    await service.api.withToken('DELETE', `${path}?start=${times[2]}&end=${times[1]}`)
    client = await postgresClient(
      sourceWith('streamvault-questdb', { QUESTDB_PG: `127.0.0.1:${port}` }),
    )
    ending.defer(async () => await client.end())
    values = rangeValues(nowMs - 3_600_000, nowMs + 60_000)
    await vi.waitUntil(async () => (await rowsOf('SELECT table_name FROM tables()')).length > 0)
  })

  afterAll(async () => await ending.disposeAsync())

  async function rowsOf(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return (await client.query(sqlOf(sql, values))).rows
  }

  test('finds tables, fields and streams', async () => {
    for (const name of ['table', 'field', 'stream']) {
      const [first] = await rowsOf(String(variableOf(dashboard, name).query))
      values = { ...values, [name]: String(Object.values(first ?? {})[0]) }
    }
    expect(values).toMatchObject({ field: 'temperature', stream: service.streamId })
  })

  test.each(queriesOf(dashboard))('has rows for %s', async (_, target) => {
    const rows = await rowsOf(String(target['rawSql']))
    expect(rows).not.toEqual([])
    expect(rows[0]?.['time']).toBeInstanceOf(Date)
  })

  test('shows what is there, without what was removed', async () => {
    const sql = queriesOf(dashboard).map(([, target]) => String(target['rawSql']))
    const newest = await rowsOf(sql.at(-1) ?? '')
    expect(newest.map(({ temperature }) => temperature)).toEqual([20, 21])
    expect(await rowsOf(sql[0] ?? '')).toHaveLength(2)
  })

  test('cannot change anything', async () => {
    await expect(client.query(`DROP TABLE "${values['table']}"`)).rejects.toThrow()
    expect(await rowsOf(`SELECT count() AS readings FROM "${values['table']}"`)).not.toEqual([])
  })
})
