import type { AlertState, AlertTransition, RuleMemory } from './alert-memory.ts'
import type { CompiledRule, Scalar } from './alert-rules.ts'

const minuteUs = 60_000_000

/** How many beginnings make an alert flap, and within how long, by alert time. */
const flappingFirings = 5
const flappingWithinUs = 10 * minuteUs

/** A flapping alert ends when its rule was not broken for so long. */
const quietUs = 10 * minuteUs

/** One step of one rule under way: what moves it, and what has come of it so far. */
export interface Move {
  readonly rule: CompiledRule
  readonly memory: RuleMemory
  readonly transitions: AlertTransition[]
  cause: AlertTransition['cause']
  /** By the clock of receipt: when what happens has become known. */
  knownAtUs: number
  /** How far the wall clock is ahead of the clock of receipt, and of alert time (see `Signal`). */
  readonly aheadUs: number
  readonly timeAheadUs: number
  by?: string | undefined
}

/** The alert time of what happens now: of a silence it is the clock of receipt. */
export function alertTimeUs(move: Move, receiptUs: number): number {
  return receiptUs + move.aheadUs - shownAheadUs(move)
}

/** From alert time to what is shown. */
function shownAheadUs({ rule, aheadUs, timeAheadUs }: Move): number {
  return rule.kind === 'silence' ? aheadUs : timeAheadUs
}

/** Takes a value that holds from an alert time on. */
export function judge(move: Move, value: Scalar, atUs: number): void {
  const { rule, memory } = move
  if (rule.breaks(value)) {
    judgeBroken(move, value, atUs)
    return
  }
  const { state } = memory
  if (rule.clears(value)) memory.isDisarmed = false
  if (state === 'ok') return
  memory.value = value
  if (state === 'pending') backToOk(move, atUs)
  else if (rule.clears(value)) beginClearing(move, atUs)
  else goOn(memory)
}

function judgeBroken(move: Move, value: Scalar, atUs: number): void {
  const { rule, memory } = move
  if (memory.state === 'ok') {
    if (memory.isDisarmed) return
    memory.value = value
    memory.sinceUs = atUs
    if (rule.forUs === 0) fire(move, atUs)
    else {
      memory.holdDueUs = move.knownAtUs + rule.forUs
      go(move, 'pending', atUs)
    }
    return
  }
  memory.value = value
  if (memory.state !== 'pending') goOn(memory)
}

/** What had begun to clear is broken again, or is no longer clear. */
function goOn(memory: RuleMemory): void {
  if (memory.clearSinceUs === null) return
  memory.clearSinceUs = null
  memory.holdDueUs = null
  if (memory.isFlapping) memory.flaps++
}

function beginClearing(move: Move, atUs: number): void {
  const { rule, memory } = move
  if (memory.clearSinceUs !== null) return
  const neededUs = clearForUs(rule, memory)
  if (neededUs === 0) {
    clear(move, atUs)
    return
  }
  memory.clearSinceUs = atUs
  memory.holdDueUs = move.knownAtUs + neededUs
}

/** When `for` or `clearFor` ends by alert time; nothing while neither is under way. */
export function holdEndUs(rule: CompiledRule, memory: RuleMemory): number | undefined {
  const { state, sinceUs, clearSinceUs } = memory
  if (state === 'pending') return (sinceUs ?? 0) + rule.forUs
  return clearSinceUs === null ? undefined : clearSinceUs + clearForUs(rule, memory)
}

/** It was broken, or not broken, for long enough. */
export function endHold(move: Move): void {
  const { rule, memory } = move
  const endUs = holdEndUs(rule, memory) ?? 0
  if (memory.state === 'pending') fire(move, endUs)
  else clear(move, endUs)
}

function clearForUs(rule: CompiledRule, { isFlapping }: RuleMemory): number {
  return isFlapping ? Math.max(rule.clearForUs, quietUs) : rule.clearForUs
}

function fire(move: Move, atUs: number): void {
  const { memory, knownAtUs, aheadUs } = move
  memory.holdDueUs = null
  memory.firings = memory.firings.filter((firedAtUs) => firedAtUs > atUs - flappingWithinUs)
  memory.firings.push(atUs)
  memory.isFlapping = memory.firings.length >= flappingFirings
  memory.isTold = memory.mutedUntilUs === null || memory.mutedUntilUs <= knownAtUs + aheadUs
  go(move, 'firing', atUs, memory.isTold ? 'triggered' : undefined)
}

/** Ends the alert, in whichever way. */
export function clear(move: Move, atUs: number): void {
  const { memory } = move
  go(move, 'cleared', atUs, memory.isTold ? 'cleared' : undefined)
  if (memory.isFlapping) memory.firings = []
  memory.isTold = false
  memory.isFlapping = false
  memory.flaps = 0
  forget(memory)
}

/** Ends what has begun without having become an alert. */
export function backToOk(move: Move, atUs: number): void {
  go(move, 'ok', atUs)
  forget(move.memory)
}

function forget(memory: RuleMemory): void {
  memory.state = 'ok'
  memory.sinceUs = null
  memory.clearSinceUs = null
  memory.holdDueUs = null
  memory.value = null
}

/** An alert that began while it was muted, and goes on when that ends, is told then. */
export function endMute(move: Move): void {
  const { memory } = move
  memory.mutedUntilUs = null
  if (memory.state !== 'firing' || memory.isTold) return
  memory.isTold = true
  go(move, 'firing', alertTimeUs(move, move.knownAtUs), 'triggered')
}

export function go(
  move: Move,
  to: AlertState,
  atUs: number,
  notice?: AlertTransition['notice'],
): void {
  const { rule, memory, transitions, cause, knownAtUs, aheadUs, by } = move
  const { state: from, sinceUs, value, isFlapping, flaps } = memory
  memory.movedAtUs = Math.max(memory.movedAtUs, atUs)
  const shownUs = shownAheadUs(move)
  transitions.push({
    ruleId: rule.id,
    severity: rule.severity,
    from,
    to,
    atUs: memory.movedAtUs + shownUs,
    knownAtUs: knownAtUs + aheadUs,
    sinceUs: (sinceUs ?? memory.movedAtUs) + shownUs,
    cause,
    by,
    value: rule.kind === 'silence' ? null : value,
    threshold: thresholdOf(rule),
    notice,
    isFlapping,
    flaps,
  })
  if (to !== 'cleared') memory.state = to
}

function thresholdOf({ threshold, silentForUs }: CompiledRule): Scalar | null {
  return silentForUs === undefined ? (threshold ?? null) : silentForUs / 1_000_000
}
