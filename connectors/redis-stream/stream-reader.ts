import type { FetchRun } from '../../src/contracts/fetch-connector.ts'
import { EmptyAnswers } from '../empty-answers.ts'
import { bytesOf, type Entry, EntryMessages, entriesOfStream } from './entries.ts'
import { compareIds, firstId, type StreamPosition, writePosition } from './entry-ids.ts'
import type { RedisStreamOptions } from './options.ts'
import type { PageSize } from './page-size.ts'
import type { RedisConnection } from './redis-connection.ts'
import { assertNotBehind, newestIdOf } from './stream-facts.ts'

/** Entries that are handed over and not durable yet, and bytes of them: one page more may be beyond. */
const unsettledMax = 1_000
const unsettledBytesMax = 4 * 1024 * 1024

/** How long a server waits for an entry before it says that there is none. */
const blockMs = 5_000

export interface StreamReaderNeeds {
  readonly connection: RedisConnection
  readonly options: RedisStreamOptions
  readonly run: Pick<FetchRun, 'accept'>
  readonly pageSize: PageSize
  readonly position: StreamPosition
}

interface Page {
  readonly count: number
  readonly bytes: number
  readonly acknowledged: Promise<void>
}

/** Reads the entries of a stream, hands them over, and acknowledges to a group what is durable. */
export class StreamReader {
  readonly #needs: StreamReaderNeeds
  readonly #messages: EntryMessages
  #position: StreamPosition
  /** Pages in the order in which they become durable. */
  readonly #underWay: Page[] = []
  #isClosing = false
  readonly #empty = new EmptyAnswers(blockMs)
  /** The newest entry that was sent again, of those that are behind what was read. */
  #passed = firstId

  constructor(needs: StreamReaderNeeds) {
    this.#needs = needs
    this.#messages = new EntryMessages(needs.options)
    this.#position = needs.position
  }

  get position(): StreamPosition {
    return this.#position
  }

  /**
   * Waits a while for entries where nothing is left to do, and hands them over.
   *
   * @throws SourceRefused where the stream has gone back behind what was read
   */
  async readOn(): Promise<void> {
    await this.#room()
    // Nothing could be acknowledged while the server waits for entries.
    const isIdle = this.#underWay.length === 0
    const entries = await this.#ask(isIdle)
    if (this.#isClosing) return
    if (entries.length > 0) await this.#take(entries)
    else if (isIdle) {
      this.#empty.count()
      await this.#assertThere()
    } else await this.#underWay[0]?.acknowledged
  }

  /** Entries that a consumer of the group was sent, and has not acknowledged, behind one of them. */
  async pending(consumer: string, from: string): Promise<readonly Entry[]> {
    const { connection, options, pageSize } = this.#needs
    const who = ['GROUP', options.group ?? '', consumer, 'COUNT', pageSize.entries]
    const words = ['XREADGROUP', ...who, 'STREAMS', options.key, from]
    return this.#measured(entriesOfStream(await connection.ask(words)))
  }

  /** Hands entries over; they are acknowledged when they are durable. */
  handOver(entries: readonly Entry[], position: StreamPosition): void {
    this.#position = position
    const { connection, run } = this.#needs
    const messages = entries.map((entry) => this.#messages.messageOf(entry))
    let bytes = 0
    for (const { payload } of messages) bytes += payload.length
    const accepted = run.accept(messages, writePosition(position))
    const acknowledged = accepted
      .then(async () => await this.acknowledge(entries))
      .finally(() => this.#underWay.shift())
    this.#underWay.push({ count: entries.length, bytes, acknowledged })
    acknowledged.catch((error: Error) => connection.fail(error))
  }

  /** Acknowledges entries to the group, where there is one. */
  async acknowledge(entries: readonly Entry[]): Promise<void> {
    const { connection, options } = this.#needs
    if (options.group === undefined || entries.length === 0) return
    await connection.ask(['XACK', options.key, options.group, ...entries.map(({ id }) => id)])
  }

  /** Resolves when all that was handed over is durable and acknowledged. */
  async allAcknowledged(): Promise<void> {
    await Promise.all(this.#underWay.map((page) => page.acknowledged))
  }

  /** Hands nothing over any more; resolves when all that was is acknowledged, or has failed. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled(this.#underWay.map((page) => page.acknowledged))
  }

  async #room(): Promise<void> {
    for (;;) {
      const [first] = this.#underWay
      const isFull = this.#countLeft() <= 0 || sum(this.#underWay, 'bytes') >= unsettledBytesMax
      if (first === undefined || !isFull) return
      await first.acknowledged
    }
  }

  #countLeft(): number {
    return unsettledMax - sum(this.#underWay, 'count')
  }

  async #ask(waits: boolean): Promise<readonly Entry[]> {
    const { connection, options, pageSize } = this.#needs
    const { key, group, consumer } = options
    const count = Math.min(pageSize.entries, this.#countLeft())
    const how = ['COUNT', count, ...(waits ? ['BLOCK', blockMs] : []), 'STREAMS', key]
    const words =
      group === undefined
        ? ['XREAD', ...how, this.#position.id]
        : ['XREADGROUP', 'GROUP', group, consumer, ...how, '>']
    return this.#measured(entriesOfStream(await connection.ask(words, waits ? blockMs : 0)))
  }

  #measured(entries: readonly Entry[]): readonly Entry[] {
    let bytes = 0
    for (const entry of entries) bytes += bytesOf(entry)
    this.#needs.pageSize.saw(entries.length, bytes)
    return entries
  }

  async #take(entries: readonly Entry[]): Promise<void> {
    const { id: read } = this.#position
    const fresh = entries.filter(({ id }) => compareIds(id, read) > 0)
    const last = fresh.at(-1)
    if (fresh.length < entries.length) {
      await this.#assertThere()
      // Somebody has set the group back to entries that are durable here.
      await this.acknowledge(entries.filter((entry) => !fresh.includes(entry)))
    }
    if (last !== undefined) {
      this.#empty.reset()
      this.handOver(fresh, { ...this.#position, id: last.id })
    } else this.#pass(entries)
  }

  /** A group that was set back walks through all that was read before: once, and in its order. */
  #pass(entries: readonly Entry[]): void {
    const { id } = entries.at(-1) ?? { id: firstId }
    if (this.#needs.options.group === undefined || compareIds(id, this.#passed) <= 0) {
      this.#empty.count()
    }
    this.#passed = id
  }

  async #assertThere(): Promise<void> {
    const { connection, options } = this.#needs
    assertNotBehind(await newestIdOf(connection, options.key), this.#position.id)
  }
}

function sum(pages: readonly Page[], of: 'count' | 'bytes'): number {
  return pages.reduce((total, page) => total + page[of], 0)
}
