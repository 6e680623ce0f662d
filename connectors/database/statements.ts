import type { Bound, Column, Dialect } from './dialect.ts'
import type { DatabaseOptions } from './options.ts'

/** The columns that rows are read in the order of. */
export interface Order {
  readonly incremental: Column | undefined
  readonly key: Column | undefined
}

/** Values of these columns in one row: rows behind it are read. */
export type Place = readonly string[]

export interface StatementsNeeds extends Pick<DatabaseOptions, 'query'> {
  readonly dialect: Dialect
  readonly order: Order
}

/** Makes statements of the query of a source, which stands in them as a table that nobody else can see. */
export class Statements {
  readonly #needs: StatementsNeeds
  readonly #table: string
  readonly #columns: readonly Column[]
  readonly #isIncremental: boolean

  constructor(needs: StatementsNeeds) {
    this.#needs = needs
    const { query, order } = needs
    this.#table = tableOf(query)
    this.#columns = [order.incremental, order.key].filter((column) => column !== undefined)
    this.#isIncremental = order.incremental !== undefined
  }

  /** The first rows behind a place, or all from the first one on. */
  page(place: Place | undefined, count: number): { text: string; values: readonly Bound[] } {
    const { dialect } = this.#needs
    const names = this.#names()
    const values: Bound[] = []
    const mark = (index: number): string => {
      const { kind = 'other', type } = this.#columns[index] ?? {}
      values.push({ text: place?.[index] ?? '', kind })
      return dialect.placeholder(values.length - 1, kind, type)
    }
    const condition = place === undefined ? this.#ordered(names) : this.#behind(names, mark)
    const where = condition === '' ? '' : ` WHERE ${condition}`
    const order = names.length === 0 ? '' : ` ORDER BY ${names.join(', ')}`
    return { text: dialect.limited(`* FROM ${this.#table}${where}${order}`, count), values }
  }

  /** One row without a value to be ordered by, if there is any. */
  unordered(): string {
    const [name = ''] = this.#names()
    return this.#needs.dialect.limited(`1 AS found FROM ${this.#table} WHERE ${name} IS NULL`, 1)
  }

  #names(): readonly string[] {
    return this.#columns.map(({ name }) => this.#needs.dialect.quoted(name))
  }

  /** A missing key is not left out: that it is missing is said. */
  #ordered([first = '']: readonly string[]): string {
    return this.#isIncremental ? `${first} IS NOT NULL` : ''
  }

  #behind([first = '', second]: readonly string[], mark: (index: number) => string): string {
    if (second === undefined) return `${first} > ${mark(0)}`
    if (this.#needs.dialect.comparesPairs) return `(${first}, ${second}) > (${mark(0)}, ${mark(1)})`
    // The first part alone is what an index of the column can be asked for.
    return `${first} >= ${mark(0)} AND (${first} > ${mark(0)} OR ${second} > ${mark(1)})`
  }
}

/** What finds out the columns of a query. */
export function describing(dialect: Dialect, query: string): string {
  return dialect.limited(`* FROM ${tableOf(query)}`, 0)
}

/** The lines keep a comment at its end from taking in what follows. */
function tableOf(query: string): string {
  return `(\n${query}\n) AS streamvault_rows`
}
