import type { Defaulted } from './column.ts'

/** Alerts, what the rules remember, and rules of fleets: see `src/alerts`. */
export interface AlertTables {
  alerts: AlertTable
  alert_history: AlertHistoryTable
  alert_memories: AlertMemoryTable
  alert_rules: AlertRuleTable
  alert_rule_changes: AlertRuleChangeTable
  alert_rule_omissions: AlertRuleOmissionTable
  alert_messages: AlertMessageTable
  downtimes: DowntimeTable
  alert_time: AlertTimeTable
}

interface AlertTable {
  readonly id: string
  readonly stream_id: string
  readonly owner_id: string
  readonly vault_id: string
  readonly rule_id: string
  /** JSON: the rule as it was when the alert began. */
  readonly rule: string
  readonly field: string | null
  readonly severity: string
  /** pending, firing, acknowledged or cleared. */
  readonly state: string
  /** JSON, of the last transition. */
  readonly value: string
  readonly threshold: string
  /** When it began, by the clock of receipt: what lists are sorted by. */
  readonly created_at: number
  /** By the times of the readings; null for what has not fired yet, or goes on. */
  readonly triggered_at: number | null
  readonly cleared_at: number | null
  /** When it ended by the clock of receipt: what its removal is counted from. */
  readonly ended_at: number | null
  readonly acknowledged_at: number | null
  readonly acknowledged_by: string | null
  readonly muted_until: number | null
  /** 1 while it begins and ends so often that not all of it is told. */
  readonly is_flapping: number
  /** Steps of its history, which are numbered from 0 on. */
  readonly steps: number
  /** Number of the newest event that was told of it, among those of its rule and stream; null before there is one. */
  readonly sequence: number | null
}

/** What has happened to an alert: a transition, or what somebody did. */
interface AlertHistoryTable {
  readonly alert_id: string
  readonly step: number
  readonly stream_id: string
  /** reading, timer, rules, or what somebody did: acknowledge, comment, mute, unmute, clear. */
  readonly cause: string
  readonly from_state: string
  readonly to_state: string
  /** The entry of the journal that it follows from. */
  readonly journal_offset: number
  readonly received_at: number
  /** Alert time. */
  readonly at: number
  /** JSON. */
  readonly value: string
  readonly threshold: string
  /** JSON of the reading's fields, where the cause is a reading. */
  readonly reading: string | null
  /** Who did it, where somebody did. */
  readonly user_id: string | null
  readonly api_key_id: string | null
  readonly comment: string | null
  readonly muted_until: number | null
  /** The id of the request, so that its answer can tell that it was done. */
  readonly action_id: string | null
  /** The event that was sent. */
  readonly event_id: string | null
}

/** What the rules of one stream remember: a row for each stream that has such rules. */
interface AlertMemoryTable {
  readonly stream_id: string
  /** The version whose rules these are memories of. */
  readonly version: number
  /** The newest version with rules, or after one with rules: its rules are to begin. */
  readonly newest_version: number
  /** JSON array: the rules of fleets that hold for the stream. */
  readonly fleet_rules: string
  /** JSON object: by rule, what its state machine remembers. */
  readonly memories: string
  /** JSON array: readings of the newest time, to know them again. */
  readonly digests: string
  /** JSON object: how many events each rule has told, see `NoticeSequences`. */
  readonly sequences: string
  /** When the next timer runs out, in steady time; it may be later, and is never earlier. */
  readonly due_at: number | null
  /** When the first mute ends, by the wall clock: somebody has named that instant. */
  readonly muted_until: Defaulted<number | null>
}

/** How far the wall clock was ahead of steady time at the position of the decider. */
interface AlertTimeTable {
  readonly id: number
  readonly ahead: number
  /** Steady time when it was noted. */
  readonly since: number
}

/** An event of an alert that is to be published over MQTT. */
interface AlertMessageTable {
  readonly event_id: string
}

/** A time in which nobody could be heard, because the service was away. */
interface DowntimeTable {
  /** The entry of the journal that says so. */
  readonly journal_offset: number
  readonly from_at: number
  readonly until_at: number
}

/** A rule of many streams. */
interface AlertRuleTable {
  readonly id: string
  readonly owner_id: string
  readonly name: string
  readonly vault_id: string | null
  /** JSON object: tags that a stream has to have. */
  readonly tags: string
  /** JSON object: the rule as it was given, without an id. */
  readonly rule: string
  readonly created_at: number
  readonly updated_at: number
  /** The revision of the rule, counted from 1. */
  readonly revision: number
}

/** A stream that rules of fleets have to be compared for. */
interface AlertRuleChangeTable {
  readonly stream_id: string
  /** How often it was wanted: what was wanted meanwhile is not forgotten. */
  readonly changes: number
}

/** A stream that a rule would be of, and cannot. */
interface AlertRuleOmissionTable {
  readonly rule_id: string
  readonly stream_id: string
  readonly reason: string
}
