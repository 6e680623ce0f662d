import { monotonicMs } from '../../src/core/clock.ts'
import { cutText } from '../../src/core/cut-text.ts'
import { type Entry, entriesOf, textOf } from './entries.ts'
import { compareIds, firstId, type StreamPosition } from './entry-ids.ts'
import type { RedisStreamOptions } from './options.ts'
import type { PageSize } from './page-size.ts'
import { type RedisConnection, RedisError } from './redis-connection.ts'
import type { Reply } from './replies.ts'
import { groupsOf, newestIdOf, pendingOf } from './stream-facts.ts'
import type { StreamReader } from './stream-reader.ts'

/** A consumer that has held an entry for so long without a word about it is taken for dead. */
const idleMs = 10 * 60_000

/** Pages of one walk through what is pending: no group has as many. */
const pagesMax = 100_000

/** How often entries of dead consumers are looked for. */
const claimEveryMs = 60_000

type Options = RedisStreamOptions & { readonly group: string }

export interface GroupMemberNeeds {
  readonly connection: RedisConnection
  readonly options: Options
  readonly reader: StreamReader
  readonly pageSize: PageSize
}

/** Makes the group unless it is there, and the stream with it: at what was read, or where it is to begin. */
export async function ensureGroup(
  connection: RedisConnection,
  { key, group, startFrom }: Options,
  position: StreamPosition | undefined,
): Promise<void> {
  const isStream = (await newestIdOf(connection, key)) !== undefined
  if (isStream && (await groupsOf(connection, key)).has(group)) return
  const from = position?.id ?? (startFrom === 'earliest' ? '0' : '$')
  try {
    await connection.ask(['XGROUP', 'CREATE', key, group, from, 'MKSTREAM'])
  } catch (error) {
    const isThere = error instanceof RedisError && error.code === 'BUSYGROUP'
    if (!isThere) throw error
  }
}

/** Takes us out of a group; entries that are ours and not acknowledged are left for others to take over. */
export async function leaveGroup(connection: RedisConnection, options: Options): Promise<void> {
  const { key, group, consumer, claimant } = options
  const pending = await pendingOf(connection, options)
  for (const name of [consumer, claimant]) {
    if (pending.get(name) !== 0) continue
    await connection.ask(['XGROUP', 'DELCONSUMER', key, group, name])
  }
}

/** What is ours in a group beside new entries: those of an earlier run, and those that nobody takes care of. */
export class GroupMember {
  readonly #needs: GroupMemberNeeds
  #claimDueMs = 0

  constructor(needs: GroupMemberNeeds) {
    this.#needs = needs
  }

  /**
   * Reads again what was sent in an earlier run. Entries that were taken over have a consumer of
   * their own: their ids are below what was read, and yet they may not be durable.
   */
  async recover(): Promise<void> {
    const { reader, options } = this.#needs
    await this.#pages(options.claimant, async (entries) => await this.#takeClaimed(entries))
    await this.#pages(options.consumer, async (entries) => {
      const { id: read } = reader.position
      const fresh = entries.filter(({ id }) => compareIds(id, read) > 0)
      await reader.acknowledge(entries.filter((entry) => !fresh.includes(entry)))
      const last = fresh.at(-1)
      if (last !== undefined) reader.handOver(fresh, { id: last.id, claimed: [] })
      await reader.allAcknowledged()
    })
  }

  /** Takes over, from time to time, what consumers of the group hold that are dead. */
  async claimWhenDue(): Promise<void> {
    const nowMs = monotonicMs()
    if (nowMs < this.#claimDueMs) return
    this.#claimDueMs = nowMs + claimEveryMs
    // What is ours must not look as if nobody took care of it.
    await this.#needs.reader.allAcknowledged()
    let from = firstId
    for (let pages = 0; pages < pagesMax; pages++) {
      const next = await this.#claim(from)
      if (next === undefined || next === firstId) return
      assertAhead(next, from)
      from = next
    }
    throw new Error(endless)
  }

  async #claim(from: string): Promise<string | undefined> {
    const { connection, options, pageSize } = this.#needs
    const { key, group, claimant } = options
    const what = [idleMs, from, 'COUNT', pageSize.entries]
    try {
      const reply = await connection.ask(['XAUTOCLAIM', key, group, claimant, ...what])
      const [next, entries] = Array.isArray(reply) ? (reply as readonly Reply[]) : []
      // Entries that were deleted are nothing at all before version 7.
      const there = Array.isArray(entries) ? (entries as readonly Reply[]) : []
      await this.#takeClaimed(entriesOf(there.filter((entry) => entry !== null)))
      return textOf(next)
    } catch (error) {
      // The command came with version 6.2.
      const isUnknown = error instanceof RedisError && /unknown command/i.test(error.message)
      if (!isUnknown) throw error
      this.#claimDueMs = Number.POSITIVE_INFINITY
      return undefined
    }
  }

  async #pages(
    consumer: string,
    take: (entries: readonly Entry[]) => Promise<void>,
  ): Promise<void> {
    let from = firstId
    for (let pages = 0; pages < pagesMax; pages++) {
      const entries = await this.#needs.reader.pending(consumer, from)
      const last = entries.at(-1)
      if (last === undefined) return
      assertAhead(last.id, from)
      await take(entries)
      from = last.id
    }
    throw new Error(endless)
  }

  async #takeClaimed(entries: readonly Entry[]): Promise<void> {
    const { reader } = this.#needs
    const { id, claimed } = reader.position
    const fresh = entries.filter((entry) => !claimed.includes(entry.id))
    await reader.acknowledge(entries.filter((entry) => !fresh.includes(entry)))
    if (fresh.length === 0) return
    reader.handOver(fresh, { id, claimed: fresh.map((entry) => entry.id) })
    await reader.allAcknowledged()
  }
}

const endless = 'the list of entries that are pending has no end'

/** Refuses an answer that is not behind the entry that was named: asking would go on for ever. */
function assertAhead(next: string, from: string): void {
  if (compareIds(next, from) > 0) return
  throw new Error(
    `the server answers with entry ${cutText(next, 100)} when it is asked what comes behind ${from}`,
  )
}
