import { setTimeout as sleep } from 'node:timers/promises'
import type { Acceptor, MessageOutcome, Settled } from '../../contracts/connector.ts'
import type { FetchedMessage } from '../../contracts/fetch-connector.ts'
import type { CompiledStream } from '../../contracts/reading.ts'
import { DomainError } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import { race } from '../../core/race.ts'
import type { HandedIn } from './handed-in.ts'
import type { SourcePositions } from './source-positions.ts'

/** Time after a failure that may pass until what failed is offered again. */
const retryMs = 250

/** Messages that are judged in one turn; a page may have hundreds, and everybody else would wait for it. */
const messagesAtOnce = 2

export interface OrderedIntakeNeeds {
  readonly intake: Acceptor
  readonly findStream: (id: StreamId) => Promise<CompiledStream | undefined>
  /** @throws DomainError when nothing can be accepted now, or too much waits for the disk */
  readonly assertReady: () => void
  readonly positions: Pick<SourcePositions, 'note'>
  readonly handedIn: HandedIn
}

interface Waiting {
  readonly messages: readonly FetchedMessage[]
  readonly position: string | undefined
  readonly resolve: (outcomes: readonly MessageOutcome[]) => void
  readonly reject: (error: unknown) => void
}

/** What is under way when a run has ended is waited for so long: its disk may stand still. */
const finishMs = 2_000

/** The run was told to end while messages were handed in: the stream may be another one by now. */
class EndedMeanwhile extends Error {
  override readonly name = 'EndedMeanwhile'
}

/**
 * What one run of a source hands over, in its order: the next portion goes to the journal when the
 * one before is durable, so that a failure in between changes nothing about the order. Whatever has
 * arrived meanwhile is one portion, as it is with a group commit.
 *
 * A run that is told to end (its stream was changed or paused, the service stops) has taken messages that its other side
 * may never send again. They are offered to the journal once more, and judged by the stream as it is then.
 */
export class OrderedIntake {
  readonly #needs: OrderedIntakeNeeds
  readonly #streamId: StreamId
  readonly #signal: AbortSignal
  #waiting: Waiting[] = []
  /** Messages that are under way. */
  #portion: readonly Waiting[] = []
  /** Undefined while nothing is under way. */
  #underWay: Promise<void> | undefined
  #failure: unknown
  /** The stream as it was found last when it was not paused. */
  #beforePause: CompiledStream | undefined

  constructor(needs: OrderedIntakeNeeds, streamId: StreamId, signal: AbortSignal) {
    this.#needs = needs
    this.#streamId = streamId
    this.#signal = signal
  }

  /**
   * To be called before a run takes anything from its other side, and before its position is looked up: it waits for
   * what the run before has handed in.
   *
   * @throws DomainError when the stream takes no readings
   */
  async begin(): Promise<void> {
    await this.#needs.handedIn.over(this.#streamId, this.#signal)
    if ((await this.#stream()).isPaused !== true) return
    throw new DomainError('stream_paused', 'the stream takes no readings')
  }

  /**
   * @param position how far the source has been read with these messages, as JSON
   * @throws DomainError when it could not be kept: the stream is gone, or the disk takes nothing and the run was ended
   */
  readonly accept = async (
    messages: readonly FetchedMessage[],
    position?: string,
  ): Promise<readonly MessageOutcome[]> => {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ messages, position, resolve, reject })
      this.#underWay ??= this.#run()
    })
  }

  /**
   * To be called when the run has ended: resolves when nothing of it is under way to the disk any more, or when that
   * takes too long. The next run waits for it then.
   */
  async finish(): Promise<void> {
    if (this.#underWay !== undefined) {
      await race([this.#underWay, sleep(finishMs, undefined, { ref: false })])
    }
    // What was not handed in by now must not be, beside what the next run hands in.
    this.#failure ??= ended()
    if (this.#underWay === undefined) return
    this.#needs.handedIn.add(this.#streamId, this.#underWay)
    for (const { reject } of [...this.#portion, ...this.#waiting]) reject(this.#failure)
  }

  async #run(): Promise<void> {
    for (;;) {
      const portion = this.#waiting
      if (portion.length === 0) break
      this.#waiting = []
      this.#portion = portion
      await this.#handle(portion)
    }
    this.#portion = []
    this.#underWay = undefined
  }

  async #handle(portion: readonly Waiting[]): Promise<void> {
    try {
      // What could not be kept comes again, and what is behind it has to come after it.
      if (this.#failure !== undefined) throw this.#failure
      const all = portion.flatMap((one) => one.messages)
      // The last of several positions stands for all.
      const position = portion.findLast((one) => one.position !== undefined)?.position
      const outcomes = await this.#keep(all, position)
      if (position !== undefined) this.#needs.positions.note(this.#streamId, position)
      let start = 0
      for (const { messages, resolve } of portion) {
        resolve(outcomes.slice(start, start + messages.length))
        start += messages.length
      }
    } catch (error) {
      this.#failure = error
      for (const { reject } of portion) reject(error)
    }
  }

  /** Offers messages until all of them are durable. */
  async #keep(
    messages: readonly FetchedMessage[],
    position: string | undefined,
  ): Promise<readonly MessageOutcome[]> {
    const outcomes: MessageOutcome[] = []
    let pending = [...messages.keys()]
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      const isLast = this.#signal.aborted
      const failed = await this.#offer({ messages, outcomes, pending, position })
      if (failed === undefined) return outcomes
      if (isLast) throw ended()
      pending = failed
      await sleep(retryMs, undefined, { signal: this.#signal }).catch(() => undefined)
    }
  }

  /** Resolves with the places of those that failed and may be offered again; undefined when all is done. */
  async #offer(offer: Offer): Promise<number[] | undefined> {
    const stream = await this.#stream()
    // The run may have been over before the stream was found.
    if (this.#failure !== undefined) throw this.#failure
    try {
      this.#needs.assertReady()
    } catch (error) {
      if (error instanceof DomainError && error.retryable) return offer.pending
      throw error
    }
    const answers = new Answers(offer.pending.length + (offer.position === undefined ? 0 : 1))
    try {
      await this.#handInAll(stream, offer, answers)
    } catch (error) {
      if (error instanceof EndedMeanwhile) return offer.pending
      throw error
    }
    await answers.all
    if (answers.lasting !== undefined) throw answers.lasting
    return answers.failed.length === 0 ? undefined : answers.failed.filter((place) => place >= 0)
  }

  /**
   * One that is paused takes what was fetched before: the pause ends the run.
   *
   * @throws DomainError when it is gone
   */
  async #stream(): Promise<CompiledStream> {
    const found = await this.#needs.findStream(this.#streamId)
    if (found === undefined)
      throw new DomainError('not_found', 'the stream is gone', {
        remedy: 'GET /streams lists the streams that there are.',
      })
    const before = this.#beforePause
    if (found.isPaused === true && before?.version === found.version) return before
    this.#beforePause = found
    return found
  }

  /** @throws EndedMeanwhile when the run was ended in between; nothing of it is handed in then */
  async #handInAll(stream: CompiledStream, offer: Offer, answers: Answers): Promise<void> {
    const { intake } = this.#needs
    const steps = this.#steps(stream, offer, answers)
    const handIn = () => {
      for (const step of steps) step()
    }
    const isAtOnce = offer.pending.length <= messagesAtOnce || this.#signal.aborted
    // A position must not become durable without what stands before it, nor they without it.
    if (offer.position === undefined) handIn()
    else if (isAtOnce) intake.together(handIn)
    else await intake.togetherInTurns(steps)
  }

  *#steps(stream: CompiledStream, offer: Offer, answers: Answers): Generator<() => void> {
    const { intake } = this.#needs
    const { pending, position } = offer
    const isLast = this.#signal.aborted
    for (const place of pending) {
      yield () => {
        if (this.#signal.aborted && !isLast) throw new EndedMeanwhile()
        this.#handIn(stream, { offer, place }, answers)
      }
    }
    if (position === undefined) return
    yield () => intake.keepPosition(stream, position, answers.settledAt(-1))
  }

  #handIn(
    stream: CompiledStream,
    { offer, place }: { readonly offer: Offer; readonly place: number },
    answers: Answers,
  ): void {
    const { intake } = this.#needs
    const { messages, outcomes } = offer
    const message = messages[place] as FetchedMessage
    // What was offered before keeps its first time of receipt, and with it its identity.
    const receivedAtUs = outcomes[place]?.receivedAtUs ?? message.receivedAtUs
    const raw =
      receivedAtUs === undefined ? { ...message, stream } : { ...message, stream, receivedAtUs }
    const settled = answers.settledAt(place)
    outcomes[place] =
      message.problem === undefined
        ? intake.accept(raw, settled)
        : intake.refuse(raw, message.problem, settled)
  }
}

function ended(): Error {
  return new Error('the run has ended before its messages were on disk')
}

interface Offer {
  readonly messages: readonly FetchedMessage[]
  readonly outcomes: MessageOutcome[]
  /** Places of messages that are not durable yet. */
  readonly pending: number[]
  readonly position: string | undefined
}

/** What the journal says of all that was handed in. */
class Answers {
  readonly #all = Promise.withResolvers<void>()
  readonly failed: number[] = []
  /** A failure that is of no use to be tried again. */
  lasting: DomainError | undefined
  #left: number

  constructor(count: number) {
    this.#left = count
    if (count === 0) this.#all.resolve()
  }

  get all(): Promise<void> {
    return this.#all.promise
  }

  settledAt(place: number): Settled {
    return (error) => {
      if (error !== undefined) this.failed.push(place)
      if (error !== undefined && !error.retryable) this.lasting = error
      if (--this.#left === 0) this.#all.resolve()
    }
  }
}
