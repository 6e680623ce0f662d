import { messageStep } from '../../alerts/alert-messages.ts'
import type { Clocks } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import type { NotifyingStatus } from '../../operating/observability/processing-status.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { DeliveryChannel } from '../../telling/delivery/delivery.ts'
import { MailPlanner } from '../../telling/mail/mail-step.ts'
import { FanOut, type FanOutStep } from '../../telling/notifications/fan-out.ts'
import { Inboxes } from '../../telling/notifications/inbox/inbox-step.ts'
import { webhookStep } from '../../telling/webhooks/webhook-step.ts'

export interface FanOutParts {
  readonly clock: Clocks
  /** Called with the receivers of what is planned, before anything is committed. */
  readonly onPlanned: (channel: DeliveryChannel, receiverIds: readonly string[]) => void
  /** Once it is committed, with the owners of the events. */
  readonly onNotified: (ownerIds: ReadonlySet<UserId>) => void
}

/** What notifies users of events, and how it is doing. */
export interface OpenFanOut {
  readonly fanOut: FanOut
  readonly status: () => NotifyingStatus
}

/** Composition of what notifies users of events, where the state is written. */
export async function openFanOut(
  state: StateDatabase,
  { clock, onPlanned, onNotified }: FanOutParts,
): Promise<OpenFanOut> {
  const inboxes = new Inboxes(clock)
  const mails = new MailPlanner({ clock, onPlanned: (ids) => onPlanned('mail', ids) })
  // Every way in which users are notified, in order. To add one: write its file, and name it here.
  const steps: readonly FanOutStep[] = [
    inboxes.step,
    webhookStep((ids) => onPlanned('webhook', ids), clock),
    mails.step,
    messageStep,
  ]
  const fanOut = new FanOut({ clock, steps, onNotified })
  await fanOut.open(state)
  return {
    fanOut,
    status: () => ({
      ...fanOut.status(),
      inboxRefused: inboxes.refused,
      mailsWithheld: mails.withheld,
    }),
  }
}
