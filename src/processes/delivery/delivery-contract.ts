import type { MessagePort } from 'node:worker_threads'
import type { SmtpServer } from '../../config/mail.ts'
import type { TracingSettings } from '../../config/tracing.ts'
import type { LogSettings } from '../../core/log-settings.ts'
import type { AllowedDestination } from '../../egress/allowed-destinations.ts'

/** What the thread is started with. What it may be asked is in `delivery-procedures.ts` of its domain. */
export interface DeliveryThreadData {
  readonly statePath: string
  readonly dataDir: string
  /** As it was configured; else it is in the data folder. */
  readonly masterKey: string | undefined
  readonly egressAllowed: readonly AllowedDestination[]
  readonly resendEveryUs: number
  /** Base of the links in mails. */
  readonly publicUrl: string
  readonly smtp: SmtpServer | undefined
  readonly mailFrom: string
  /** Where the state is written. */
  readonly desk: MessagePort
  readonly log: LogSettings
  readonly tracing: TracingSettings | undefined
}
