import { setTimeout as sleep } from 'node:timers/promises'
import type { FetchedMessage, FetchRun } from '../../src/contracts/fetch-connector.ts'
import type { Partition } from './cluster.ts'
import type { PartitionMessages } from './fetched-records.ts'
import type { GroupMembership } from './group-membership.ts'
import type { ReadPositions } from './read-positions.ts'

/** Messages that are handed over and not durable yet, and their bytes: of one message there may be more. */
const unsettledMax = 4_000
const unsettledBytesMax = 8 * 1024 * 1024

/** Messages that are handed over at once, and their bytes. */
const portionMax = 1_000
const portionBytesMax = 1024 * 1024

/** The group is told so often at most: what it was not told yet another member would read again. */
const commitMs = 50

interface DeliveryNeeds {
  readonly run: Pick<FetchRun, 'accept'>
  /** Undefined in a trial: nobody is told anything then. */
  readonly group: Pick<GroupMembership, 'commit'> | undefined
  readonly positions: ReadPositions
}

interface Portion {
  readonly messages: readonly FetchedMessage[]
  readonly bytes: number
  readonly next: number
}

/** Hands over what was fetched, and tells the group what is durable. */
export class Delivery {
  readonly #needs: DeliveryNeeds
  readonly #failed = Promise.withResolvers<never>()
  #hasFailed = false
  #unsettled = 0
  #unsettledBytes = 0
  #room = Promise.withResolvers<void>()
  #toCommit = new Map<string, Map<number, number>>()
  #committing: Promise<void> | undefined

  constructor(needs: DeliveryNeeds) {
    this.#needs = needs
    this.#failed.promise.catch(() => undefined)
  }

  /** Rejects when something could not be kept, or not be committed to the group. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  /** Resolves when it is handed over: what is not when the signal is aborted is left. */
  async add(fetched: PartitionMessages, signal: AbortSignal): Promise<void> {
    for (const portion of portionsOf(fetched)) {
      while (this.#isFull(portion) && !signal.aborted) await this.#room.promise
      if (signal.aborted || this.#hasFailed) return
      this.#handOver(fetched.partition, portion)
    }
  }

  /** Resolves when nothing is on its way any more, and the group knows of all that is durable. */
  async finish(): Promise<void> {
    while (this.#unsettled > 0) await this.#room.promise
    await this.#committing
    await this.#commit()
  }

  /** Wakes those that wait for room, so that they find out that it is of no use. */
  wake(): void {
    this.#room.resolve()
    this.#room = Promise.withResolvers()
  }

  #isFull({ messages, bytes }: Portion): boolean {
    if (this.#unsettled === 0 || this.#hasFailed) return false
    const isMany = this.#unsettled + messages.length > unsettledMax
    return isMany || this.#unsettledBytes + bytes > unsettledBytesMax
  }

  #handOver(partition: Partition, { messages, bytes, next }: Portion): void {
    const { run, positions, group } = this.#needs
    // What holds no message counts as one: it is on its way as well.
    const count = Math.max(1, messages.length)
    this.#unsettled += count
    this.#unsettledBytes += bytes
    positions.set(partition, next)
    const position = group && positions.write()
    void this.#follow(run.accept(messages, position), { partition, next }).finally(() => {
      this.#unsettled -= count
      this.#unsettledBytes -= bytes
      this.wake()
    })
  }

  async #follow(
    accepted: Promise<unknown>,
    { partition, next }: { readonly partition: Partition; readonly next: number },
  ): Promise<void> {
    try {
      await accepted
      this.#durable(partition, next)
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  #durable({ topic, index }: Partition, next: number): void {
    const offsets = this.#toCommit.get(topic) ?? new Map<number, number>()
    this.#toCommit.set(topic, offsets.set(index, next))
    if (this.#needs.group) this.#committing ??= this.#commitAll()
  }

  async #commitAll(): Promise<void> {
    try {
      while (this.#toCommit.size > 0 && !this.#hasFailed) {
        await this.#commit()
        await sleep(commitMs)
      }
    } catch (error) {
      this.#fail(error as Error)
    } finally {
      this.#committing = undefined
    }
  }

  /**
   * Commits the durable offsets. Another member that takes over a partition continues from the offset
   * that was committed last.
   */
  async #commit(): Promise<void> {
    const offsets = this.#toCommit
    if (offsets.size === 0) return
    this.#toCommit = new Map()
    await this.#needs.group?.commit(offsets)
  }

  #fail(error: Error): void {
    this.#hasFailed = true
    this.#failed.reject(error)
  }
}

function* portionsOf({ messages, nexts, next }: PartitionMessages): Iterable<Portion> {
  let from = 0
  let bytes = 0
  for (const [at, { payload }] of messages.entries()) {
    const isFull = at - from >= portionMax || bytes + payload.byteLength > portionBytesMax
    if (isFull && at > from) {
      yield { messages: messages.slice(from, at), bytes, next: nexts[at - 1] as number }
      from = at
      bytes = 0
    }
    bytes += payload.byteLength
  }
  yield { messages: messages.slice(from), bytes, next }
}
