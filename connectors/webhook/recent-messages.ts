import { hash } from 'node:crypto'
import type { Acceptor, MessageOutcome, RawMessage } from '../../src/contracts/connector.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import { DomainError } from '../../src/core/errors.ts'
import type { StreamId } from '../../src/core/ids.ts'
import { LruMap } from '../../src/core/lru-map.ts'

/**
 * Messages of one stream that are known again after a crash: their ids go to the journal with each batch. It has to be
 * those that were kept and not yet answered; others were not sent again.
 */
const keptMax = 256

/** Characters of such an id: 66 bits of its digest. */
const idLength = 11

/** Messages of all streams that are known again while the service runs. */
const knownMax = 200_000

/** Streams whose newest messages are at hand: more than can have a webhook. */
const streamsMax = 2_000

/** Messages that become durable together: the answers to those of the batch before may be on their way still. */
const batchMax = keptMax / 2

/** A message whose signature is good. */
export interface SignedMessage extends Omit<RawMessage, 'stream'> {
  readonly streamId: StreamId
  readonly messageId: string | undefined
}

export interface RecentMessagesNeeds {
  readonly intake: Acceptor
  /** The stream, to be asked right before a message goes into it. @throws DomainError */
  readonly openStream: (id: StreamId) => Promise<CompiledStream>
  /** The ids of messages that are in the journal, as it keeps them. */
  readonly positions: {
    readonly load: (id: StreamId) => Promise<string | undefined>
    readonly textOf: (newest: string) => string
    readonly note: (id: StreamId, text: string) => void
  }
}

interface Waiting {
  readonly id: string
  readonly message: SignedMessage
  readonly kept: PromiseWithResolvers<MessageOutcome>
}

interface StreamMessages {
  /** The ids of the newest messages that are durable, one behind the other. */
  newest: string
  /**
   * Requests that have their bodies here and are not answered yet: there are as many as connections, and large ones
   * have been given room before.
   */
  waiting: Waiting[]
  isBusy: boolean
}

/**
 * Keeps each message once. Senders send a message again when they have not heard that it was kept: it is known by its
 * id, for the newest ones across a crash, because their ids are in the journal in one batch with what they brought.
 */
export class RecentMessages {
  readonly #needs: RecentMessagesNeeds
  readonly #streams = new LruMap<StreamId, Promise<StreamMessages>>(streamsMax)
  readonly #known = new LruMap<string, true>(knownMax)
  /** Messages that are not durable yet: as many as there are requests. */
  readonly #underWay = new Map<string, Promise<MessageOutcome>>()

  constructor(needs: RecentMessagesNeeds) {
    this.#needs = needs
  }

  /**
   * Resolves when the message is on disk: with nothing where it had been kept before.
   *
   * @throws DomainError when it cannot be kept now
   */
  async keep(message: SignedMessage): Promise<MessageOutcome | undefined> {
    const { streamId, messageId } = message
    if (messageId === undefined) return await this.#keepAlone(message)
    const id = hash('sha256', messageId, 'base64url').slice(0, idLength)
    const name = `${streamId}${id}`
    const first = this.#underWay.get(name)
    if (first !== undefined) {
      await first
      return undefined
    }
    const kept = Promise.withResolvers<MessageOutcome>()
    this.#underWay.set(name, kept.promise)
    try {
      const stream = await this.#of(streamId)
      if (this.#known.get(name)) {
        kept.resolve(nothingNew)
        return undefined
      }
      stream.waiting.push({ id, message, kept })
      if (!stream.isBusy) void this.#work(streamId, stream)
      const outcome = await kept.promise
      this.#known.set(name, true)
      return outcome
    } catch (error) {
      kept.reject(error)
      kept.promise.catch(() => undefined)
      throw error
    } finally {
      this.#underWay.delete(name)
    }
  }

  /** To be called when a stream is gone: those of its messages that are not remembered for long go by themselves. */
  forget(streamId: StreamId): void {
    const known = this.#streams.get(streamId)
    this.#streams.delete(streamId)
    if (known !== undefined) void this.#forgetMessages(streamId, known)
  }

  async #forgetMessages(streamId: StreamId, known: Promise<StreamMessages>): Promise<void> {
    const { newest } = await known.catch(() => ({ newest: '' }))
    for (const id of idsIn(newest)) this.#known.delete(streamId + id)
  }

  async #keepAlone(message: SignedMessage): Promise<MessageOutcome> {
    const stream = await this.#needs.openStream(message.streamId)
    const kept = Promise.withResolvers<void>()
    const outcome = this.#needs.intake.accept({ ...message, stream }, settling(kept))
    await kept.promise
    return outcome
  }

  async #of(streamId: StreamId): Promise<StreamMessages> {
    const known = this.#streams.get(streamId)
    if (known !== undefined) return await known
    const loading = this.#load(streamId)
    this.#streams.set(streamId, loading)
    loading.catch(() => this.#streams.delete(streamId))
    return await loading
  }

  async #load(streamId: StreamId): Promise<StreamMessages> {
    const newest = (await this.#needs.positions.load(streamId)) ?? ''
    for (const id of idsIn(newest)) this.#known.set(streamId + id, true)
    return { newest, waiting: [], isBusy: false }
  }

  /**
   * One batch of a stream at a time: else one that is kept could name messages of another that is not, which would
   * then be taken for known.
   */
  async #work(streamId: StreamId, stream: StreamMessages): Promise<void> {
    stream.isBusy = true
    while (stream.waiting.length > 0) {
      const batch = stream.waiting.splice(0, batchMax)
      try {
        await this.#keepTogether(streamId, stream, batch)
      } catch (error) {
        for (const { kept } of batch) kept.reject(error)
      }
    }
    stream.isBusy = false
  }

  async #keepTogether(
    streamId: StreamId,
    messages: StreamMessages,
    batch: readonly Waiting[],
  ): Promise<void> {
    const { intake, openStream, positions } = this.#needs
    const stream = await openStream(streamId)
    const ids = batch.map(({ id }) => id).join('')
    const newest = (messages.newest + ids).slice(-keptMax * idLength)
    const text = positions.textOf(newest)
    const durable = Promise.withResolvers<void>()
    const outcomes: MessageOutcome[] = []
    intake.together(() => {
      for (const { message } of batch) {
        outcomes.push(intake.accept({ ...message, stream }, () => undefined))
      }
      intake.keepPosition(stream, text, settling(durable))
    })
    await durable.promise
    messages.newest = newest
    positions.note(streamId, text)
    for (const [index, { kept }] of batch.entries()) kept.resolve(outcomes[index] ?? nothingNew)
  }
}

/** Outcome of a message that was kept before. */
const nothingNew: MessageOutcome = { receivedAtUs: 0, verdicts: [] }

function* idsIn(newest: string): Generator<string> {
  for (let at = 0; at < newest.length; at += idLength) yield newest.slice(at, at + idLength)
}

function settling({ resolve, reject }: PromiseWithResolvers<void>) {
  return (error?: DomainError) => {
    if (error === undefined) resolve()
    else reject(error)
  }
}
