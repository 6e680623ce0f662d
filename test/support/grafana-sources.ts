import { spawnSync } from 'node:child_process'
import { Client } from 'pg'
import { type DataSource, type Target, withVariables } from './grafana-files.ts'

type Texts = Readonly<Record<string, string>>
export type Row = Readonly<Record<string, unknown>>

interface KeyValue {
  readonly key: string
  readonly value: string
}

/** What a query of Infinity says (pkg/models/query.go of grafana-infinity-datasource 3.11). */
interface InfinityQuery extends Target {
  readonly type: string
  readonly parser: string
  readonly url: string
  readonly url_options: {
    readonly method: string
    readonly params: readonly KeyValue[]
    readonly body_content_type?: string
    readonly data?: string
  }
  readonly root_selector: string
  readonly columns: readonly {
    readonly selector: string
    readonly text: string
    readonly type: string
  }[]
}

/**
 * Asks what the data source Infinity asks for a query of the type `json`: the same method, address, headers and body, and
 * takes the rows out of the answer as it does. It puts variables into addresses, parameters, bodies and selectors of the
 * root only, so a column that has one is never found.
 *
 * @throws Error when the answer is none that Infinity takes
 */
export async function infinityRows(
  source: DataSource,
  target: Target,
  values: Texts,
): Promise<readonly Row[]> {
  const query = target as InfinityQuery
  const { method, params, body_content_type: contentType, data } = query.url_options
  const url = new URL(source.url + withVariables(query.url, values))
  for (const { key, value } of params) url.searchParams.append(key, withVariables(value, values))
  url.searchParams.sort()
  const body = data === undefined ? {} : { body: withVariables(data, values) }
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/json;q=0.9,text/plain',
      ...(contentType !== undefined && { 'content-type': contentType }),
      'accept-encoding': 'gzip',
      ...headersOf(source),
    },
    ...body,
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url.href}: ${response.status} ${text}`)
  const root = rootOf(text, query, withVariables(query.root_selector, values))
  const items = (Array.isArray(root) ? root : [root]) as readonly Row[]
  if (query.columns.length === 0) return items
  return items.map((item) =>
    Object.fromEntries(
      query.columns.map(({ selector, text: name, type }) => [name, valueOf(item[selector], type)]),
    ),
  )
}

function headersOf({ jsonData, secureJsonData = {} }: DataSource): Texts {
  const names = Object.entries(jsonData).flatMap(([key, name]) => {
    const [, number] = /^httpHeaderName(\d+)$/.exec(key) ?? []
    return number === undefined
      ? []
      : [[String(name), secureJsonData[`httpHeaderValue${number}`] ?? '']]
  })
  return Object.fromEntries(names) as Texts
}

function rootOf(text: string, { parser }: InfinityQuery, selector: string): unknown {
  if (parser === 'jq-backend') {
    const { status, stdout, stderr } = spawnSync('jq', ['-c', selector], {
      input: text,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`jq ${selector}: ${stderr}`)
    return JSON.parse(stdout)
  }
  const parts = selector.split('.').filter((part) => part !== '')
  return parts.reduce<unknown>((value, part) => (value as Row)[part], JSON.parse(text))
}

/** Infinity shows nothing where a value does not fit the type of its column. */
function valueOf(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return undefined
  if (type === 'timestamp') {
    const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
    return Number.isNaN(ms) ? undefined : new Date(ms)
  }
  return typeof value === type ? value : undefined
}

/** The statement that the PostgreSQL data source sends (its macros.go), with the variables that the page has put in before. */
export function sqlOf(rawSql: string, values: Texts): string {
  const [from, to] = ['__from', '__to'].map((name) => new Date(Number(values[name])).toISOString())
  return withVariables(rawSql, values).replace(
    /\$__timeFilter\(([^)]*)\)/g,
    (_, column: string) => `${column} BETWEEN '${from}' AND '${to}'`,
  )
}

/** A connection as the PostgreSQL data source makes it. */
export async function postgresClient({
  url,
  user,
  jsonData,
  secureJsonData,
}: DataSource): Promise<Client> {
  const [host, port] = url.split(':')
  const client = new Client({
    host: String(host),
    port: Number(port),
    user: String(user),
    password: String(secureJsonData?.['password']),
    database: String(jsonData['database']),
    ssl: jsonData['sslmode'] !== 'disable',
  })
  await client.connect()
  return client
}

/** Asks Prometheus as its data source does: a range for what is drawn. */
export async function prometheusRows(
  source: Pick<DataSource, 'url'>,
  expr: string,
  values: Texts,
): Promise<readonly Row[]> {
  const [start, end] = ['__from', '__to'].map((name) => String(Number(values[name]) / 1_000))
  const response = await fetch(`${source.url}/api/v1/query_range`, {
    method: 'POST',
    body: new URLSearchParams({
      query: withVariables(expr, values),
      start: String(start),
      end: String(end),
      step: '1',
    }),
  })
  const answer = (await response.json()) as {
    readonly status: string
    readonly error?: string
    readonly data?: { readonly result: readonly Row[] }
  }
  if (answer.status !== 'success') throw new Error(`${expr}: ${answer.error}`)
  return answer.data?.result ?? []
}
