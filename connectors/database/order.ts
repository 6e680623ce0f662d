import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { NaiveTimes } from '../../src/core/naive-times.ts'
import type { Column, ColumnKind, Row } from './dialect.ts'
import type { DatabaseOptions } from './options.ts'
import type { Order, Place } from './statements.ts'

const timeKinds: readonly ColumnKind[] = ['time', 'naive', 'date']

const dayUs = 86_400_000_000

const utc = new NaiveTimes('UTC')

/** @throws SourceRefused where the query has no such columns, or rows cannot be ordered by them */
export function orderOf(columns: readonly Column[], options: DatabaseOptions): Order {
  const names = columns.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new SourceRefused(`two columns of the query are called ${twice}`)
  const { incremental, key, lookBehind } = options
  const order = { incremental: find(columns, incremental), key: find(columns, key) }
  for (const column of [order.incremental, order.key]) {
    if (column?.kind !== 'other') continue
    throw new SourceRefused(
      `rows cannot be ordered by ${column.name}: it is not a number, text or time`,
    )
  }
  if (!order.incremental) return order
  const { name, kind } = order.incremental
  if (lookBehind.rows === undefined && !timeKinds.includes(kind)) {
    throw new SourceRefused(`${name} is not a time: lookBehind must be a number of rows`)
  }
  if (!order.key && kind === 'text') {
    throw new SourceRefused(`${name} is a text: rows can only be distinguished with a keyColumn`)
  }
  return order
}

function find(columns: readonly Column[], name: string | undefined): Column | undefined {
  if (name === undefined) return undefined
  const alike = columns.filter((column) => column.name.toLowerCase() === name.toLowerCase())
  const column =
    columns.find((one) => one.name === name) ?? (alike.length === 1 ? alike[0] : undefined)
  if (column) return column
  const known = columns.slice(0, 50).map((one) => one.name)
  throw new SourceRefused(`the query has no column ${name}, but ${known.join(', ')}`)
}

/** Whether rows pass as time goes by, rather than as others come behind them. */
export function passesByTime({ incremental }: Order, { lookBehind }: DatabaseOptions): boolean {
  const isTime = incremental !== undefined && timeKinds.includes(incremental.kind)
  return isTime && lookBehind.us !== undefined
}

export interface PlacesNeeds {
  readonly order: Order
  readonly columns: readonly Column[]
  readonly times: NaiveTimes
}

/** Finds out where rows of a result stand in the order. */
export class Places {
  readonly #needs: PlacesNeeds
  readonly #indexes: readonly number[]

  constructor(needs: PlacesNeeds) {
    this.#needs = needs
    const { order, columns } = needs
    const ordering = [order.incremental, order.key].filter((column) => column !== undefined)
    this.#indexes = ordering.map(({ name }) => columns.findIndex((column) => column.name === name))
  }

  /** @throws SourceRefused where a row has no key */
  of(row: Row): Place {
    const { order } = this.#needs
    return this.#indexes.map((index, at) => {
      const value = row[index]
      if (value !== null && value !== undefined) return String(value)
      const column = at === 0 && order.incremental ? order.incremental : order.key
      throw new SourceRefused(`a row has no ${column?.name}: all must have one`)
    })
  }

  /** The latest time that the first value of a place can mean. */
  latestUs([value = '']: Place): number {
    const { order, times } = this.#needs
    const kind = order.incremental?.kind ?? 'other'
    switch (kind) {
      case 'time':
        return utc.latestUs(value.replace(/\+00$/, ''))
      case 'naive':
        return value.endsWith('Z') ? utc.latestUs(value.slice(0, -1)) : times.latestUs(value)
      case 'date':
        // Rows of a day are written until it is over.
        return times.latestUs(value) + dayUs
      case 'number':
      case 'float':
      case 'text':
      case 'other':
        return Number.POSITIVE_INFINITY
      default:
        return kind satisfies never
    }
  }
}
