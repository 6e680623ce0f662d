import type {
  AlertTransition,
  DowntimeSignal,
  HandSignal,
  ReadingSignal,
  Signal,
} from '../../processors/alert-memory.ts'
import type { AlertRule, Scalar } from '../../processors/alert-rules.ts'
import { recomputed } from './alert-results.ts'

/**
 * What docs/alerts.md says of one rule on one stream, written down a second time: with all that has ever
 * happened at hand, and nothing worked out in advance.
 */
export function modelledTransitions(
  rule: AlertRule,
  signals: readonly Signal[],
): readonly AlertTransition[] {
  const model = new AlertModel(rule)
  for (const signal of signals) model.take(signal)
  return model.transitions
}

const second = 1_000_000
const minute = 60 * second

interface Hold {
  readonly endsAt: number
  readonly isDueAt: number
}

interface Candidate {
  readonly at: number
  readonly act: () => void
}

class AlertModel {
  readonly transitions: AlertTransition[] = []
  readonly #rule: AlertRule
  #state: 'ok' | 'pending' | 'firing' | 'acknowledged' = 'ok'
  #brokenSince = 0
  #hold: Hold | undefined
  #value: Scalar | null = null
  #isDisarmed = false
  #mutedUntil: number | undefined
  #flaps = 0
  #silenceDue: number | undefined
  #window: { start: number; due: number; values: Scalar[] } | undefined
  #judgedUntil = 0
  #lastNumber: readonly [at: number, value: number] | undefined
  #cause: AlertTransition['cause'] = 'reading'
  #known = 0
  #by: string | undefined

  constructor(rule: AlertRule) {
    this.#rule = rule
  }

  take(signal: Signal): void {
    this.#by = undefined
    if (signal.kind === 'timer') this.#passReceipt(signal.dueUs)
    else if (signal.kind === 'downtime') this.#excuse(signal)
    else if (signal.kind === 'reading') {
      this.#passReceipt(signal.receivedAtUs)
      this.#cause = 'reading'
      this.#known = signal.receivedAtUs
      this.#passAlertTime(signal.timeUs)
      this.#read(signal)
    } else {
      this.#passReceipt(signal.atUs)
      this.#cause = signal.kind === 'retire' ? 'definition' : 'person'
      this.#known = signal.atUs
      this.#by = signal.by
      this.#obey(signal)
    }
  }

  /** Whose time was not over when nobody could be heard any more has some from when everybody can. */
  #excuse({ fromUs, untilUs }: DowntimeSignal): void {
    const { silentForUs } = this.#rule
    if (silentForUs === undefined || this.#silenceDue === undefined) return
    if (this.#silenceDue <= fromUs) return
    const atLeast = untilUs - fromUs < minute ? minute : untilUs - fromUs
    const given = atLeast < silentForUs ? atLeast : silentForUs
    if (this.#silenceDue < untilUs + given) this.#silenceDue = untilUs + given
  }

  #passReceipt(until: number): void {
    this.#cause = 'timer'
    this.#passAll(until, () => [
      candidate(this.#mutedUntil, () => this.#unmute()),
      candidate(this.#hold?.isDueAt, () => this.#endHold()),
      candidate(this.#window?.due, () => this.#closeWindow()),
      candidate(this.#silenceDue, () => {
        const at = this.#silenceDue ?? 0
        this.#silenceDue = undefined
        this.#judge(true, at)
      }),
    ])
  }

  #passAlertTime(until: number): void {
    if (this.#rule.silentForUs !== undefined) return
    this.#passAll(until, () => [
      candidate(this.#hold?.endsAt, () => this.#endHold()),
      candidate(this.#windowEnd(), () => this.#closeWindow()),
    ])
  }

  #windowEnd(): number | undefined {
    return this.#window && this.#window.start + (this.#rule.windowUs ?? 0)
  }

  /** Does what is due by a time, one after the other, whichever is due first. */
  #passAll(until: number, candidates: () => readonly Candidate[]): void {
    for (;;) {
      const [next] = candidates().toSorted((left, right) => left.at - right.at)
      if (next === undefined || next.at > until) return
      if (this.#cause === 'timer') this.#known = next.at
      next.act()
    }
  }

  #read({ timeUs, receivedAtUs, values }: ReadingSignal): void {
    const { field, silentForUs, condition, windowUs, function: name } = this.#rule
    const value = field === undefined ? undefined : (values[field] as Scalar | null | undefined)
    const isThere = field === undefined || (value !== undefined && value !== null)
    if (silentForUs !== undefined) {
      if (!isThere) return
      this.#silenceDue = Math.max(this.#silenceDue ?? 0, receivedAtUs + silentForUs)
      this.#judge(false, receivedAtUs)
    } else if (condition !== undefined) {
      // The one condition of the tests: t > 5.0.
      const { t } = values
      if (typeof t === 'number') this.#judge(t > 5, timeUs)
    } else if (!isThere) return
    else if (windowUs !== undefined) {
      this.#collect(value ?? 1, timeUs, receivedAtUs)
    } else if (name === 'rate') {
      const before = this.#lastNumber
      this.#lastNumber = [timeUs, value as number]
      if (before === undefined || before[0] === timeUs) return
      this.#judge(((value as number) - before[1]) / ((timeUs - before[0]) / second), timeUs)
    } else this.#judge(value as Scalar, timeUs)
  }

  #collect(value: Scalar, timeUs: number, receivedAtUs: number): void {
    const { windowUs = 0 } = this.#rule
    if (timeUs < this.#judgedUntil) return
    const start = Math.floor(timeUs / windowUs) * windowUs
    this.#window ??= { start, due: 0, values: [] }
    if (this.#window.values.length === 0) {
      this.#window.due = receivedAtUs + (start + windowUs - timeUs) + Math.min(windowUs, 5 * second)
    }
    this.#window.values.push(value)
  }

  #closeWindow(): void {
    const { windowUs = 0, function: name } = this.#rule
    const { start, values } = this.#window ?? { start: 0, values: [] }
    const end = start + windowUs
    this.#judgedUntil = end
    const goesOn = name === 'count' && values.length > 0
    this.#window = goesOn ? { start: end, due: this.#known + windowUs, values: [] } : undefined
    const result = recomputed(name ?? '', values)
    if (result !== undefined) this.#judge(result, end)
  }

  #judge(value: Scalar, at: number): void {
    const { operator = '==', threshold = true, clearThreshold = threshold } = this.#rule
    const isBroken = compare(value, operator, threshold)
    const isClear = !compare(value, operator, clearThreshold)
    if (isClear) this.#isDisarmed = false
    if (this.#state === 'ok' && (!isBroken || this.#isDisarmed)) return
    this.#value = value
    if (isBroken) this.#break(at)
    else if (this.#state === 'pending') this.#move('ok', at)
    else if (!isClear) this.#interrupt()
    else if (this.#hold === undefined) {
      const needed = this.#isFlapping()
        ? Math.max(this.#rule.clearForUs, 10 * minute)
        : this.#rule.clearForUs
      if (needed === 0) this.#move('cleared', at)
      else this.#hold = { endsAt: at + needed, isDueAt: this.#known + needed }
    }
  }

  #break(at: number): void {
    const { forUs } = this.#rule
    if (this.#state === 'ok') {
      this.#brokenSince = at
      if (forUs === 0) this.#move('firing', at)
      else {
        this.#move('pending', at)
        this.#hold = { endsAt: at + forUs, isDueAt: this.#known + forUs }
      }
    } else if (this.#state !== 'pending') this.#interrupt()
  }

  #interrupt(): void {
    if (this.#hold !== undefined && this.#isFlapping()) this.#flaps++
    this.#hold = undefined
  }

  #endHold(): void {
    this.#move(this.#state === 'pending' ? 'firing' : 'cleared', this.#hold?.endsAt ?? 0)
  }

  #unmute(): void {
    this.#mutedUntil = undefined
    if (this.#state === 'firing' && !this.#wasTold()) this.#move('firing', this.#known, 'triggered')
  }

  #obey({ kind, atUs, untilUs }: HandSignal): void {
    const isOn = this.#state === 'firing' || this.#state === 'acknowledged'
    if (kind === 'acknowledge' && this.#state === 'firing') this.#move('acknowledged', atUs)
    if (kind === 'mute') this.#mutedUntil = untilUs
    if (kind === 'unmute') this.#unmute()
    if (kind === 'start' && this.#rule.silentForUs !== undefined) {
      this.#silenceDue ??= atUs + this.#rule.silentForUs
    }
    if (kind === 'retire' && this.#state === 'pending') this.#move('ok', atUs)
    if ((kind === 'clear' || kind === 'retire') && isOn) {
      this.#move('cleared', atUs)
      this.#isDisarmed = kind === 'clear' || this.#isDisarmed
    }
  }

  /** Whether the beginning of the alert that is on was told. */
  #wasTold(): boolean {
    const begun = this.transitions.findLastIndex(({ from }) => from === 'ok')
    return this.transitions.slice(begun).some(({ notice }) => notice === 'triggered')
  }

  /** Five beginnings within ten minutes, since the last time that it was said to be over. */
  #isFlapping(extra: readonly number[] = []): boolean {
    const ended = this.transitions.findLastIndex((each) => each.to === 'cleared' && each.isFlapping)
    const begun = this.transitions.slice(ended + 1).filter(isBeginning)
    const times = [...begun.map((each) => this.#firedAt.get(each) ?? 0), ...extra]
    const newest = times.at(-1) ?? 0
    return times.filter((time) => time > newest - 10 * minute).length >= 5
  }

  /** When each alert began, which its transition may say later, to be in order. */
  readonly #firedAt = new Map<AlertTransition, number>()

  #move(to: AlertTransition['to'], at: number, retold?: 'triggered'): void {
    const { id, severity, silentForUs, threshold } = this.#rule
    const from = this.#state
    const begins = to === 'firing' && retold === undefined
    const isMuted = this.#mutedUntil !== undefined && this.#mutedUntil > this.#known
    const isFlapping = this.#isFlapping(begins ? [at] : [])
    const told = to === 'cleared' && this.#wasTold() ? 'cleared' : undefined
    const begun = begins && !isMuted ? 'triggered' : undefined
    const earliest = this.transitions.at(-1)?.atUs ?? 0
    const atUs = Math.max(at, earliest)
    const transition: AlertTransition = {
      ruleId: id,
      severity,
      from,
      to,
      atUs,
      knownAtUs: this.#known,
      sinceUs: this.#brokenSince,
      cause: this.#cause,
      by: this.#by,
      value: silentForUs === undefined ? this.#value : null,
      threshold: silentForUs === undefined ? (threshold ?? null) : silentForUs / second,
      notice: retold ?? told ?? begun,
      isFlapping,
      flaps: this.#flaps,
    }
    this.transitions.push(transition)
    if (begins) this.#firedAt.set(transition, at)
    if (to === 'ok' || to === 'cleared') {
      this.#state = 'ok'
      this.#flaps = 0
      this.#value = null
    } else this.#state = to
    // Muting and acknowledging leave what is under way as it is.
    if (to !== 'acknowledged' && retold === undefined) this.#hold = undefined
  }
}

function candidate(at: number | undefined, act: () => void): Candidate {
  return { at: at ?? Number.POSITIVE_INFINITY, act }
}

function isBeginning({ from, to }: AlertTransition): boolean {
  return to === 'firing' && from !== 'firing'
}

function compare(value: Scalar, operator: string, bound: Scalar): boolean {
  if (operator === '==' || operator === '!=') return (value === bound) === (operator === '==')
  if (value === bound) return operator.endsWith('=')
  return operator.startsWith('>') ? value > bound : value < bound
}
