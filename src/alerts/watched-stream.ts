import type {
  AlertClock,
  AlertTransition,
  HandSignal,
  RuleMemory,
  Signal,
} from '../../processors/alert-memory.ts'
import { admit, newMemory, nextDueUs, nextTimerUs } from '../../processors/alert-memory.ts'
import type { AlertRule, CompiledAlertRules, CompiledRule } from '../../processors/alert-rules.ts'
import { conditionSteps, step } from '../../processors/alerts.ts'
import type { AlertCounts, StreamWatch } from '../ingest/pipeline/alert-watches.ts'
import {
  kindAccepted,
  kindAlertAction,
  kindAlertTimer,
  kindFleetRules,
} from '../ingest/pipeline/entry.ts'
import type { EntryReader } from '../ingest/pipeline/entry-reader.ts'
import type { AlertAction, AlertRow } from './alert.ts'
import type { AlertTime } from './alert-time.ts'
import type { Downtimes } from './downtimes.ts'
import type { AlertedStream, Findings, Moment } from './findings.ts'
import type { LoadedWatch } from './load-watches.ts'
import { NoticeSequences } from './notice-sequences.ts'
import { RecentReadings } from './recent-readings.ts'
import { type CompileRules, runnableRules } from './runnable-rules.ts'
import {
  hasMoved,
  isIdle,
  putOffSilence,
  type SavedWatch,
  type StreamFacts,
  type VersionRules,
} from './saved-watch.ts'

/** What all streams share. */
export interface WatchedStreamNeeds {
  readonly compile: CompileRules
  readonly findings: Findings
  readonly downtimes: Downtimes
  readonly time: Pick<AlertTime, 'aheadUs' | 'steadyUs'>
}

/** What has come of the rules of a stream by now. */
interface RulePast {
  readonly recent: RecentReadings
  readonly sequences: NoticeSequences
  readonly memories: Map<string, RuleMemory>
  readonly open: Map<string, AlertRow>
}

function pastOf({ saved, open = [] }: Partial<LoadedWatch> = {}): RulePast {
  return {
    recent: new RecentReadings(),
    sequences: new NoticeSequences(saved?.sequences),
    memories: new Map(Object.entries(saved?.memories ?? {})),
    open: new Map(open.map((alert) => [alert.rule_id, alert])),
  }
}

/** Before the first one that is adopted. */
const noVersion: VersionRules = { version: 0, name: '', rules: [], fields: {} }

/**
 * A stream as its rules see it, entry by entry (decisions.md#the-time-of-alerts). All that is
 * remembered follows from the entries, so whoever begins with what was saved at a position comes to
 * the same from there on.
 */
export class WatchedStream implements StreamWatch, AlertedStream {
  readonly facts: StreamFacts
  readonly clock: AlertClock
  /** The newest version when it was looked at: most likely the next one to be adopted. */
  readonly newest: VersionRules
  readonly #needs: WatchedStreamNeeds
  /** Downtimes that were taken. */
  #downtimesTaken = 0
  /** Nothing in a stream that has had no rules, as most have none: of thousands, empty maps would take megabytes. */
  #past: RulePast | undefined
  #of: VersionRules
  #fleetRules: readonly AlertRule[]
  /** Rules that are run. */
  #rules: readonly AlertRule[]
  #compiled: CompiledAlertRules
  #receivedAtUs: number

  constructor(needs: WatchedStreamNeeds, loaded: LoadedWatch) {
    this.#needs = needs
    const { facts, clock, receivedAtUs, saved, open, newest } = loaded
    this.facts = facts
    this.clock = clock
    this.newest = newest
    this.#receivedAtUs = receivedAtUs
    this.#of = saved?.of ?? noVersion
    this.#fleetRules = saved?.fleetRules ?? noVersion.rules
    this.#rules = this.#runnable()
    this.#compiled = this.#compileAll()
    if (saved === undefined && open.length === 0) return
    this.#past = pastOf(loaded)
    putOffSilence(this.#compiled.rules, this.#past.memories, receivedAtUs)
  }

  get version(): number {
    return this.#of.version
  }

  get name(): string {
    return this.#of.name
  }

  get sealUs(): number | undefined {
    return this.#of.sealUs
  }

  get wantsReadings(): boolean {
    return this.#compiled.rules.length > 0
  }

  /** Its newest readings, as far as rules have seen them. */
  get recent(): RecentReadings {
    return this.#ofRules.recent
  }

  /** Numbers of the notices that its rules give. */
  get sequences(): NoticeSequences {
    return this.#ofRules.sequences
  }

  get #ofRules(): RulePast {
    this.#past ??= pastOf()
    return this.#past
  }

  counted(): AlertCounts {
    const { clock } = this
    const { late } = clock
    clock.late = 0
    return { timeUs: Math.max(0, clock.timeUs), receivedAtUs: this.#receivedAtUs, late }
  }

  /** When its next timer runs out, in steady time. */
  get dueUs(): number | undefined {
    let dueUs: number | undefined
    for (const memory of this.#past?.memories.values() ?? []) {
      const ofRule = nextTimerUs(memory)
      if (ofRule !== undefined && (dueUs === undefined || ofRule < dueUs)) dueUs = ofRule
    }
    return dueUs
  }

  /** When the first mute ends, by the wall clock. */
  get mutedUntilUs(): number | undefined {
    let untilUs: number | undefined
    for (const { mutedUntilUs } of this.#past?.memories.values() ?? []) {
      if (mutedUntilUs !== null) untilUs = Math.min(untilUs ?? mutedUntilUs, mutedUntilUs)
    }
    return untilUs
  }

  /** What is to be kept of it. */
  saved(): SavedWatch {
    const memories = Object.fromEntries(this.#ofRules.memories)
    const { text: sequences } = this.sequences
    return { of: this.#of, fleetRules: this.#fleetRules, memories, sequences }
  }

  /** Goes on with the rules of another version, from this entry on. */
  adopt(next: VersionRules, entry: EntryReader, offset: number): void {
    this.#takeDowntimes()
    this.#of = next
    this.#change(this.#momentOf(entry, offset))
  }

  see(entry: EntryReader, offset: number): void {
    if (this.#downtimesTaken !== this.#needs.downtimes.count) this.#takeDowntimes()
    switch (entry.kind) {
      case kindAccepted:
        this.#read(entry, offset)
        return
      case kindAlertTimer:
        this.#expire(entry, offset)
        return
      case kindAlertAction:
        this.#act(entry.alertNotes as AlertAction, this.#momentOf(entry, offset))
        return
      case kindFleetRules:
        this.#fleetRules = entry.alertNotes as readonly AlertRule[]
        this.#change(this.#momentOf(entry, offset))
        return
      default:
      // What was refused, redriven, imported or removed is no matter of alerts.
    }
  }

  /** What silence makes of them is not saved by itself: whoever is read again takes them again. */
  #takeDowntimes(): void {
    const { count } = this.#needs.downtimes
    for (const downtime of this.#needs.downtimes.after(this.#downtimesTaken)) {
      for (const rule of this.#compiled.rules) {
        const memory = this.#ofRules.memories.get(rule.id)
        if (memory) step(rule, memory, downtime)
      }
    }
    this.#downtimesTaken = count
  }

  #read(entry: EntryReader, offset: number): void {
    const { timestampUs, receivedAtUs } = entry
    const steadyUs = this.#needs.time.steadyUs(receivedAtUs)
    // A reading without a time of its own has that of its receipt, which jumps when the wall clock is set.
    const isOurs = timestampUs === receivedAtUs && this.#isTimedByReceipt
    const timeUs = isOurs ? steadyUs : timestampUs
    const { rules, needsDigest, read } = this.#compiled
    const digest = needsDigest ? Number(entry.digest & 0xffff_ffff_ffffn) : undefined
    if (!admit(this.clock, timeUs, digest)) return
    this.#receivedAtUs = Math.max(this.#receivedAtUs, steadyUs)
    const text = entry.values
    this.#ofRules.recent.add(timestampUs, text)
    const allowance = { left: conditionSteps }
    const signal = {
      kind: 'reading',
      timeUs,
      receivedAtUs: steadyUs,
      ...this.#aheads,
      values: read(text),
      allowance,
    } as const
    for (const rule of rules) {
      const memory = this.#memoryOf(rule)
      const wasIdle = isIdle(memory)
      const { silentDueUs } = memory
      const transitions = step(rule, memory, signal)
      if (transitions.length > 0) {
        this.#note(rule, memory, transitions, {
          offset,
          receivedAtUs,
          reading: text,
          action: undefined,
        })
      }
      if (!wasIdle || !isIdle(memory) || hasMoved(rule, memory, silentDueUs)) this.#touch()
    }
  }

  #expire(entry: EntryReader, offset: number): void {
    const dueUs = entry.timestampUs
    const aheads = this.#aheads
    // Also when it was too early: the time that was saved for it is to be as it is known here.
    this.#touch()
    for (const rule of this.#compiled.rules) {
      const memory = this.#ofRules.memories.get(rule.id)
      if (!memory || (nextDueUs(memory, aheads.aheadUs) ?? Number.POSITIVE_INFINITY) > dueUs)
        continue
      this.#step(rule, memory, { kind: 'timer', dueUs, ...aheads }, this.#momentOf(entry, offset))
    }
  }

  /** Does what somebody has asked for, if the alert still is what it was about. */
  #act(action: AlertAction, moment: Moment): void {
    const alert = this.#ofRules.open.get(action.ruleId)
    const rule = this.#compiled.rules.find(({ id }) => id === action.ruleId)
    if (!rule || alert?.id !== action.alertId) return
    const memory = this.#memoryOf(rule)
    const { kind, userId: by, untilUs } = action
    const acted = { ...moment, action }
    if (kind !== 'acknowledge' && kind !== 'clear') {
      // A step of the history by itself; what a mute or its end moves follows.
      this.#ofRules.open.set(rule.id, this.#needs.findings.remark(alert, acted))
    }
    if (kind === 'comment') {
      this.#touch()
      return
    }
    const signal = { kind, ...this.#at(moment), by, ...(untilUs && { untilUs }) }
    this.#step(rule, memory, signal, kind === 'acknowledge' || kind === 'clear' ? acted : moment)
  }

  /**
   * Ends what rules have begun that are there no more, and begins with those that are new
   * (decisions.md#the-time-of-alerts).
   */
  #change(moment: Moment): void {
    const before = this.#rules
    this.#rules = this.#runnable()
    const rulesAfter = new Map(this.#rules.map((rule) => [rule.id, JSON.stringify(rule)]))
    const at = this.#at(moment)
    for (const rule of this.#compiled.rules) {
      const plain = before.find(({ id }) => id === rule.id)
      if (rulesAfter.get(rule.id) === JSON.stringify(plain)) {
        rulesAfter.delete(rule.id)
        continue
      }
      const memory = this.#ofRules.memories.get(rule.id)
      if (memory) this.#step(rule, memory, { kind: 'retire', ...at }, moment)
      this.#ofRules.memories.delete(rule.id)
    }
    this.#compiled = this.#compileAll()
    for (const rule of this.#compiled.rules) {
      if (!rulesAfter.has(rule.id)) continue
      this.#step(rule, this.#memoryOf(rule), { kind: 'start', ...at }, moment)
    }
    this.#touch()
  }

  #step(rule: CompiledRule, memory: RuleMemory, signal: Signal, moment: Moment): void {
    this.#note(rule, memory, step(rule, memory, signal), moment)
    this.#touch()
  }

  #note(
    rule: CompiledRule,
    memory: RuleMemory,
    transitions: readonly AlertTransition[],
    moment: Moment,
  ): void {
    for (const transition of transitions) {
      const before = this.#ofRules.open.get(rule.id)
      const change = {
        rule: this.#rules.find(({ id }) => id === rule.id) ?? rule,
        before,
        transition,
        moment,
      }
      const after = this.#needs.findings.transition(this, change)
      if (after) this.#ofRules.open.set(rule.id, after)
      else this.#ofRules.open.delete(rule.id)
    }
    const alert = this.#ofRules.open.get(rule.id)
    if (alert && alert.muted_until !== memory.mutedUntilUs) {
      this.#ofRules.open.set(rule.id, this.#needs.findings.muted(alert, memory.mutedUntilUs))
    }
  }

  #touch(): void {
    this.#needs.findings.touched.add(this)
  }

  #memoryOf({ id }: AlertRule): RuleMemory {
    const known = this.#ofRules.memories.get(id)
    if (known) return known
    const made = newMemory()
    this.#ofRules.memories.set(id, made)
    return made
  }

  #runnable(): readonly AlertRule[] {
    return runnableRules(this.#of, this.#fleetRules, this.#needs.compile)
  }

  #compileAll(): CompiledAlertRules {
    return this.#needs.compile(this.#rules, this.#of.fields)
  }

  /** When a person or a definition moves rules. */
  #at({ receivedAtUs }: Moment): Pick<HandSignal, 'atUs' | 'aheadUs' | 'timeAheadUs'> {
    return { atUs: this.#needs.time.steadyUs(receivedAtUs), ...this.#aheads }
  }

  /** Whether alert time is that of receipts: it is told by the newest reading, and at first by any. */
  get #isTimedByReceipt(): boolean {
    const { timeUs } = this.clock
    return timeUs < 0 || timeUs === this.#receivedAtUs
  }

  get #aheads(): { readonly aheadUs: number; readonly timeAheadUs: number } {
    const { aheadUs } = this.#needs.time
    return { aheadUs, timeAheadUs: this.#isTimedByReceipt ? aheadUs : 0 }
  }

  #momentOf(entry: EntryReader, offset: number): Moment {
    const { receivedAtUs } = entry
    return { offset, receivedAtUs, reading: undefined, action: undefined }
  }
}
