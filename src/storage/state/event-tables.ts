import type { Defaulted } from './column.ts'

/** What has happened, and who is told of it: see `src/outbox/events` and `src/telling/notifications`. */
export interface EventTables {
  events: EventTable
  coalesced_events: CoalescedEventTable
  notification_preferences: NotificationPreferencesTable
  inboxes: InboxTable
  inbox_entries: InboxEntryTable
  inbox_counts: InboxCountTable
}

interface EventTable {
  readonly id: string
  readonly owner_id: string
  readonly type: string
  readonly at: number
  readonly resource_type: string
  readonly resource_id: string
  /** What it is about, for filters. */
  readonly vault_id: string | null
  readonly stream_id: string | null
  readonly template_id: string | null
  /** How serious an alert is. */
  readonly severity: Defaulted<string | null>
  /** JSON object: the resource as the API shows it. */
  readonly data: string
  /**
   * 0: not yet, 1: told, 2: suppressed as a repetition (decisions.md#repetitions-of-an-event),
   * 3: waits, as there were many.
   */
  readonly fanned_out: Defaulted<number>
  /** 1: without mail and inbox entries. */
  readonly quiet: Defaulted<number>
}

/**
 * What happens so often that it is told at most once a second
 * (decisions.md#events-that-are-coalesced): what there is to tell by now.
 */
interface CoalescedEventTable {
  readonly type: string
  readonly resource_id: string
  readonly owner_id: string
  readonly vault_id: string
  /** Null for what is about the vault. */
  readonly stream_id: string | null
  /** How often it happened since it was told. */
  readonly count: number
  readonly last_at: number
  /** When it may be told again, in steady time. */
  readonly due_at: number
}

/** Preferences of users who have changed them; all others have the default ones. */
interface NotificationPreferencesTable {
  readonly owner_id: string
  /** JSON object, as the API shows it. */
  readonly preferences: string
}

/** How far the inbox of each user has come who was ever told something. */
interface InboxTable {
  readonly owner_id: string
  /** The position of the newest entry: they count from 1 on, and none is given twice. */
  readonly newest: number
  /** Every entry up to this position is read. */
  readonly read_through: Defaulted<number>
  /** Every entry up to this position is archived. */
  readonly archived_through: Defaulted<number>
  /** Minutes of steady time, and how many entries were written in that one. */
  readonly minute: number
  readonly written: number
}

interface InboxEntryTable {
  readonly id: string
  readonly owner_id: string
  readonly position: number
  readonly created_at: number
  /**
   * When it was created, in steady time: how long it stands for others of its kind counts from
   * there.
   */
  readonly noted_at: Defaulted<number>
  readonly expires_at: number
  /** When it expires, in hours since the epoch: what it is counted under. */
  readonly hour: number
  readonly event_id: string
  readonly type: string
  readonly event_type: string
  readonly title: string
  readonly message: string
  readonly resource_type: string
  readonly resource_id: string
  /** What it is about besides: null where nothing of that kind is. */
  readonly vault_id: Defaulted<string | null>
  readonly stream_id: Defaulted<string | null>
  /** How serious an alert is. */
  readonly severity: string | null
  readonly read_at: number | null
  readonly archived_at: number | null
}

/** How many entries of an inbox expire in the same hour: counting a million of them would take too long. */
interface InboxCountTable {
  readonly owner_id: string
  readonly hour: number
  /** Entries that are not archived. */
  readonly listed: number
  /** Entries of these that are not read. */
  readonly unread: number
}
