import type { severities } from '../../../processors/alert-rules.ts'
import type { EmailRecipientId, UserId } from '../../core/ids.ts'

/** An address is told nothing before who reads it has said yes; after too many failures it is DISABLED. */
export const recipientStatuses = ['PENDING_VERIFICATION', 'ACTIVE', 'DISABLED'] as const

export type RecipientStatus = (typeof recipientStatuses)[number]

export type Severity = (typeof severities)[number]

/** A receiver of events by mail. */
export interface Recipient {
  readonly id: EmailRecipientId
  readonly ownerId: UserId
  readonly createdAtUs: number
  /** Address as it was given. */
  readonly email: string
  readonly status: RecipientStatus
  /** When who reads the mailbox has said yes. */
  readonly verifiedAtUs: number | undefined
  /** Severities of the alerts that it is told of; an empty list leaves nothing out. */
  readonly severities: readonly Severity[]
  /** Counts its changes by people. */
  readonly version: number
  readonly consecutiveFailures: number
  readonly lastDeliveryAtUs: number | undefined
  readonly recordedAttempts: number
}

/** Addresses of one user (decisions.md#mail); those that are DISABLED count as well. */
export const recipientsMax = 5

/** The type of a mail that asks for consent: it is no event, and has no entry in the catalogue. */
export const verificationType = 'email.verification'

/** Whether it may be sent anything but the question whether it wants to. */
export function isMailed({ status, verifiedAtUs }: Recipient): boolean {
  return status === 'ACTIVE' && verifiedAtUs !== undefined
}
