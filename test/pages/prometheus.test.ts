import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../../scripts/servers/free-port.ts'
import { toolsFolder } from '../../scripts/servers/questdb-jar.ts'
import { readSettings } from '../../src/config/config.ts'
import { provisionedDashboards } from '../support/grafana-files.ts'
import { prometheusRows } from '../support/grafana-sources.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'
import { isPrometheusMissing, Prometheus } from '../support/prometheus.ts'
import { runningService } from '../support/running-service.ts'

const page = 'docs/integrations/prometheus.md'
const rulesFile = 'examples/prometheus/streamvault.rules.yml'

interface Rule {
  readonly alert: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

const { groups } = parse(readFileSync(rulesFile, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)

describe.skipIf(isPrometheusMissing || isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    reader = await PageRun.start(page)
    // What Debian's package has in its place, and the folder that the reader is in.
    await reader.shell.run(
      `PATH=${toolsFolder}/bin:$PATH PROMETHEUS_PORT=${await freePort()}\nln -s ${resolve('examples')} examples`,
    )
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )
})

const service = runningService()

describe('alert rules', () => {
  test('have an example each that raises them', () => {
    const { tests } = parse(
      readFileSync('examples/prometheus/streamvault.rules.test.yml', 'utf8'),
    ) as {
      readonly tests: readonly {
        readonly promql_expr_test: readonly {
          readonly exp_samples: readonly { readonly labels: string }[]
        }[]
      }[]
    }
    const raised = tests.flatMap(({ promql_expr_test: [one] }) =>
      (one?.exp_samples ?? []).map(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1]),
    )
    expect(rules.map(({ alert }) => alert).filter((name) => !raised.includes(name))).toEqual([])
  })

  test('name operations, pages and settings that exist', async () => {
    const document = await (await fetch(`${service.process.http}/openapi.json`)).json()
    const { paths } = document as { readonly paths: Readonly<Record<string, object>> }
    const settings = readSettings({}).known
    const wrong = rules.flatMap(({ alert, annotations: { description } }) => {
      const operations = [...description.matchAll(/`GET ([^`?]+)/g)].map(([, path = '']) => path)
      const pages = description.match(/docs\/[\w-]+\.md/g) ?? []
      const named = description.match(/STREAMVAULT_\w+/g) ?? []
      return [
        ...operations.filter((path) => !('get' in (paths[path] ?? {}))),
        ...pages.filter((path) => !existsSync(path)),
        ...named.filter((name) => !settings.has(name)),
      ].map((what) => `${alert}: ${what}`)
    })
    expect(wrong).toEqual([])
  })
})

describe.skipIf(isPrometheusMissing)('the dashboard of the service', () => {
  let prometheus: Prometheus | undefined

  beforeAll(async () => {
    const configuration = readFileSync('examples/prometheus/prometheus.yml', 'utf8')
    prometheus = await Prometheus.start(
      configuration
        .replace('127.0.0.1:8080', new URL(service.process.http).host)
        .replaceAll('interval: 5s', 'interval: 1s')
        .replace('streamvault.rules.yml', resolve(rulesFile)),
    )
    const streamId = await service.api.createStream()
    await service.api.withToken('POST', `/streams/${streamId}/data`, { temperature: 1 })
    await service.api.settled(streamId, 1)
    const rate = 'rate(streamvault_readings_accepted_total[1m])'
    await vi.waitUntil(async () => (await rowsOf(rate)).length > 0, 60_000)
  })

  afterAll(async () => await prometheus?.[Symbol.asyncDispose]())

  async function rowsOf(expr: string) {
    const nowMs = Date.now()
    const values = {
      __from: String(nowMs - 60_000),
      __to: String(nowMs),
      __rate_interval: '1m',
      instance: '.*',
    }
    return await prometheusRows({ url: prometheus?.url ?? '' }, expr, values)
  }

  const dashboard = provisionedDashboards().find(({ uid }) => uid === 'streamvault-service')
  const queries = (dashboard?.panels ?? []).flatMap(({ title, targets }) =>
    targets.map(({ refId, expr }) => [`${title} ${refId}`, String(expr)] as const),
  )

  test('is about one instance, or all', () => {
    expect(queries.filter(([, expr]) => !expr.includes('{instance=~"$instance"}'))).toEqual([])
  })

  test.each(queries)('has something to show in %s', async (_, expr) => {
    expect(await rowsOf(expr)).not.toEqual([])
  })

  test('is beside rules that a real service raises none of', async () => {
    interface Judged {
      readonly data: {
        readonly groups: readonly {
          readonly rules: readonly {
            readonly name: string
            readonly state: string
            readonly health: string
          }[]
        }[]
      }
    }
    const judged = async () => {
      const { data } = (await (await fetch(`${prometheus?.url}/api/v1/rules`)).json()) as Judged
      return data.groups.flatMap((group) => group.rules)
    }
    await expect
      .poll(async () => (await judged()).filter(({ health }) => health !== 'ok'))
      .toEqual([])
    expect((await judged()).filter(({ state }) => state === 'firing')).toEqual([])
    expect(await judged()).toHaveLength(rules.length)
  })
})
