import type { FetchConnector, FetchedSource, FetchRun } from '../../../contracts/fetch-connector.ts'
import { SourceRefused } from '../../../contracts/fetch-connector.ts'
import type { PollConnector, PolledSource } from '../../../contracts/poll-connector.ts'
import type { SourcePosition } from '../../../contracts/source-position.ts'
import { durationUs } from '../../../core/duration.ts'
import { type Alarms, systemAlarms } from './alarms.ts'
import { CronSchedule } from './cron-schedule.ts'
import { RoundTimes } from './round-times.ts'

/**
 * A round that brought nothing is written down when the one that is kept is so much older. A crash before costs
 * one round too many, and a source that is asked each second costs no write each second.
 */
const keptEveryUs = 60_000_000

/**
 * Rounds that seem to be done so far in the future were done by a clock that has been set back since: where
 * nothing is known of how long ago that was.
 */
const aheadUsMax = 60_000_000

/** How far the schedule of a source is done. */
interface Ran {
  /** Instant in microseconds: no round that was due up to then is still to be done. */
  readonly ranFor: number
  /** That instant in steady time. Older versions did not write it. */
  readonly ranAt?: number
}

/** What is kept of a source that is asked by a schedule. */
interface KeptPosition extends Ran {
  /** Position of the connector; nothing as long as it has none. */
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
 * - A clock that is set back brings times that there were before. What was done at one of them is not done again
 *   at once, and no time is waited for that is as far away as the clock was set: the round before counts as one
 *   that was due as long ago as it really was, and the next one is the first that is at least half of a period
 *   behind it.
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
      const times = new RoundTimes({
        schedule: new CronSchedule(String(schedule), zone),
        jitterUs: durationUs(jitter) ?? 0,
        streamId,
      })
      return new ScheduledSource({ source: connector.open(definition), times, alarms })
    },
  }
}

interface ScheduledSourceNeeds {
  readonly source: PolledSource
  readonly times: RoundTimes
  readonly alarms: Alarms
}

class ScheduledSource implements FetchedSource {
  readonly identity: string
  readonly #needs: ScheduledSourceNeeds
  /** No round that was due up to then is still to be done. The position may be behind it. */
  #doneUs: number | undefined
  /** When that was, in steady time. */
  #doneAtUs: number | undefined
  /** A round was begun that is still to be done. */
  #isBegun = false

  constructor(needs: ScheduledSourceNeeds) {
    this.#needs = needs
    this.identity = needs.source.identity
  }

  async run(run: FetchRun): Promise<void> {
    const kept = run.position as KeptPosition | undefined
    const progress = new Progress(run, kept)
    if (this.#doneUs === undefined) [this.#doneUs, this.#doneAtUs] = [kept?.ranFor, kept?.ranAt]
    try {
      while (!run.signal.aborted) {
        const doneUs = this.#doneBefore(run.nowUs())
        const passed = this.#needs.times.passed(doneUs, run.nowUs())
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
    if (known === undefined) return this.#done(nowUs, nowUs)
    if (known > nowUs) this.#doneUs = this.#doneBySetClock(known, nowUs)
    return this.#doneUs ?? nowUs
  }

  /** What is done, by a clock that was set back since. */
  #doneBySetClock(known: number, nowUs: number): number {
    const { times, alarms } = this.#needs
    if (this.#doneAtUs === undefined) return known > nowUs + aheadUsMax ? nowUs : known
    const sinceUs = alarms.steadyUs - this.#doneAtUs
    return Math.min(known, nowUs - sinceUs + Math.floor(times.periodUs(known) / 2))
  }

  /** Notes that all that was due up to a time is done. */
  #done(doneUs: number, nowUs: number): number {
    this.#doneUs = doneUs
    this.#doneAtUs = this.#needs.alarms.steadyUs - Math.max(0, nowUs - doneUs)
    return doneUs
  }

  #ran(ranFor: number): Ran {
    return { ranFor, ...(this.#doneAtUs !== undefined && { ranAt: this.#doneAtUs }) }
  }

  /** Waits for the next time, for somebody who wants a round, or for the end. */
  async #rest(progress: Progress, doneUs: number): Promise<void> {
    const { times, alarms } = this.#needs
    const { run } = progress
    // Progress is kept at once, so that a first time that passes while the service is down is made
    // up for as any other.
    if (progress.keptUs === undefined) await progress.keep(this.#ran(doneUs))
    const next = times.next(doneUs)
    if (next === undefined) throw new SourceRefused('the schedule never comes')
    run.onWaiting(next.startUs)
    const woken = Promise.withResolvers<void>()
    const wake = () => woken.resolve()
    const cancel = alarms.at(next.startUs, wake)
    const unlisten = run.wish.listen(wake)
    run.signal.addEventListener('abort', wake)
    if (run.signal.aborted) wake()
    await woken.promise
    cancel()
    unlisten()
    run.signal.removeEventListener('abort', wake)
  }

  async #round(progress: Progress, doneUs: number): Promise<void> {
    const { source, times } = this.#needs
    const { run } = progress
    const startedAtUs = run.nowUs()
    const passed = times.passed(doneUs, startedAtUs)
    const dueAtUs = passed?.first.startUs ?? startedAtUs
    // One that failed is still seen to fail.
    if (!this.#isBegun) run.onWaiting(dueAtUs)
    this.#isBegun = true
    await progress.poll(source, this.#ran(doneUs))
    if (run.signal.aborted) return
    const upToUs = passed?.upToUs ?? doneUs
    const nowUs = run.nowUs()
    const meanwhile = times.passed(upToUs, nowUs)
    const nowDoneUs = this.#done(meanwhile?.upToUs ?? upToUs, nowUs)
    const { keptUs } = progress
    const isOld = keptUs === undefined || Math.abs(nowDoneUs - keptUs) >= keptEveryUs
    if (isOld) await progress.keep(this.#ran(nowDoneUs))
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

  /** The instant that is durable. */
  get keptUs(): number | undefined {
    return this.#keptUs
  }

  async keep(ran: Ran): Promise<void> {
    await this.run.accept([], { ...positionOf(ran, this.#inner) })
    this.#keptUs = ran.ranFor
  }

  /** Asks for all that there is; each page is durable before the next one is asked for. */
  async poll(source: PolledSource, ran: Ran): Promise<void> {
    const { accept, dial, signal, nowUs, onRunning } = this.run
    let isReached = false
    for await (const page of source.poll({ position: this.#inner, dial, signal, nowUs })) {
      if (!isReached) onRunning()
      isReached = true
      if (signal.aborted) return
      const { messages, position } = page
      if (position !== undefined) {
        await accept(messages, { ...positionOf(ran, position) })
        this.#inner = position
        this.#keptUs = ran.ranFor
      } else if (messages.length > 0) await accept(messages)
    }
    if (!isReached && !signal.aborted) onRunning()
  }
}

function positionOf(ran: Ran, inner: SourcePosition | undefined): KeptPosition {
  return inner === undefined ? ran : { ...ran, inner }
}
