import { globSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'

type Texts = Readonly<Record<string, string>>

/** A data source as its file says, with the values of the environment. */
export interface DataSource {
  readonly uid: string
  readonly type: string
  readonly url: string
  readonly user?: string
  readonly jsonData: Readonly<Record<string, unknown>>
  readonly secureJsonData?: Texts
}

interface DataSourceRef {
  readonly type: string
  readonly uid: string
}

/** A query of a panel; what it has beside these depends on its data source. */
export interface Target {
  readonly refId: string
  readonly datasource: DataSourceRef
  readonly [key: string]: unknown
}

export interface Panel {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly datasource: DataSourceRef
  readonly targets: readonly Target[]
}

export interface Variable {
  readonly name: string
  readonly type: string
  readonly datasource?: DataSourceRef
  readonly query: unknown
}

export interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly Variable[] }
}

/**
 * The data sources that are provisioned.
 *
 * @param environment that of Grafana, which puts it in for `$NAME`
 * @throws Error when a name has no value
 */
export function provisionedSources(environment: Texts): readonly DataSource[] {
  const files = globSync('examples/grafana/provisioning/datasources/*.yml')
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/\$(\w+)/g, (_, name: string) => {
      const value = environment[name]
      if (value === undefined) throw new Error(`${file}: Grafana has no ${name} in its environment`)
      return value
    })
    return (parse(text) as { readonly datasources: readonly DataSource[] }).datasources
  })
}

export function provisionedDashboards(): readonly Dashboard[] {
  return globSync('examples/grafana/dashboards/*.json')
    .toSorted()
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Dashboard)
}

/**
 * A text with the values of variables, in the way of Grafana: `$name`, `${name}`, and `${name:singlequote}` for a list of
 * quoted values. A name that is no variable stays as it is.
 */
export function withVariables(text: string, values: Texts): string {
  return text.replace(/\$(?:\{(\w+)(?::(\w+))?\}|(\w+))/g, (found, braced, format, bare) => {
    const value = values[String(braced ?? bare)]
    if (value === undefined) return found
    return format === 'singlequote' ? `'${value}'` : value
  })
}
