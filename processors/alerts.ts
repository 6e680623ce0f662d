import {
  type AlertTransition,
  type DowntimeSignal,
  type HandSignal,
  muteDueUs,
  nextDueUs,
  type ReadingSignal,
  type RuleMemory,
  type Signal,
} from './alert-memory.ts'
import type { CompiledRule, Scalar, WindowFunction } from './alert-rules.ts'
import {
  alertTimeUs,
  backToOk,
  clear,
  endHold,
  endMute,
  go,
  holdEndUs,
  judge,
  type Move,
} from './alert-states.ts'
import { addToWindow, emptyWindow, resultOf, windowStartOf, withinDoubles } from './alert-window.ts'

/**
 * How long a window stays open for readings after its end, at most, where no later reading closes it:
 * most readings that are under way at its end arrive within that time.
 */
const graceUsMax = 5_000_000

/** Devices that were cut off try again within so long, after whichever downtime. */
const reconnectionUs = 60_000_000

/** Work that the conditions of all rules of a stream may do for one reading, in `Allowance` steps. */
export const conditionSteps = 2_000

const none: readonly AlertTransition[] = []

/**
 * Moves one rule on one stream by one signal, and answers what follows. Pure but for the memory, which
 * is changed in place: the same signals always lead to the same transitions.
 *
 * First time passes, by both clocks, and then the signal counts: what was due before it happens before
 * it, whether or not a timer has said so. So timers only make known earlier what the next reading would
 * tell anyway. Readings that are not admitted (`admit`) must not come here.
 */
export function step(
  rule: CompiledRule,
  memory: RuleMemory,
  signal: Signal,
): readonly AlertTransition[] {
  if (signal.kind === 'reading') {
    if (isIdleThreshold(rule, memory)) {
      const value = scalarOf(signal.values, rule.field)
      // Nearly all readings: nothing is wrong, and nothing was.
      if (value === undefined || !rule.breaks(value)) return none
    }
    return stepReading(rule, memory, signal)
  }
  if (signal.kind === 'downtime') {
    grantGrace(rule, memory, signal)
    return none
  }
  const atUs = signal.kind === 'timer' ? signal.dueUs : signal.atUs
  const move = begun(rule, memory, atUs, signal)
  expire(move, atUs)
  if (signal.kind !== 'timer') obey(move, signal)
  return move.transitions
}

/**
 * Silence counts only while somebody could be heard: as long as nobody could be, everybody has
 * time to be heard again, but no longer than the rule gives anyway. What ran out before that had
 * every chance. Once more for the same downtime it changes nothing.
 */
function grantGrace(
  { silentForUs = 0 }: CompiledRule,
  memory: RuleMemory,
  { fromUs, untilUs }: DowntimeSignal,
): void {
  if (memory.silentDueUs === null || memory.silentDueUs <= fromUs) return
  const graceUs = Math.min(silentForUs, Math.max(untilUs - fromUs, reconnectionUs))
  memory.silentDueUs = Math.max(memory.silentDueUs, untilUs + graceUs)
}

function isIdleThreshold({ kind }: CompiledRule, memory: RuleMemory): boolean {
  const { state, isDisarmed, mutedUntilUs } = memory
  return kind === 'threshold' && state === 'ok' && !isDisarmed && mutedUntilUs === null
}

function stepReading(
  rule: CompiledRule,
  memory: RuleMemory,
  signal: ReadingSignal,
): readonly AlertTransition[] {
  const { timeUs, receivedAtUs: knownAtUs } = signal
  const move = begun(rule, memory, knownAtUs, signal)
  expire(move, knownAtUs)
  move.cause = 'reading'
  move.knownAtUs = knownAtUs
  advance(move, timeUs)
  take(move, signal)
  return move.transitions
}

function begun(
  rule: CompiledRule,
  memory: RuleMemory,
  knownAtUs: number,
  { aheadUs = 0, timeAheadUs = 0 }: Pick<ReadingSignal, 'aheadUs' | 'timeAheadUs'>,
): Move {
  return { rule, memory, transitions: [], cause: 'timer', knownAtUs, aheadUs, timeAheadUs }
}

/** All that is due by a time of the clock of receipt happens, in its order. */
function expire(move: Move, untilUs: number): void {
  const { memory, aheadUs } = move
  for (;;) {
    const dueUs = nextDueUs(memory, aheadUs)
    if (dueUs === undefined || dueUs > untilUs) return
    move.knownAtUs = dueUs
    if (muteDueUs(memory, aheadUs) === dueUs) endMute(move)
    else if (memory.holdDueUs === dueUs) endHold(move)
    else if (memory.windowDueUs === dueUs) closeWindow(move)
    else {
      memory.silentDueUs = null
      judge(move, true, dueUs)
    }
  }
}

/** All that ends by an alert time happens, in its order. */
function advance(move: Move, timeUs: number): void {
  const { rule, memory } = move
  // Silence is a matter of the other clock.
  if (rule.kind === 'silence') return
  const { windowUs = 0 } = rule
  for (;;) {
    const holdUs = holdEndUs(rule, memory) ?? Number.POSITIVE_INFINITY
    const windowEndUs =
      memory.window === null ? Number.POSITIVE_INFINITY : memory.window.startUs + windowUs
    if (Math.min(holdUs, windowEndUs) > timeUs) return
    if (holdUs <= windowEndUs) endHold(move)
    else closeWindow(move)
  }
}

/** What a reading itself says. */
function take(move: Move, signal: ReadingSignal): void {
  const { rule, memory } = move
  const { timeUs, receivedAtUs, values } = signal
  const value = scalarOf(values, rule.field)
  switch (rule.kind) {
    case 'condition': {
      const isMet = rule.evaluate?.(values, timeUs + move.timeAheadUs, signal.allowance)
      if (isMet !== undefined) judge(move, isMet, timeUs)
      return
    }
    case 'silence':
      if (rule.field !== undefined && !isPresent(values, rule.field)) return
      memory.silentDueUs = Math.max(memory.silentDueUs ?? 0, receivedAtUs + (rule.silentForUs ?? 0))
      judge(move, false, receivedAtUs)
      return
    case 'threshold':
      if (value !== undefined) judge(move, value, timeUs)
      return
    case 'rate':
      if (typeof value === 'number') takeChange(move, value, timeUs)
      return
    case 'window':
      takeIntoWindow(move, signal)
      return
    default:
      rule.kind satisfies never
  }
}

/** The change from the reading before, per second. Of two at one time the later one counts. */
function takeChange(move: Move, value: number, timeUs: number): void {
  const { memory } = move
  const { previous } = memory
  memory.previous = { timeUs, value }
  if (previous === null || previous.timeUs === timeUs) return
  const seconds = (timeUs - previous.timeUs) / 1_000_000
  judge(move, withinDoubles((value - previous.value) / seconds), timeUs)
}

function takeIntoWindow({ rule, memory }: Move, signal: ReadingSignal): void {
  const { windowUs = 0, field } = rule
  const { timeUs, receivedAtUs, values } = signal
  if (timeUs < memory.judgedUntilUs) return
  // A count looks at no value, but that there is one.
  const isCounted = rule.function === 'count' && (field === undefined || isPresent(values, field))
  const value = isCounted ? 1 : scalarOf(values, field)
  if (value === undefined) return
  memory.window ??= emptyWindow(windowStartOf(timeUs, windowUs))
  if (memory.window.count === 0) {
    const leftUs = memory.window.startUs + windowUs - timeUs
    memory.windowDueUs = receivedAtUs + leftUs + Math.min(windowUs, graceUsMax)
  }
  addToWindow(memory.window, value)
}

/**
 * Judges the window that has ended. Of windows without a reading only a count says something, and all of
 * them in a row say the same: the first one is judged for all.
 */
function closeWindow(move: Move): void {
  const { rule, memory } = move
  const { window } = memory
  const { windowUs = 0 } = rule
  if (window === null) return
  const endUs = window.startUs + windowUs
  memory.judgedUntilUs = endUs
  memory.window = null
  memory.windowDueUs = null
  if (rule.function === 'count' && window.count > 0) {
    memory.window = emptyWindow(endUs)
    memory.windowDueUs = move.knownAtUs + windowUs
  }
  const result = resultOf(rule.function as WindowFunction, window)
  if (result !== undefined) judge(move, result, endUs)
}

/** Does what a person or a definition says; nothing where it makes no sense any more. */
function obey(move: Move, { kind, atUs: knownAtUs, untilUs, by }: HandSignal): void {
  const { rule, memory } = move
  const atUs = alertTimeUs(move, knownAtUs)
  const isFiring = memory.state === 'firing' || memory.state === 'acknowledged'
  move.cause = kind === 'retire' ? 'definition' : 'person'
  move.knownAtUs = knownAtUs
  move.by = by
  switch (kind) {
    case 'acknowledge':
      if (memory.state === 'firing') go(move, 'acknowledged', atUs)
      return
    case 'mute':
      memory.mutedUntilUs = untilUs ?? null
      return
    case 'unmute':
      endMute(move)
      return
    case 'clear':
      if (!isFiring) return
      clear(move, atUs)
      memory.isDisarmed = true
      return
    case 'retire':
      if (isFiring) clear(move, atUs)
      else if (memory.state === 'pending') backToOk(move, atUs)
      return
    case 'start':
      if (rule.silentForUs !== undefined) memory.silentDueUs ??= knownAtUs + rule.silentForUs
      return
    default:
      kind satisfies never
  }
}

function scalarOf(
  values: Readonly<Record<string, unknown>>,
  field: string | undefined,
): Scalar | undefined {
  if (field === undefined) return undefined
  const value = values[field]
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
    ? value
    : undefined
}

/** Nothing in a reading is what every object inherits. */
function isPresent(values: Readonly<Record<string, unknown>>, field: string): boolean {
  return Object.hasOwn(values, field) && values[field] !== null && values[field] !== undefined
}
