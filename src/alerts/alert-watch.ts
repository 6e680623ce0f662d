import type { CompiledAlertRules } from '../../processors/alert-rules.ts'
import { compileAlertRules } from '../../processors/alert-rules.ts'
import type { Clock } from '../core/clock.ts'
import { LruMap } from '../core/lru-map.ts'
import type { AlertWatches, StreamWatch } from '../ingest/pipeline/alert-watches.ts'
import type { EntryReader } from '../ingest/pipeline/entry-reader.ts'
import type { Notify, StateDatabase } from '../storage/state/database.ts'
import { AlertTime } from './alert-time.ts'
import { RuleReader } from './defined-rules.ts'
import { Downtimes } from './downtimes.ts'
import { Findings } from './findings.ts'
import { loadRules, loadWatches, type WatchSource } from './load-watches.ts'
import type { CompileRules } from './runnable-rules.ts'
import { WatchedStream } from './watched-stream.ts'
import { writeFindings } from './write-findings.ts'

/** Streams whose rules are kept at hand: what is forgotten is read again. */
const streamsMax = 100_000

/** Sets of rules that are kept compiled: many streams have the same. */
const compiledMax = 1_000

export interface AlertWatchNeeds {
  readonly state: StateDatabase
  readonly clock: Clock
  readonly notify: Notify
}

/** Knows all streams whose entries come by, and the rules that they have. */
export class AlertWatch implements AlertWatches {
  readonly findings = new Findings()
  readonly #needs: AlertWatchNeeds
  readonly #source: WatchSource
  #downtimes = new Downtimes()
  #time = new AlertTime()
  readonly #streams = new LruMap<string, WatchedStream>(streamsMax)
  /** Streams that were asked for since the last decision, and had been deleted: they have no alerts any more. */
  readonly #gone = new Set<string>()
  readonly #compiled = new LruMap<string, CompiledAlertRules>(compiledMax)

  constructor(needs: AlertWatchNeeds) {
    this.#needs = needs
    this.#source = { state: needs.state, rules: new RuleReader() }
  }

  /** Streams that are at hand. */
  get streamsAtHand(): number {
    return this.#streams.size
  }

  watchAtHand(streamId: string): WatchedStream | undefined {
    return this.#streams.get(streamId)
  }

  /** @param coming more streams that will be asked for */
  async watchOf(
    streamId: string,
    coming: () => Iterable<string> = () => [],
  ): Promise<WatchedStream | undefined> {
    if (this.#isUnknown(streamId)) {
      const unknown = new Set([streamId])
      for (const id of coming()) if (this.#isUnknown(id)) unknown.add(id)
      await this.#load([...unknown].slice(0, streamsMax / 2))
    }
    return this.#streams.get(streamId)
  }

  /** To be told of streams that are gone, once the decider has passed all their entries. */
  forgetStreams(streamIds: readonly string[]): void {
    for (const id of streamIds) this.#streams.delete(id)
  }

  /** Lets a stream have the rules of the newer version that an entry names. */
  async adopt(watch: StreamWatch, entry: EntryReader, offset: number): Promise<void> {
    const { streamVersion } = entry
    const stream = watch as WatchedStream
    const { newest, facts } = stream
    const isNewest = newest.version === streamVersion
    const next = isNewest ? newest : await loadRules(this.#source, facts.id, streamVersion)
    if (next) stream.adopt(next, entry, offset)
  }

  async passDowntime(entry: EntryReader, offset: number): Promise<void> {
    await this.#loadTimes()
    this.#downtimes.add(offset, entry.timestampUs, this.#time.steadyUs(entry.receivedAtUs))
  }

  async passClock(entry: EntryReader): Promise<void> {
    await this.#loadTimes()
    this.#time.set(entry.timestampUs, entry.receivedAtUs)
  }

  /** When the next timer of a stream runs out, in steady time; undefined also where the stream is not at hand. */
  dueUsAtHand(streamId: string): number | undefined {
    return this.watchAtHand(streamId)?.dueUs
  }

  async write(transaction: StateDatabase): Promise<() => void> {
    const { findings } = this
    const { clock, notify } = this.#needs
    const downtimes = this.#downtimes
    this.#gone.clear()
    const time = this.#time
    await downtimes.write(transaction)
    await time.write(transaction)
    const written = () => {
      downtimes.written()
      time.written()
    }
    if (findings.touched.size === 0) return written
    await writeFindings(transaction, findings, clock)
    const notifyOthers = findings.notices.length > 0 ? await notify(transaction) : nothing
    return () => {
      findings.clear()
      written()
      notifyOthers()
    }
  }

  /** Begins anew with what is saved: what has been found since is not to be. */
  forget(): void {
    this.findings.clear()
    this.#streams.clear()
    this.#gone.clear()
    this.#downtimes = new Downtimes()
    this.#time = new AlertTime()
  }

  async #loadTimes(): Promise<void> {
    const { state } = this.#needs
    await Promise.all([this.#downtimes.load(state), this.#time.load(state)])
  }

  async #load(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#gone.add(id)
    await this.#loadTimes()
    const needs = {
      findings: this.findings,
      downtimes: this.#downtimes,
      time: this.#time,
      compile: this.#compile,
    }
    for (const loaded of await loadWatches(this.#source, ids)) {
      this.#gone.delete(loaded.facts.id)
      this.#streams.set(loaded.facts.id, new WatchedStream(needs, loaded))
    }
  }

  #isUnknown(streamId: string): boolean {
    return this.#streams.get(streamId) === undefined && !this.#gone.has(streamId)
  }

  /** One function for all streams, of which there may be many thousands. */
  readonly #compile: CompileRules = (rules, fields) => {
    const key = JSON.stringify([rules, fields])
    const known = this.#compiled.get(key)
    if (known) return known
    const compiled = compileAlertRules(rules, fields)
    this.#compiled.set(key, compiled)
    return compiled
  }
}

function nothing(): void {}
