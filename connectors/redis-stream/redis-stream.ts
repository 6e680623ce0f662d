import { setTimeout as sleep } from 'node:timers/promises'
import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import {
  type FetchConnector,
  type FetchedSource,
  type FetchRun,
  SourceRefused,
} from '../../src/contracts/fetch-connector.ts'
import { aborted } from '../../src/core/aborted.ts'
import { race } from '../../src/core/race.ts'
import { EntryMessages, entriesOf } from './entries.ts'
import { firstId, readPosition, type StreamPosition, writePosition } from './entry-ids.ts'
import { ensureGroup, GroupMember, leaveGroup } from './group-member.ts'
import { parseRedisEndpoint, type RedisStreamOptions, redisStreamOptions } from './options.ts'
import { PageSize } from './page-size.ts'
import { RedisConnection } from './redis-connection.ts'
import { describeFailure } from './refusals.ts'
import { ReplyTooLarge } from './replies.ts'
import { redisSource } from './source.ts'
import { assertNotBehind, newestIdOf } from './stream-facts.ts'
import { StreamReader } from './stream-reader.ts'

/** How long what is on its way to the disk is waited for when a run is told to end. */
const finishMs = 2_000

/** Entries of a sample. */
const sampleMax = 10

/** Entries of a stream of Redis: alone, or as a member of a group of consumers. */
export const redisStream: FetchConnector = {
  takes: (source) => isOfKind(redisSource, source),
  destinationOf: ({ endpoint }) => parseRedisEndpoint(endpoint as string),
  open: (definition) => new RedisStreamSource(redisStreamOptions(definition)),
  forTrial: (source) => ({ ...source, isTrial: true }),
}

class RedisStreamSource implements FetchedSource {
  readonly identity: string
  readonly #options: RedisStreamOptions
  readonly #pageSize = new PageSize()

  constructor(options: RedisStreamOptions) {
    const { host, port, database, key, group, startFrom } = options
    this.identity = JSON.stringify(['redis', host, port, database, key, group, startFrom])
    this.#options = options
  }

  async run(run: FetchRun): Promise<void> {
    try {
      await this.#connect(run)
    } catch (error) {
      if (error instanceof ReplyTooLarge) this.#pageSize.beginAnew()
      if (!run.signal.aborted) throw describeFailure(error)
    }
  }

  async release(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<void> {
    const { group, isTrial } = this.#options
    if (group === undefined || isTrial) return
    const connection = await RedisConnection.open(this.#options, run)
    try {
      await leaveGroup(connection, { ...this.#options, group })
    } catch (error) {
      throw describeFailure(error)
    } finally {
      connection.end()
    }
  }

  async #connect(run: FetchRun): Promise<void> {
    const { signal } = run
    const connection = await RedisConnection.open(this.#options, run)
    const giveUp = () => connection.end()
    signal.addEventListener('abort', giveUp)
    let reader: StreamReader | undefined
    try {
      if (this.#options.isTrial) return await this.#try(connection, run)
      const position = await this.#prepare(connection, run)
      const needs = { options: this.#options, pageSize: this.#pageSize }
      reader = new StreamReader({ ...needs, connection, run, position })
      signal.removeEventListener('abort', giveUp)
      const following = this.#follow(connection, reader, run)
      following.catch(() => undefined)
      await race([following, aborted(signal)])
      await race([reader.close(), sleep(finishMs, undefined, { ref: false })])
    } finally {
      signal.removeEventListener('abort', giveUp)
      connection.end()
      // What becomes durable after the next run has begun would be read twice.
      await reader?.close()
    }
  }

  /** Where to begin is durable before anything is read: it is a place in a stream that goes on. */
  async #prepare(connection: RedisConnection, run: FetchRun): Promise<StreamPosition> {
    const { key, group, startFrom } = this.#options
    const before = readPosition(run.position)
    const newest = await newestIdOf(connection, key)
    if (before !== undefined) assertNotBehind(newest, before.id)
    if (group !== undefined) await ensureGroup(connection, { ...this.#options, group }, before)
    if (before !== undefined) return before
    const beginsAtEnd = group === undefined && startFrom === 'latest'
    const position = { id: (beginsAtEnd ? newest : undefined) ?? firstId, claimed: [] }
    if (group === undefined) await run.accept([], writePosition(position))
    return position
  }

  async #follow(connection: RedisConnection, reader: StreamReader, run: FetchRun): Promise<never> {
    const { group } = this.#options
    const needs = { connection, reader, pageSize: this.#pageSize }
    const member =
      group === undefined
        ? undefined
        : new GroupMember({ ...needs, options: { ...this.#options, group } })
    run.onRunning()
    await member?.recover()
    for (;;) {
      await member?.claimWhenDue()
      await reader.readOn()
    }
  }

  /** A sample is of the newest entries, whichever group has them. */
  async #try(connection: RedisConnection, run: FetchRun): Promise<void> {
    const { key } = this.#options
    if ((await newestIdOf(connection, key)) === undefined) {
      throw new SourceRefused(`there is no stream ${key} in this database yet`)
    }
    const newest = await connection.ask(['XREVRANGE', key, '+', '-', 'COUNT', sampleMax])
    run.onRunning()
    const messages = new EntryMessages(this.#options)
    const sample = entriesOf(newest).map((entry) => messages.messageOf(entry))
    if (sample.length > 0) await run.accept(sample.toReversed())
    await aborted(run.signal)
  }
}
