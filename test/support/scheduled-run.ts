import { getEventListeners } from 'node:events'
import type { FetchedMessage, FetchRun, SourceRound } from '../../src/contracts/fetch-connector.ts'
import type { FetchedPage, Poll, PollConnector } from '../../src/contracts/poll-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import type { StreamId } from '../../src/core/ids.ts'
import { Alarms } from '../../src/streams/sources/schedules/alarms.ts'
import { scheduled } from '../../src/streams/sources/schedules/scheduled-source.ts'
import { Wish } from '../../src/streams/sources/wish.ts'
import { dialOf } from './dial-of.ts'
import { FakeTime } from './fake-time.ts'

export interface ScheduledOptions {
  readonly time: FakeTime
  readonly schedule: string
  readonly timezone?: string
  readonly jitter?: string
  readonly streamId?: string
  /** What the other side has, asked for once a round; nothing by default. */
  readonly pages?: (poll: Poll) => AsyncIterable<FetchedPage>
}

interface Written {
  readonly messages: readonly FetchedMessage[]
  readonly position: SourcePosition | undefined
}

/** A source that is asked by a schedule in fake time, and all that comes of it. */
export class ScheduledRun {
  readonly #options: ScheduledOptions
  readonly #alarms: Alarms
  /** When the other side was asked, in ISO 8601, with the position that it was told. */
  readonly asked: string[] = []
  readonly askedFrom: (SourcePosition | undefined)[] = []
  /** When the other side was asked, in steady time, in milliseconds. */
  readonly steadyMs: number[] = []
  readonly written: Written[] = []
  readonly rounds: SourceRound[] = []
  /** When the next round was said to be due. */
  readonly waits: string[] = []
  readonly wish = new Wish()
  /** How often the other side was reached. */
  reached = 0
  /** Has the disk refuse what comes next. */
  diskFailure: Error | undefined
  #source: ReturnType<ReturnType<typeof scheduled>['open']> | undefined
  #stop = new AbortController()
  #ended: Promise<unknown> = Promise.resolve()

  constructor(options: ScheduledOptions) {
    this.#options = options
    this.#alarms = new Alarms(options.time)
    this.open()
  }

  get position(): SourcePosition | undefined {
    return this.written.findLast(({ position }) => position !== undefined)?.position
  }

  /** Who waits for the end of the run. */
  get listeners(): number {
    return getEventListeners(this.#stop.signal, 'abort').length
  }

  get lastRound(): SourceRound | undefined {
    return this.rounds.at(-1)
  }

  /** As a process does that has just begun: what was known of it is forgotten. */
  open(): void {
    const { schedule, timezone, jitter, streamId } = this.#options
    const source = {
      schedule,
      ...(timezone === undefined ? {} : { timezone }),
      ...(jitter === undefined ? {} : { jitter }),
    }
    const definition = { streamId: (streamId ?? 'stream') as StreamId, source }
    this.#source = scheduled(this.#connector(), this.#alarms).open(definition)
  }

  start(): void {
    this.#stop = new AbortController()
    const { time } = this.#options
    const run: FetchRun = {
      accept: async (messages, position) => await this.#accept(messages, position),
      position: this.position,
      onRunning: () => void this.reached++,
      onHeldUp: () => undefined,
      onWaiting: (atUs) => void this.waits.push(textOf(atUs)),
      onRound: (round) => void this.rounds.push(round),
      wish: this.wish,
      nowUs: time.nowUs,
      dial: dialOf(async () => {
        throw new Error('nobody connects here')
      }),
      signal: this.#stop.signal,
    }
    this.#ended = this.#source?.run(run).then(
      () => 'ended',
      (error: unknown) => error,
    ) as Promise<unknown>
  }

  /** How the run ended: with an error, or with `ended`. */
  async end(): Promise<unknown> {
    return await this.#ended
  }

  async stop(): Promise<unknown> {
    this.#stop.abort()
    return await this.#ended
  }

  async #accept(messages: readonly FetchedMessage[], position: SourcePosition | undefined) {
    if (this.diskFailure !== undefined) throw this.diskFailure
    this.written.push({ messages, position: position && structuredClone(position) })
    return []
  }

  #connector(): PollConnector {
    const { time, pages } = this.#options
    const { asked, askedFrom, steadyMs } = this
    return {
      takes: () => true,
      destinationOf: () => ({ host: 'peer.example', port: 1 }),
      open: () => ({
        identity: 'peer',
        async *poll(poll) {
          asked.push(textOf(time.nowUs()))
          steadyMs.push(time.steadyUs() / 1_000)
          askedFrom.push(poll.position)
          if (pages !== undefined) yield* pages(poll)
        },
      }),
    }
  }
}

export function textOf(atUs: number): string {
  return new Date(atUs / 1_000).toISOString().replace('.000', '')
}

export function messageOf(number: number): FetchedMessage {
  return { payload: Buffer.from(`{"number":${number}}`), source: 'peer' }
}

/** A page without anything. */
export const nothing: FetchedPage = { messages: [], position: undefined }

/** What has nothing, and takes so many milliseconds to say so in its rounds; none in those behind them. */
export function slowSource(time: FakeTime, roundsMs: readonly number[]) {
  const left = [...roundsMs]
  return async function* (): AsyncIterable<FetchedPage> {
    const ms = left.shift()
    if (ms !== undefined) await new Promise<void>((resolve) => void time.callAfter(ms, resolve))
    yield nothing
  }
}

/** Asked each minute, from noon on. */
export function everyMinute(more: Partial<ScheduledOptions> = {}) {
  const time = more.time ?? new FakeTime('2026-06-01T12:00:00Z')
  return { time, source: new ScheduledRun({ time, schedule: '* * * * *', ...more }) }
}
