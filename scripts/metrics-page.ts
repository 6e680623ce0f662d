/** A figure of `GET /metrics`, with all that is said of it there. */
export interface MetricFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  /** In the order of the alphabet. */
  readonly labels: readonly string[]
}

/** With these `GET /metrics` has every figure: those of ledgers are there when one is set. */
export const settingsForAllMetrics = {
  STREAMVAULT_LEDGER_XRPL: 'http://127.0.0.1:1/',
  STREAMVAULT_LEDGER_XRPL_NETWORK: 'xrpl:1234',
}

/** Labels of figures that have no value in a service that was just started. */
const labelsOfTheEmpty: Readonly<Record<string, readonly string[]>> = {
  streamvault_ledger_anchors_left: ['network'],
  streamvault_nodejs_active_requests: ['type'],
}

const head = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm

/** What a text in the format of Prometheus has. @throws Error when nothing is known of the labels of a figure */
export function metricFamilies(text: string): readonly MetricFamily[] {
  const heads = [...text.matchAll(head)]
  return heads.map(({ index, 1: name = '', 2: help = '', 3: type = '' }, place) => {
    const samples = text
      .slice(index, heads[place + 1]?.index)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    const seen = samples.flatMap((line) =>
      [...line.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    )
    const labels = samples.length > 0 ? seen : labelsOfTheEmpty[name]
    if (labels === undefined) throw new Error(`${name} has no value, and no known labels`)
    return { name, type, help, labels: [...new Set(labels)].toSorted() }
  })
}

const marked = /^<!-- metrics: ([^>\n]+) -->\n.*?^<!-- end -->$/gms

/**
 * A page whose tables of metrics are written anew, each between its mark and `<!-- end -->`. A mark has beginnings of names,
 * without `streamvault_`; the longest one that fits decides.
 *
 * @throws Error when a metric has no place, or a mark no metric
 */
export function withMetricTables(page: string, families: readonly MetricFamily[]): string {
  const beginnings = [...page.matchAll(marked)].flatMap(([, names = '']) => names.split(' '))
  const placed = Map.groupBy(families, ({ name }) => beginningOf(name, beginnings))
  return page.replace(marked, (_, names: string) => {
    const rows = names.split(' ').flatMap((beginning) => {
      const found = placed.get(beginning)
      if (found === undefined) throw new Error(`no metric belongs to the mark ${beginning}`)
      return found.map(rowOf)
    })
    return [`<!-- metrics: ${names} -->`, ...tableHead, ...rows, '<!-- end -->'].join('\n')
  })
}

const tableHead = ['| metric | type | unit | labels | meaning |', '| --- | --- | --- | --- | --- |']

function beginningOf(name: string, beginnings: readonly string[]): string {
  const fitting = beginnings.filter((beginning) => name.startsWith(`streamvault_${beginning}`))
  const [longest] = fitting.toSorted((left, right) => right.length - left.length)
  if (longest === undefined) throw new Error(`${name} belongs to no mark`)
  return longest
}

function rowOf({ name, type, help, labels }: MetricFamily): string {
  const shown = labels.map((label) => `\`${label}\``).join(', ')
  return `| \`${name}\` | ${type} | ${unitOf(name, help)} | ${shown} | ${help.replace(/\.$/, '')} |`
}

function unitOf(name: string, help: string): string {
  if (help.startsWith('1 while')) return '0 or 1'
  if (/_bytes(_|$)/.test(name)) return 'bytes'
  if (/_seconds(_|$)/.test(name)) return 'seconds'
  if (name === 'streamvault_ledger_spent_total') return 'drops or wei'
  return name.endsWith('_info') ? 'always 1' : 'number'
}
