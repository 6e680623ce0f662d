import type { Defaulted } from './column.ts'

/** Who is told of events by mail: see `src/telling/mail`. What became of it is with the deliveries of webhooks. */
export interface MailTables {
  email_recipients: EmailRecipientTable
  email_verifications: EmailVerificationTable
}

interface EmailRecipientTable {
  readonly id: string
  readonly owner_id: string
  readonly created_at: number
  /** As it was given. */
  readonly email: string
  /** The address in the form that makes two of them the same one. */
  readonly email_folded: string
  /** PENDING_VERIFICATION, ACTIVE or DISABLED. */
  readonly status: string
  /** When who reads the mailbox has said yes; null: not yet, or not any more. */
  readonly verified_at: number | null
  /** JSON array: of which alerts it is told; an empty one leaves nothing out. */
  readonly severities: string
  /** Counts its changes by people. */
  readonly version: Defaulted<number>
  readonly consecutive_failures: Defaulted<number>
  /** The end of the newest attempt that the mail server took. */
  readonly last_delivery_at: number | null
  /** Rows that it has in `delivery_attempts`. */
  readonly recorded_attempts: Defaulted<number>
  /** A minute of steady time, and how many mails were written for it in that one. */
  readonly minute: Defaulted<number>
  readonly written: Defaulted<number>
}

/** A mail that has asked an address whether it wants to be told; kept for as long as they are limited. */
interface EmailVerificationTable {
  readonly delivery_id: string
  readonly owner_id: string
  readonly email_folded: string
  /** In steady time. */
  readonly sent_at: number
}
