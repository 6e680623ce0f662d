import { newDeliveryId } from '../delivery/delivery.ts'
import { mailAttemptsMax } from './mail-policy.ts'

/** What a mail is about. */
export interface PlannedMail {
  readonly recipientId: string
  readonly ownerId: string
  readonly eventId: string
  readonly eventType: string
  readonly resourceId: string
  readonly createdAtUs: number
  /** Time when it is due, in steady time. */
  readonly dueAtUs: number
}

/** A mail as the engine of deliveries finds it: due at once. */
export function mailRow(planned: PlannedMail) {
  const { recipientId, ownerId, eventId, eventType, resourceId, createdAtUs, dueAtUs } = planned
  return {
    id: newDeliveryId(),
    event_id: eventId,
    channel: 'mail',
    receiver_id: recipientId,
    owner_id: ownerId,
    event_type: eventType,
    resource_id: resourceId,
    created_at: createdAtUs,
    state: 'pending',
    phase: 'inline',
    attempts: 0,
    attempts_max: mailAttemptsMax,
    due_at: dueAtUs,
    lease: null,
    last_attempt_at: null,
    body: null,
  } as const
}
