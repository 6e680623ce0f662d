import { serviceOptions } from './administration.ts'
import type { Command, Operand } from './command.ts'
import { type Filter, limitOf, moreThan, queryOf, shownValue } from './resources.ts'
import { Session } from './session.ts'
import { table } from './table.ts'

type Reading = Readonly<Record<string, unknown>> & { readonly timestamp: string }

/** Rows that are shown, unless more are asked for: what a person looks at. */
const rowsDefault = 100

const streamOperand: Operand = { name: 'STREAM', summary: 'The id of the data stream.' }

const filters: readonly Filter[] = [
  {
    name: 'start',
    value: 'TIME',
    query: 'start',
    summary: 'RFC 3339, or a time before now such as -24h; included. Default: the first reading.',
  },
  {
    name: 'end',
    value: 'TIME',
    query: 'end',
    summary: 'RFC 3339, or a time before now; excluded. Default: the last reading.',
  },
  {
    name: 'order',
    value: 'ORDER',
    query: 'order',
    choices: ['asc', 'desc'],
    summary: 'desc lists the newest first. Default: asc.',
  },
  { name: 'fields', value: 'LIST', query: 'fields', summary: 'Only these, separated by commas.' },
  {
    name: 'aggregation',
    value: 'LENGTH',
    query: 'aggregation',
    summary: 'Averages and the like of windows, such as 5m, 1h or 1d, in place of readings.',
  },
]

const list: Command = {
  name: 'readings list',
  summary: 'List the stored readings of a data stream.',
  operands: [streamOperand],
  options: [
    ...filters,
    { name: 'limit', value: 'N', summary: `At most N of them. Default: ${rowsDefault}.` },
    ...serviceOptions,
  ],
  async run(input) {
    const max = limitOf(input) ?? rowsDefault
    const { items, isCut } = await Session.open(input).list<Reading>({
      path: `/streams/${encodeURIComponent(input.operands['STREAM'] ?? '')}/data`,
      query: queryOf(filters, input),
      member: 'data',
      max,
    })
    const fields = [...new Set(items.flatMap((item) => Object.keys(item)))]
    const columns = fields.filter((field) => field !== 'timestamp')
    const rows = items.map((item) => [
      item.timestamp.replace('.000000Z', 'Z'),
      ...columns.map((column) => shownValue(item[column])),
    ])
    const headings = ['TIME', ...columns]
    return {
      json: items,
      text: table(headings, rows),
      ...(isCut && { notice: moreThan(items.length) }),
    }
  },
}

export const readingCommands: readonly Command[] = [list]
