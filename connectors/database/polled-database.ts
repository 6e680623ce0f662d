import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { FetchedPage, Poll, PolledSource } from '../../src/contracts/poll-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { NaiveTimes } from '../../src/core/naive-times.ts'
import { CircleCheck } from '../circle-check.ts'
import type { Dialect, Result, Session } from './dialect.ts'
import { LookBehind, rememberedMax } from './look-behind.ts'
import type { DatabaseOptions } from './options.ts'
import { orderOf, Places, passesByTime } from './order.ts'
import { MessageWriter, RowWriter } from './rows.ts'
import { describing, type Order, type Place, Statements } from './statements.ts'

/** Times of a row are rounded, by a second where a column has no fractions. */
const roundedUs = 1_000_000

/** One round: a connection, and what is known of the query. */
interface Round {
  readonly session: Session
  readonly statements: Statements
  readonly order: Order
}

/** Rows of a query as messages, in the order of a column, with those that were committed late. */
export class PolledDatabase implements PolledSource {
  readonly identity: string
  readonly #dialect: () => Promise<Dialect>
  readonly #options: DatabaseOptions
  readonly #times: NaiveTimes
  readonly #source: string

  constructor(dialect: () => Promise<Dialect>, options: DatabaseOptions) {
    const { protocol, host, port, database, query, incremental, key } = options
    this.identity = JSON.stringify([protocol, host, port, database, query, incremental, key])
    this.#dialect = dialect
    this.#options = options
    this.#times = new NaiveTimes(options.timezone)
    this.#source = `${protocol} ${host === '' ? '' : `${host}:${port}/`}${database}`
  }

  async *poll(poll: Poll): AsyncGenerator<FetchedPage, void> {
    const options = this.#options
    const dialect = await this.#dialect()
    await using session = await dialect.connect(options, poll)
    const columns = await session.describe(describing(dialect, options.query))
    const order = orderOf(columns, options)
    const round = { session, order, statements: new Statements({ ...options, dialect, order }) }
    if (!order.incremental) yield* this.#everything(round, poll.position)
    else {
      if (options.refusesNulls) await this.#refuseNulls(round)
      yield* this.#behind(round, poll.position)
    }
  }

  async #refuseNulls({ session, statements }: Round): Promise<void> {
    const { rows } = await session.read(statements.unordered(), [])
    if (rows.length === 0) return
    throw new SourceRefused(`a row has no ${this.#options.incremental}, and nulls are refused`)
  }

  /** Goes on where it is not clear yet that no rows are missing. */
  async *#behind(round: Round, first: SourcePosition | undefined): AsyncGenerator<FetchedPage> {
    const circle = new CircleCheck()
    for (let position = first; ; ) {
      const seen = new LookBehind(position, await this.#passing(round))
      const isWhole = yield* this.#pass(round, seen, position)
      if (isWhole) return
      const reached = seen.position()
      const from = JSON.stringify(reached['from'])
      if (from === JSON.stringify(position?.['from']) || circle.isBack(from ?? '')) {
        throw tooMany(this.#options, round.order)
      }
      position = reached
    }
  }

  async #passing({ session, order }: Round) {
    const { lookBehind } = this.#options
    const byTime = passesByTime(order, this.#options)
    return {
      hasKey: order.key !== undefined,
      rows: byTime ? undefined : lookBehind.rows,
      passedUs: byTime ? (await session.nowUs()) - (lookBehind.us ?? 0) - roundedUs : 0,
    }
  }

  /** Goes through the query once, in its order; tells whether all could be remembered that has to be. */
  async *#pass(
    round: Round,
    seen: LookBehind,
    position: SourcePosition | undefined,
  ): AsyncGenerator<FetchedPage, boolean> {
    const circle = new CircleCheck()
    let yielded = JSON.stringify(position ?? {})
    let place = seen.from
    let limit = this.#options.pageSize
    /** Rows that are the same in all their columns count once: behind many of them there may be others. */
    let alike = 0
    for (let ahead: Promise<Result> | undefined = this.#page(round, place, limit); ahead; ) {
      const result: Result = await ahead
      const isLast = result.rows.length < limit
      const { messages, isFull, next } = this.#met(round, seen, result)
      if (isLast && !isFull) seen.end()
      place = next ?? place
      const hasStayed = !round.order.key && messages.length === 0 && next === undefined
      alike = hasStayed ? alike + limit : 0
      limit = this.#options.pageSize + seen.ties + alike
      const isBack = circle.isBack(JSON.stringify([place, limit]))
      if (!isLast && (isBack || alike > rememberedMax)) throw inCircles(round.order)
      // While the one is brought to the disk, the next one is on its way.
      ahead = isLast || isFull ? undefined : this.#page(round, place, limit)
      ahead?.catch(() => undefined)
      const reached = seen.position()
      const text = JSON.stringify(reached)
      if (messages.length > 0 || text !== yielded) yield { messages, position: reached }
      yielded = text
      if (isFull) return false
    }
    return true
  }

  #page({ session, statements }: Round, place: Place | undefined, count: number): Promise<Result> {
    const { text, values } = statements.page(place, count)
    return session.read(text, values)
  }

  /** What is new of a page, and behind which place the next one begins. */
  #met({ order }: Round, seen: LookBehind, { columns, rows }: Result) {
    const places = new Places({ order, columns, times: this.#times })
    const byTime = passesByTime(order, this.#options)
    const writer = new RowWriter(columns)
    const messages = new MessageWriter(this.#source)
    let [next, last]: (Place | undefined)[] = []
    let isFull = false
    for (const row of rows) {
      const place = places.of(row)
      const timeUs = byTime ? places.latestUs(place) : 0
      const content = order.key ? '' : writer.text(row)
      const met = seen.meet({ place, timeUs, content })
      if (met === 'full') {
        isFull = true
        break
      }
      if (met === 'new') messages.add(order.key ? writer.text(row) : content, place.join(' '))
      // Without a key, the next page begins with all rows that have the last value.
      if (order.key) next = place
      else if (place[0] !== last?.[0]) next = last ?? next
      last = place
    }
    return { messages: messages.end(), isFull, next }
  }

  /** All that there is, in each round. */
  async *#everything(round: Round, first: SourcePosition | undefined): AsyncGenerator<FetchedPage> {
    const { order } = round
    const { pageSize } = this.#options
    const circle = new CircleCheck()
    let place = (first as { readonly place?: Place } | undefined)?.place
    for (let isLast = false; !isLast; ) {
      const { columns, rows } = await this.#page(round, place, pageSize + (order.key ? 0 : 1))
      if (!order.key && rows.length > pageSize) {
        throw new SourceRefused(
          `the query has more than ${pageSize} rows: name a keyColumn to read them page by page`,
        )
      }
      isLast = rows.length < pageSize || !order.key
      const places = new Places({ order, columns, times: this.#times })
      const writer = new RowWriter(columns)
      const messages = new MessageWriter(this.#source)
      for (const row of rows) {
        place = places.of(row)
        messages.add(writer.text(row), place.join(' '))
      }
      if (!isLast && circle.isBack(JSON.stringify(place))) throw inCircles(order)
      const position = isLast || !place ? {} : { place }
      if (rows.length > 0 || place) yield { messages: messages.end(), position }
    }
  }
}

function tooMany({ lookBehind }: DatabaseOptions, order: Order): Error {
  if (!order.key) {
    return new SourceRefused(
      `more than ${rememberedMax} rows have the same ${order.incremental?.name}, or are committed ` +
        'within lookBehind: name a keyColumn, or make lookBehind shorter',
    )
  }
  // They will be older when it is tried again.
  return new Error(
    `more than ${rememberedMax} rows came within lookBehind (${(lookBehind.us ?? 0) / 1_000_000} s): ` +
      'make it shorter, or wait until they are older',
  )
}

/** Rows that are asked for behind a place, and are not behind it, come again and again. */
function inCircles({ key, incremental }: Order): Error {
  if (!key) {
    return new SourceRefused(
      `more than ${rememberedMax} rows with one ${incremental?.name} are the same: name a keyColumn`,
    )
  }
  return new SourceRefused(
    `the rows behind ${key.name} lead back to rows that were read before: they are not in the order that was asked for`,
  )
}
