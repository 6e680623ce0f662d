import type { Scalar, Severity } from './alert-rules.ts'
import type { AlertWindow } from './alert-window.ts'

/**
 * Contract: what is remembered of a rule on a stream, what moves it, and what it tells. All of it is
 * plain JSON. Times are microseconds, of three clocks: alert time, which is the time of readings; the clock
 * of receipt, which is the steady time of the service, so that whatever lasts as long as it is to, however
 * often the wall clock is set; and the wall clock, for what somebody was told, or has named. Silence is a
 * matter of receipts alone: its alert time is the clock of receipt.
 */

/** Where an alert stands. Once it is cleared, its rule is ok again, and the next alert is another one. */
export type AlertState = 'ok' | 'pending' | 'firing' | 'acknowledged' | 'cleared'

/**
 * What is remembered of one rule on one stream. `step` changes it in place. It follows from the
 * entries of the journal alone, so it may be saved seldom: what came since is worked out again
 * from the same entries.
 */
export interface RuleMemory {
  state: Exclude<AlertState, 'cleared'>
  /** Since when it is broken, by alert time; nothing while it is ok. */
  sinceUs: number | null
  /** Since when it is no longer broken, while the alert is not cleared yet. */
  clearSinceUs: number | null
  /** When `for` or `clearFor` ends, by the clock of receipt. */
  holdDueUs: number | null
  /** The value that was judged last while there was anything to remember of it. */
  value: Scalar | null
  /** Alert time of the newest transition: the next one is never before it. */
  movedAtUs: number
  /** Cleared by a person: it has to be unbroken once before it can begin again. */
  isDisarmed: boolean
  /** The beginning of the present alert was told: so is its end. */
  isTold: boolean
  /** By the wall clock: somebody has named that instant. */
  mutedUntilUs: number | null
  /** When the newest alerts began, as far as it matters for flapping. */
  firings: number[]
  isFlapping: boolean
  /** How often a flapping alert would have ended, and gone on. */
  flaps: number
  window: AlertWindow | null
  /** When the window is judged although no reading has come after it, by the clock of receipt. */
  windowDueUs: number | null
  /** Windows before it were judged: what comes for them is too late. */
  judgedUntilUs: number
  /** The reading before, where changes are looked at. */
  previous: { timeUs: number; value: number } | null
  /** When it has been silent for too long, by the clock of receipt. */
  silentDueUs: number | null
}

/*
 * `aheadUs` of a signal: how far the wall clock is ahead of the clock of receipt then; the same if nothing
 * is said. `timeAheadUs`: how far it is ahead of alert time, which is the clock of receipt where readings
 * have no time of their own, and else that of their own.
 */

/** A reading that is stored, as the rules of its stream see it. */
export interface ReadingSignal {
  readonly kind: 'reading'
  readonly timeUs: number
  /** By the clock of receipt. */
  readonly receivedAtUs: number
  readonly aheadUs?: number
  readonly timeAheadUs?: number
  readonly values: Readonly<Record<string, unknown>>
  /** Work that conditions may still do for this reading, all rules together: see `conditionSteps`. */
  readonly allowance: { left: number }
}

/** Time has passed, by the clock of receipt: all that was due by then has happened. */
export interface TimerSignal {
  readonly kind: 'timer'
  readonly dueUs: number
  readonly aheadUs?: number
  readonly timeAheadUs?: number
}

/** What a person does, or what changing the definition does, by the clock of receipt. */
export interface HandSignal {
  /**
   * `start`: the rule holds from now on, so silence counts from now. `retire`: it no longer holds, or
   * was changed, and what it has begun ends.
   */
  readonly kind: 'acknowledge' | 'mute' | 'unmute' | 'clear' | 'start' | 'retire'
  readonly atUs: number
  readonly aheadUs?: number
  readonly timeAheadUs?: number
  /** When a mute ends, by the wall clock. */
  readonly untilUs?: number
  /** Who did it. */
  readonly by?: string
}

/** Nobody could be heard in between, by the clock of receipt: the service was away. */
export interface DowntimeSignal {
  readonly kind: 'downtime'
  readonly fromUs: number
  readonly untilUs: number
}

export type Signal = ReadingSignal | TimerSignal | HandSignal | DowntimeSignal

export interface AlertTransition {
  readonly ruleId: string
  readonly severity: Severity
  readonly from: RuleMemory['state']
  readonly to: AlertState
  /** When what it says had become true: by the time of readings, or where that is ours, by the wall clock. */
  readonly atUs: number
  /** By the wall clock: when it became known. */
  readonly knownAtUs: number
  /** Since when the rule is, or was, broken, in the same way. */
  readonly sinceUs: number
  readonly cause: 'reading' | 'timer' | 'person' | 'definition'
  readonly by: string | undefined
  /**
   * The value that was judged: of a field, the result of a function, true of a condition; null of a
   * silence.
   */
  readonly value: Scalar | null
  /** The threshold that it was compared with; of a silence its seconds. */
  readonly threshold: Scalar | null
  /**
   * The notice that is to be given, if any: a muted alert begins untold, and what began untold ends
   * so.
   */
  readonly notice: 'triggered' | 'cleared' | undefined
  readonly isFlapping: boolean
  readonly flaps: number
}

/** The memory of a rule that has seen nothing. */
export function newMemory(): RuleMemory {
  return {
    state: 'ok',
    sinceUs: null,
    clearSinceUs: null,
    holdDueUs: null,
    value: null,
    movedAtUs: 0,
    isDisarmed: false,
    isTold: false,
    mutedUntilUs: null,
    firings: [],
    isFlapping: false,
    flaps: 0,
    window: null,
    windowDueUs: null,
    judgedUntilUs: 0,
    previous: null,
    silentDueUs: null,
  }
}

/**
 * When something happens although no reading comes, by the clock of receipt. It only ever moves on for
 * silence, with each reading: whoever keeps timers may keep the old time, and ask again when it comes.
 * The end of a mute is a matter of the wall clock, and not among them.
 */
export function nextTimerUs({
  holdDueUs,
  windowDueUs,
  silentDueUs,
}: RuleMemory): number | undefined {
  return earlier(earlier(holdDueUs, windowDueUs), silentDueUs) ?? undefined
}

/**
 * When something happens although no reading comes, the end of a mute included, as it is by a wall
 * clock that is ahead of the clock of receipt.
 */
export function nextDueUs(memory: RuleMemory, aheadUs: number): number | undefined {
  const { holdDueUs, windowDueUs, silentDueUs } = memory
  const timerUs = earlier(earlier(holdDueUs, windowDueUs), silentDueUs)
  return earlier(timerUs, muteDueUs(memory, aheadUs)) ?? undefined
}

/** When a mute ends, by the clock of receipt. */
export function muteDueUs({ mutedUntilUs }: RuleMemory, aheadUs: number): number | null {
  return mutedUntilUs === null ? null : mutedUntilUs - aheadUs
}

/** Runs for each reading and rule, so it makes no list. */
function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

/**
 * What the rules of a stream have in common: their time, which never goes back
 * (decisions.md#the-time-of-alerts).
 */
export interface AlertClock {
  timeUs: number
  /** Beginnings of the digests of readings at this time, the newest last: to know repetitions. */
  digests: number[]
  /** Readings that came too late to move anything: `late_for_alerts`. */
  late: number
}

/** Readings of one microsecond that are recognised when they are sent once more. */
const digestsMax = 8

export function newClock(): AlertClock {
  return { timeUs: -1, digests: [], late: 0 }
}

/**
 * Whether a reading moves alerts. An older one does not, and is counted; nor does the same one again.
 *
 * @param digest the first 48 bits of it, where rules count readings (`needsDigest`)
 */
export function admit(clock: AlertClock, timeUs: number, digest?: number): boolean {
  if (timeUs < clock.timeUs) {
    clock.late++
    return false
  }
  if (digest === undefined) {
    clock.timeUs = timeUs
    return true
  }
  const { digests } = clock
  if (timeUs > clock.timeUs) {
    clock.timeUs = timeUs
    digests.length = 0
  } else if (digests.includes(digest)) return false
  else if (digests.length === digestsMax) digests.shift()
  digests.push(digest)
  return true
}
