import { serviceOptions } from './administration.ts'
import { type Command, type Input, type Operand, type Option, UsageError } from './command.ts'
import { itemsMax, type ListRequest } from './pages.ts'
import { Session } from './session.ts'
import { record, table } from './table.ts'

/** An option that limits a list. */
export interface Filter extends Option {
  /** The parameter of the operation. */
  readonly query: string
}

interface Listing<Item> {
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly operands?: readonly Operand[]
  readonly path: (operands: Input['operands']) => string
  readonly filters?: readonly Filter[]
  readonly paging?: ListRequest['paging']
  readonly member?: string
  readonly headings: readonly string[]
  readonly row: (item: Item) => readonly string[]
}

export const limitOption: Option = {
  name: 'limit',
  value: 'N',
  summary: 'At most N of them. Default: 10000.',
}

/** A command that lists what the service has of a kind, page by page. */
export function listing<Item>(list: Listing<Item>): Command {
  const { name, summary, description, operands = [], filters = [] } = list
  return {
    name,
    summary,
    ...(description !== undefined && { description }),
    operands,
    options: [...filters, limitOption, ...serviceOptions],
    async run(input) {
      const max = limitOf(input)
      const { items, isCut } = await Session.open(input).list<Item>({
        path: list.path(input.operands),
        query: queryOf(filters, input),
        paging: list.paging,
        member: list.member,
        max,
      })
      return {
        json: items,
        text: table(list.headings, items.map(list.row)),
        ...(isCut && { notice: moreThan(items.length) }),
      }
    },
  }
}

/** What is said where a list was cut. */
export function moreThan(count: number): string {
  return `There are more than these ${count}: --limit N shows more, up to ${itemsMax}.`
}

/** @throws UsageError */
export function limitOf({ options }: Input): number | undefined {
  const text = options['limit']
  if (text === undefined) return undefined
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= itemsMax) return limit
  throw new UsageError(`--limit must be a number from 1 to ${itemsMax}, not '${text}'`)
}

/** The parameters of a request, of the options that were given: `true` for one without a value. */
export function queryOf(
  filters: readonly Filter[],
  { options }: Pick<Input, 'options'>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    filters.map(({ name, query, value }) => {
      const given = options[name]
      return [query, value === undefined && given !== undefined ? 'true' : given]
    }),
  )
}

/** What commands about one thing of a kind have in common. */
interface One<Body> {
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly operand: Operand
  /** Its address, by its id as it was typed and encoded. */
  readonly path: (id: string) => string
  readonly facts: (body: Body) => Readonly<Record<string, string>>
}

/** A command that shows one thing. */
export function showing<Body>({ facts, path, operand, ...rest }: One<Body>): Command {
  return {
    ...rest,
    operands: [operand],
    options: serviceOptions,
    async run(input) {
      const request = { method: 'GET', path: path(idOf(input, operand)) } as const
      const body = await Session.open(input).call<Body>(request)
      return { json: body, text: record(facts(body)) }
    },
  }
}

interface Acting<Body> extends One<Body> {
  readonly method?: 'POST' | 'PUT'
  readonly options?: readonly Option[]
  readonly body?: (input: Input) => object
  /** A remark beside the result. */
  readonly notice?: string
}

/** A command that does something to one thing, and shows it as it is then. */
export function acting<Body>(needs: Acting<Body>): Command {
  const { name, summary, description, operand, path, facts } = needs
  return {
    name,
    summary,
    ...(description !== undefined && { description }),
    operands: [operand],
    options: [...(needs.options ?? []), ...serviceOptions],
    async run(input) {
      const body = await Session.open(input).call<Body>({
        method: needs.method ?? 'POST',
        path: path(idOf(input, operand)),
        body: needs.body?.(input) ?? {},
      })
      return {
        json: body,
        text: record(facts(body)),
        ...(needs.notice !== undefined && { notice: needs.notice }),
      }
    },
  }
}

interface Deleting {
  readonly name: string
  readonly summary: string
  readonly operand: Operand
  readonly path: (id: string) => string
  /** The member with the id in what `--json` prints. */
  readonly idName: string
}

/** A command that deletes one thing. */
export function deleting({ operand, path, idName, ...rest }: Deleting): Command {
  return {
    ...rest,
    operands: [operand],
    options: serviceOptions,
    async run(input) {
      await Session.open(input).remove(path(idOf(input, operand)))
      const id = input.operands[operand.name] ?? ''
      return { json: { [idName]: id, deleted: true }, text: `deleted ${id}` }
    },
  }
}

function idOf({ operands }: Input, { name }: Operand): string {
  return encodeURIComponent(operands[name] ?? '')
}

/** What stands in a list, separated by commas. */
export function listed(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

/** A time without its fraction, for a table. */
export function shownTime(time: string | null | undefined, otherwise = '-'): string {
  return time?.replace(/\.\d+Z$/, 'Z') ?? otherwise
}

/** A value of a reading or a threshold. */
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
