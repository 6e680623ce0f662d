import { durationUs } from '../../core/duration.ts'
import type { FetchConnector, FetchedSource, FetchRun } from '../../pipeline/fetch-connector.ts'
import { SourceRefused } from '../../pipeline/fetch-connector.ts'
import type { PollConnector, PolledSource, SourcePosition } from '../../pipeline/poll-connector.ts'
import { type Alarms, systemAlarms } from './alarms.ts'
import { CronSchedule } from './cron-schedule.ts'
import { RoundTimes } from './round-times.ts'

/**
 * A round that brought nothing is written down when the one that is kept is so much older. A crash before costs
 * one round too many, and a source that is asked each second costs no write each second.
 */
const keptEveryUs = 60_000_000

/** Rounds that seem to be done so far in the future were done by a clock that has been set back since. */
const aheadUsMax = 60_000_000

/** What is kept of a source that is asked by a schedule. */
interface KeptPosition {
  /** In microseconds: no round that was due up to then is still to be done. */
  readonly ranFor: number
  /** That of the connector; nothing as long as it has none. */
  readonly inner?: SourcePosition
}

/**
 * Makes a connector that fetches of one that asks: by the `schedule` of its source, by the clocks of its
 * `timezone` (UTC where there is none), and later by up to its `jitter`.
 *
 * - Times that pass while a round is under way are left out, and counted.
 * - Times that have passed while the service was down, the stream paused or the source failing are made up for
 *   by one round at once. A new source waits for its first time.
 * - A round that fails ends the run. Whoever runs it waits (its own growing pause, or longer if the other side
 *   wants that) and runs it again: that begins with the round that failed. In between nothing is asked, whatever
 *   the schedule says; these times are made up for by that round, too.
 * - What somebody wants at once is asked at once; where a round is under way, right behind it. Times of the
 *   schedule stay as they are.
 */
export function scheduled(connector: PollConnector, alarms: Alarms = systemAlarms): FetchConnector {
  return {
    takes: (source) => connector.takes(source),
    destinationOf: (source) => connector.destinationOf(source),
    furtherDestinationsOf: (source) => connector.furtherDestinationsOf?.(source) ?? [],
    open(definition) {
      const { source, streamId } = definition
      const { schedule, timezone, jitter } = source
      const zone = typeof timezone === 'string' ? timezone : 'UTC'
      const times = new RoundTimes(
        new CronSchedule(String(schedule), zone),
        durationUs(jitter) ?? 0,
        streamId,
      )
      return new ScheduledSource(connector.open(definition), times, alarms)
    },
  }
}

class ScheduledSource implements FetchedSource {
  readonly identity: string
  readonly #source: PolledSource
  readonly #times: RoundTimes
  readonly #alarms: Alarms
  /** No round that was due up to then is still to be done. The position may be behind it. */
  #doneUs: number | undefined
  /** A round was begun that is still to be done. */
  #isBegun = false

  constructor(source: PolledSource, times: RoundTimes, alarms: Alarms) {
    this.identity = source.identity
    this.#source = source
    this.#times = times
    this.#alarms = alarms
  }

  async run(run: FetchRun): Promise<void> {
    const kept = run.position as KeptPosition | undefined
    const progress = new Progress(run, kept)
    this.#doneUs ??= kept?.ranFor
    try {
      while (!run.signal.aborted) {
        const doneUs = this.#doneBefore(run.nowUs())
        const passed = this.#times.passed(doneUs, run.nowUs())
        const isWanted = run.wish.grant()
        if (passed || isWanted || this.#isBegun) await this.#round(progress, doneUs)
        else await this.#rest(progress, doneUs)
      }
    } catch (error) {
      if (!run.signal.aborted) throw error
    }
  }

  #doneBefore(nowUs: number): number {
    const known = this.#doneUs
    this.#doneUs = known === undefined || known > nowUs + aheadUsMax ? nowUs : known
    return this.#doneUs
  }

  /** Waits for the next time, for somebody who wants a round, or for the end. */
  async #rest(progress: Progress, doneUs: number): Promise<void> {
    const { run } = progress
    // So that a first time that passes while the service is down is made up for as any other.
    if (progress.keptUs === undefined) await progress.keep(doneUs)
    const next = this.#times.next(doneUs)
    if (next === undefined) throw new SourceRefused('the schedule never comes')
    run.onWaiting(next.startUs)
    const woken = Promise.withResolvers<void>()
    const wake = () => woken.resolve()
    const cancel = this.#alarms.at(next.startUs, wake)
    const unlisten = run.wish.listen(wake)
    run.signal.addEventListener('abort', wake)
    if (run.signal.aborted) wake()
    await woken.promise
    cancel()
    unlisten()
    run.signal.removeEventListener('abort', wake)
  }

  async #round(progress: Progress, doneUs: number): Promise<void> {
    const { run } = progress
    const startedAtUs = run.nowUs()
    const passed = this.#times.passed(doneUs, startedAtUs)
    const dueAtUs = passed?.first.startUs ?? startedAtUs
    // One that failed is still seen to fail.
    if (!this.#isBegun) run.onWaiting(dueAtUs)
    this.#isBegun = true
    await progress.poll(this.#source, doneUs)
    if (run.signal.aborted) return
    const upToUs = passed?.upToUs ?? doneUs
    const meanwhile = this.#times.passed(upToUs, run.nowUs())
    this.#doneUs = meanwhile?.upToUs ?? upToUs
    const { keptUs } = progress
    const isOld = keptUs === undefined || Math.abs(this.#doneUs - keptUs) >= keptEveryUs
    if (isOld) await progress.keep(this.#doneUs)
    this.#isBegun = false
    const missed = (passed?.count ?? 1) - 1
    run.onRound({ dueAtUs, startedAtUs, overlapped: meanwhile?.count ?? 0, missed })
  }
}

/** How far one run has read. */
class Progress {
  readonly run: FetchRun
  #inner: SourcePosition | undefined
  #keptUs: number | undefined

  constructor(run: FetchRun, kept: KeptPosition | undefined) {
    this.run = run
    this.#inner = kept?.inner
    this.#keptUs = kept?.ranFor
  }

  /** That which is durable. */
  get keptUs(): number | undefined {
    return this.#keptUs
  }

  async keep(ranForUs: number): Promise<void> {
    await this.run.accept([], { ...positionOf(ranForUs, this.#inner) })
    this.#keptUs = ranForUs
  }

  /** Asks for all that there is; each page is durable before the next one is asked for. */
  async poll(source: PolledSource, ranForUs: number): Promise<void> {
    const { accept, dial, signal, nowUs, onRunning } = this.run
    let isReached = false
    for await (const page of source.poll({ position: this.#inner, dial, signal, nowUs })) {
      if (!isReached) onRunning()
      isReached = true
      if (signal.aborted) return
      const { messages, position } = page
      if (position !== undefined) {
        await accept(messages, { ...positionOf(ranForUs, position) })
        this.#inner = position
        this.#keptUs = ranForUs
      } else if (messages.length > 0) await accept(messages)
    }
    if (!isReached && !signal.aborted) onRunning()
  }
}

function positionOf(ranFor: number, inner: SourcePosition | undefined): KeptPosition {
  return inner === undefined ? { ranFor } : { ranFor, inner }
}
