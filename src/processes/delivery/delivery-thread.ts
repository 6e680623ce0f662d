import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Logger } from 'pino'
import { openMasterKey } from '../../access/auth/bootstrap.ts'
import type { MasterKey } from '../../access/auth/master-key.ts'
import { systemClock } from '../../core/clock.ts'
import { reportFaults } from '../../core/threads/faults.ts'
import { lowerThreadPriority } from '../../core/threads/priority.ts'
import { Caller, serveCalls } from '../../core/threads/rpc.ts'
import type { Tracing } from '../../core/tracing.ts'
import { AllowedDestinations } from '../../egress/allowed-destinations.ts'
import { EgressGuard } from '../../egress/egress-guard.ts'
import { GuardedHttp } from '../../egress/guarded-http.ts'
import { createLogger } from '../../operating/observability/logger.ts'
import { startTracing } from '../../operating/tracing/start-tracing.ts'
import { isCoalesced } from '../../outbox/events/event-types.ts'
import { openStateForReading, type StateDatabase } from '../../storage/state/database.ts'
import { attemptMsMax } from '../../telling/delivery/attempt.ts'
import { backlogOf } from '../../telling/delivery/backlog.ts'
import { Deliverer } from '../../telling/delivery/deliverer.ts'
import type { DelivererNeeds } from '../../telling/delivery/deliverer-needs.ts'
import { consequenceOf, type DeliveryChannel } from '../../telling/delivery/delivery.ts'
import type {
  DeliveryProcedures,
  DeskProcedures,
} from '../../telling/delivery/delivery-procedures.ts'
import { StateDeliveryReader } from '../../telling/delivery/delivery-reader.ts'
import type { DeskRequest } from '../../telling/delivery/desk.ts'
import { tracedMails } from '../../telling/delivery/traced-attempts.ts'
import { MailAttempts } from '../../telling/mail/mail-attempt.ts'
import { MailLinks } from '../../telling/mail/mail-links.ts'
import { mailConsequenceOf } from '../../telling/mail/mail-policy.ts'
import { SmtpTransport, smtpConnectionsMax } from '../../telling/mail/smtp-transport.ts'
import { SmtpTroubles } from '../../telling/mail/smtp-troubles.ts'
import { WebhookAttempts } from '../../telling/webhooks/webhook-attempt.ts'
import { WebhookReader } from '../../telling/webhooks/webhook-reader.ts'
import type { DeliveryThreadData } from './delivery-contract.ts'

interface Parts {
  readonly data: DeliveryThreadData
  readonly state: StateDatabase
  readonly cipher: MasterKey
  readonly logger: Logger
  readonly tracing: Tracing | undefined
}

/** Composition of the thread that delivers: it reads the state itself, and has others write it. */
async function run(port: MessagePort, data: DeliveryThreadData): Promise<void> {
  // Acknowledgements go before.
  lowerThreadPriority()
  const logger = createLogger(data.log)
  const tracing = await startTracing(data.tracing, logger)
  const state = openStateForReading(data.statePath)
  const cipher = openMasterKey(data.dataDir, data.masterKey)
  const parts: Parts = { data, state, cipher, logger, tracing }
  const common = commonNeeds(parts)
  const webhooks = deliversToWebhooks(parts, common)
  const mail = deliversMail(parts, common)
  const procedures: DeliveryProcedures = {
    changed({ channel, receiverIds }) {
      if (channel === 'mail') return mail.deliverer.wake(receiverIds)
      webhooks.attempts.forget(receiverIds)
      webhooks.deliverer.wake(receiverIds)
    },
    async stats() {
      return {
        webhooks: webhooks.deliverer.stats(),
        mail: mail.deliverer.stats(),
        tracing: tracing?.figures(),
        ...(await backlogOf(state, systemClock.steadyUs())),
      }
    },
    async stop() {
      await Promise.all([webhooks.deliverer.stop(), mail.deliverer.stop()])
      mail.close()
      await webhooks.close()
      await tracing?.stop()
      await state.destroy()
      data.desk.close()
    },
  }
  reportFaults(port)
  serveCalls(port, procedures)
  webhooks.deliverer.start()
  mail.deliverer.start()
}

type CommonNeeds = (
  channel: DeliveryChannel,
) => Pick<
  DelivererNeeds,
  'clock' | 'desk' | 'reader' | 'resendEveryUs' | 'isReplaceable' | 'onFailure'
>

function commonNeeds({ data, state, logger }: Parts): CommonNeeds {
  const desk = new Caller<DeskProcedures>(data.desk)
  return (channel) => ({
    clock: systemClock,
    desk: {
      exchange: (request: DeskRequest) => desk.calls.exchange(request),
      dueReceivers: () => desk.calls.dueReceivers(channel),
    },
    reader: new StateDeliveryReader(state, channel),
    resendEveryUs: data.resendEveryUs,
    isReplaceable: isCoalesced,
    onFailure: (error) =>
      logger.error({ err: error, channel }, 'deliveries wait: there was a failure'),
  })
}

function deliversToWebhooks({ data, state, cipher, tracing }: Parts, common: CommonNeeds) {
  const guard = new EgressGuard({ allowed: new AllowedDestinations(data.egressAllowed) })
  const http = new GuardedHttp(guard)
  const webhooks = new WebhookReader(state, cipher)
  const attempts = new WebhookAttempts({
    state,
    webhooks,
    http,
    guard,
    clock: systemClock,
    tracing,
  })
  const deliverer = new Deliverer({
    ...common('webhook'),
    attempt: attempts.make,
    consequenceOf,
    attemptsMax: 1_024,
    attemptsOfUserMax: 256,
  })
  return { deliverer, attempts, close: () => http.close() }
}

/** An engine of its own: a mail server that hangs holds up no webhook. */
function deliversMail({ data, state, cipher, logger, tracing }: Parts, common: CommonNeeds) {
  const smtp = data.smtp && new SmtpTransport(data.smtp, data.mailFrom)
  const links = new MailLinks(cipher, data.publicUrl)
  const troubles = new SmtpTroubles((error) =>
    logger.warn({ err: error }, 'the mail server does not take mail'),
  )
  const attempts = new MailAttempts({
    state,
    links,
    smtp,
    timeoutMs: attemptMsMax,
    onTrouble: (error) => troubles.report(error),
  })
  const deliverer = new Deliverer({
    ...common('mail'),
    attempt: tracedMails(attempts.make, tracing, data.smtp),
    consequenceOf: mailConsequenceOf,
    // As many as there are connections: none waits in the transport while its time runs.
    attemptsMax: smtpConnectionsMax,
    attemptsOfUserMax: smtpConnectionsMax / 2,
  })
  return { deliverer, close: () => smtp?.close() }
}

if (parentPort) await run(parentPort, workerData as DeliveryThreadData)
