import type { AlertClock, AlertTransition } from '../../processors/alert-memory.ts'
import type { AlertRule } from '../../processors/alert-rules.ts'
import { type EventId, newId } from '../core/ids.ts'
import { type AlertAction, type AlertRow, alertIdOf, type HistoryRow } from './alert.ts'
import { alertBody } from './alert-body.ts'
import type { NoticeSequences } from './notice-sequences.ts'
import type { RecentReadings } from './recent-readings.ts'
import type { SavedWatch, StreamFacts } from './saved-watch.ts'

/** A stream that has rules: what its alerts are told with, and what is kept of it. */
export interface AlertedStream {
  readonly facts: StreamFacts
  readonly clock: AlertClock
  readonly name: string
  readonly recent: RecentReadings
  readonly sequences: NoticeSequences
  readonly dueUs: number | undefined
  readonly mutedUntilUs: number | undefined
  saved(): SavedWatch
}

/** The entry that something follows from. */
export interface Moment {
  readonly offset: number
  readonly receivedAtUs: number
  /** JSON of its fields, where it is a reading. */
  readonly reading: string | undefined
  readonly action: AlertAction | undefined
}

/** What is to be told of an alert. */
export interface AlertNotice {
  readonly id: EventId
  readonly type: 'stream.alert_triggered' | 'stream.alert_cleared'
  readonly facts: StreamFacts
  readonly alert: AlertRow
  readonly data: object
}

interface Change {
  readonly rule: AlertRule
  /** The alert that goes on. */
  readonly before: AlertRow | undefined
  readonly transition: AlertTransition
  readonly moment: Moment
}

/** What a stretch of the journal has made of alerts: to be written together, with its position. */
export class Findings {
  /** As they are at the end of the stretch. */
  readonly alerts = new Map<string, AlertRow>()
  /** Ids of alerts that were pending, and never fired. */
  readonly dropped = new Set<string>()
  readonly history: HistoryRow[] = []
  readonly notices: AlertNotice[] = []
  /** Streams whose memories have changed. */
  readonly touched = new Set<AlertedStream>()

  /** Notes a transition. Returns the alert, if it goes on. */
  transition(stream: AlertedStream, change: Change): AlertRow | undefined {
    const { rule, before, transition, moment } = change
    const begun = before ?? newAlert(stream.facts, rule, moment)
    if (transition.to === 'ok') {
      this.#drop(begun.id)
      return undefined
    }
    const isNoticed = transition.notice !== undefined
    const sequence = isNoticed ? stream.sequences.next(rule.id) : begun.sequence
    const alert = { ...moved(begun, transition, moment), sequence }
    const notice = this.#notice(stream, alert, transition)
    this.history.push(historyRow(alert, { moment, transition, eventId: notice?.id }))
    this.#set({ ...alert, steps: alert.steps + 1 })
    return transition.to === 'cleared' ? undefined : this.alerts.get(alert.id)
  }

  /** Notes what somebody did that moves nothing. */
  remark(alert: AlertRow, moment: Moment): AlertRow {
    const current = this.alerts.get(alert.id) ?? alert
    this.history.push(historyRow(current, { moment }))
    return this.#set({ ...current, steps: current.steps + 1 })
  }

  /** Notes since when, and how long, nothing is told of an alert. */
  muted(alert: AlertRow, untilUs: number | null): AlertRow {
    return this.#set({ ...(this.alerts.get(alert.id) ?? alert), muted_until: untilUs })
  }

  clear(): void {
    this.alerts.clear()
    this.dropped.clear()
    this.history.length = 0
    this.notices.length = 0
    this.touched.clear()
  }

  #set(alert: AlertRow): AlertRow {
    this.alerts.set(alert.id, alert)
    return alert
  }

  #drop(id: string): void {
    this.alerts.delete(id)
    this.dropped.add(id)
  }

  #notice(
    stream: AlertedStream,
    alert: AlertRow,
    { notice: type }: AlertTransition,
  ): AlertNotice | undefined {
    if (type === undefined) return undefined
    const { facts, recent } = stream
    const notice = {
      id: newId<EventId>(),
      type: `stream.alert_${type}` as const,
      facts,
      alert,
      data: {
        ...alertBody(alert),
        streamName: stream.name,
        links: linksOf(alert),
        readings: recent.points(),
      },
    }
    this.notices.push(notice)
    this.touched.add(stream)
    return notice
  }
}

function newAlert(facts: StreamFacts, rule: AlertRule, moment: Moment): AlertRow {
  return {
    id: alertIdOf(facts.id, rule.id, moment.offset),
    stream_id: facts.id,
    owner_id: facts.ownerId,
    vault_id: facts.vaultId,
    rule_id: rule.id,
    rule: JSON.stringify(rule),
    field: rule.field ?? null,
    severity: rule.severity,
    state: 'pending',
    value: 'null',
    threshold: 'null',
    created_at: moment.receivedAtUs,
    triggered_at: null,
    cleared_at: null,
    ended_at: null,
    acknowledged_at: null,
    acknowledged_by: null,
    muted_until: null,
    is_flapping: 0,
    steps: 0,
    sequence: null,
  }
}

function moved(before: AlertRow, transition: AlertTransition, moment: Moment): AlertRow {
  const { to, atUs, knownAtUs, value, threshold, isFlapping } = transition
  const alert = {
    ...before,
    state: to,
    value: JSON.stringify(value),
    threshold: JSON.stringify(threshold),
    is_flapping: isFlapping ? 1 : 0,
  }
  switch (to) {
    case 'firing':
      return { ...alert, triggered_at: before.triggered_at ?? atUs }
    case 'acknowledged':
      return {
        ...alert,
        acknowledged_at: knownAtUs,
        acknowledged_by: moment.action?.userId ?? null,
      }
    case 'cleared':
      return { ...alert, cleared_at: atUs, ended_at: knownAtUs }
    case 'pending':
      return alert
    case 'ok':
      throw new Error('an alert that came to nothing has no row')
    default:
      return to satisfies never
  }
}

/** A step of an alert, as it stands after it. */
function historyRow(
  alert: AlertRow,
  {
    moment,
    transition,
    eventId,
  }: {
    readonly moment: Moment
    readonly transition?: AlertTransition
    readonly eventId?: string | undefined
  },
): HistoryRow {
  const { offset, receivedAtUs, reading, action } = moment
  return {
    alert_id: alert.id,
    step: alert.steps,
    stream_id: alert.stream_id,
    cause: action?.kind ?? transition?.cause ?? 'timer',
    from_state: transition?.from ?? alert.state,
    to_state: transition?.to ?? alert.state,
    journal_offset: offset,
    received_at: receivedAtUs,
    at: transition?.atUs ?? receivedAtUs,
    value: transition ? JSON.stringify(transition.value) : alert.value,
    threshold: transition ? JSON.stringify(transition.threshold) : alert.threshold,
    reading: transition?.cause === 'reading' ? (reading ?? null) : null,
    user_id: action?.userId ?? null,
    api_key_id: action?.apiKeyId ?? null,
    comment: action?.comment ?? null,
    muted_until: action?.untilUs ?? null,
    action_id: action?.id ?? null,
    event_id: eventId ?? null,
  }
}

/** Where to go on from an event, under the address of the service: pages for people, and an operation for programs. */
function linksOf({ id, stream_id: streamId }: AlertRow) {
  return {
    alert: `/console/record/alert/${id}`,
    explain: `/alerts/${id}/explain`,
    stream: `/console/streams/${streamId}`,
  }
}
