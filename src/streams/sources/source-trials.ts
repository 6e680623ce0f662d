import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Dial,
  FetchConnector,
  FetchedMessage,
  FetchedSource,
  FetchRun,
  RoundWish,
} from '../../contracts/fetch-connector.ts'
import { DomainError, messageOf } from '../../core/errors.ts'
import { newId, type StreamId, type UserId } from '../../core/ids.ts'
import { expanded } from '../data-streams/named-secrets.ts'
import { secretsOf } from '../data-streams/source-secrets.ts'
import type { SourceTrial } from '../data-streams/stream-sources.ts'
import { failureRemedy } from './failure-remedy.ts'
import { withoutSecretsOf } from './without-secrets.ts'

/** Tries at a time, of all users: each has a connection, and up to a page in memory. */
const trialsMax = 8

/** Tries of one user at a time: nobody takes all the places. */
const trialsOfUserMax = 2

/** A try that takes longer has failed. */
const trialMs = 15_000

/** A source that has been reached may have nothing to say: it is listened to for so long. */
const silenceMs = 5_000

/** Messages of a sample. */
const messagesMax = 20

/** Time for the other side to forget us. */
const releaseMs = 5_000

type Json = Readonly<Record<string, unknown>>

export interface SourceTrialsNeeds {
  readonly connectors: readonly FetchConnector[]
  readonly dial: Dial
  readonly nowUs: () => number
}

/** Tries sources that nobody has yet. Nothing of what they send is kept, and they are told so. */
export class SourceTrials {
  readonly #needs: SourceTrialsNeeds
  /** Users whose tries are under way, one entry for each. */
  readonly #running: UserId[] = []

  constructor(needs: SourceTrialsNeeds) {
    this.#needs = needs
  }

  /** @throws DomainError `overloaded`, `unsupported_definition` */
  async try(source: Json, userId: UserId): Promise<SourceTrial> {
    const connector = this.#needs.connectors.find((one) => one.takes(source))
    if (!connector) {
      throw new DomainError(
        'unsupported_definition',
        'this version cannot fetch from such a source',
      )
    }
    const own = this.#running.filter((id) => id === userId)
    if (own.length >= trialsOfUserMax || this.#running.length >= trialsMax) {
      throw new DomainError('overloaded', 'too many sources are tried at the same time', {
        retryAfter: 5,
      })
    }
    this.#running.push(userId)
    try {
      return await this.#tryWith(connector, source)
    } finally {
      this.#running.splice(this.#running.indexOf(userId), 1)
    }
  }

  async #tryWith(connector: FetchConnector, source: Json): Promise<SourceTrial> {
    const definition = {
      streamId: newId<StreamId>(),
      source: expanded(connector.forTrial?.(source) ?? source),
      // Nobody knows yet what a mapping will read.
      isMapped: true,
    }
    const secrets = Object.values(secretsOf(source))
    const shown = (error: unknown) => withoutSecretsOf(secrets, messageOf(error))
    const sample = new Sample()
    try {
      const opened = connector.open(definition)
      const problem = await sample.take(opened, this.#needs)
      await this.#release(opened)
      if (problem === undefined) return { ...sample.found, problem, remedy: undefined }
      return { ...sample.found, problem: shown(problem), remedy: failureRemedy(problem) }
    } catch (error) {
      return { ...sample.found, problem: shown(error), remedy: failureRemedy(error) }
    }
  }

  /** What a try has left on the other side is of no use: nobody hears of a failure. */
  async #release(source: FetchedSource): Promise<void> {
    const { dial } = this.#needs
    const signal = AbortSignal.timeout(releaseMs)
    await source.release?.({ dial, signal }).catch(() => undefined)
  }
}

/** Says to a source that its messages were not kept, so that it keeps them. */
class OnlyATrial extends Error {
  override readonly name = 'OnlyATrial'
}

/** The first messages of one source. */
class Sample {
  readonly #end = new AbortController()
  #messages: readonly FetchedMessage[] = []
  #count = 0
  #isReached = false

  get found(): Omit<SourceTrial, 'problem' | 'remedy'> {
    return { isReached: this.#isReached, messages: this.#messages, count: this.#count }
  }

  /** Resolves with what kept it from coming to its end, or nothing. */
  async take(
    source: FetchedSource,
    { dial, nowUs }: Pick<SourceTrialsNeeds, 'dial' | 'nowUs'>,
  ): Promise<unknown> {
    const deadline = AbortSignal.timeout(trialMs)
    const run: FetchRun = {
      position: undefined,
      accept: async (messages) => await this.#accept(messages),
      onRunning: () => this.#reached(),
      onHeldUp: () => undefined,
      onWaiting: () => undefined,
      onRound: () => this.#finish(),
      wish: atOnce,
      nowUs,
      dial,
      signal: AbortSignal.any([this.#end.signal, deadline]),
    }
    try {
      await source.run(run)
    } catch (error) {
      if (this.#end.signal.aborted) return undefined
      if (!deadline.aborted) return error
    }
    if (this.#end.signal.aborted) return undefined
    if (!deadline.aborted) return new Error('it has ended by itself')
    return Object.assign(new Error(`no answer in ${trialMs / 1_000} s`), { code: 'ETIMEDOUT' })
  }

  async #accept(messages: readonly FetchedMessage[]): Promise<never[]> {
    this.#isReached = true
    // A position alone is no message.
    if (messages.length === 0) return []
    this.#messages = messages.slice(0, messagesMax)
    this.#count = messages.length
    this.#end.abort()
    throw new OnlyATrial('nothing is kept of a trial')
  }

  #reached(): void {
    this.#isReached = true
    const { signal } = this.#end
    sleep(silenceMs, undefined, { signal, ref: false }).then(
      () => this.#finish(),
      () => undefined,
    )
  }

  #finish(): void {
    this.#isReached = true
    this.#end.abort()
  }
}

/** A trial is a round that somebody wants now. */
const atOnce: RoundWish = {
  grant: () => true,
  listen(listener) {
    listener()
    return () => undefined
  },
}
