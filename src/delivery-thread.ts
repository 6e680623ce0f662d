import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openMasterKey } from './auth/bootstrap.ts'
import { systemClock } from './core/clock.ts'
import { backlogOf } from './delivery/backlog.ts'
import { Deliverer } from './delivery/deliverer.ts'
import type { DeliveryProcedures, DeskProcedures } from './delivery/delivery-procedures.ts'
import { StateDeliveryReader } from './delivery/delivery-reader.ts'
import type { DeskRequest } from './delivery/desk.ts'
import { AllowedDestinations, type Destination } from './egress/allowed-destinations.ts'
import { EgressGuard } from './egress/egress-guard.ts'
import { GuardedHttp } from './egress/guarded-http.ts'
import { isCoalesced } from './events/event-types.ts'
import { createLogger, type LogLevel } from './observability/logger.ts'
import { openStateForReading } from './state/database.ts'
import { lowerThreadPriority } from './threads/priority.ts'
import { Caller, serveCalls } from './threads/rpc.ts'
import { WebhookAttempts } from './webhooks/webhook-attempt.ts'
import { WebhookReader } from './webhooks/webhook-reader.ts'

/** What the thread is started with. */
export interface DeliveryThreadData {
  readonly statePath: string
  readonly dataDir: string
  /** As it was configured; else it is in the data folder. */
  readonly masterKey: string | undefined
  readonly egressAllowed: readonly Destination[]
  readonly resendEveryUs: number
  /** Where the state is written. */
  readonly desk: MessagePort
  readonly logLevel: LogLevel
}

/** Composition of the thread that delivers: it reads the state itself, and has others write it. */
function run(port: MessagePort, data: DeliveryThreadData): void {
  // Acknowledgements go before.
  lowerThreadPriority()
  const logger = createLogger(data.logLevel)
  const state = openStateForReading(data.statePath)
  const guard = new EgressGuard({ allowed: new AllowedDestinations(data.egressAllowed) })
  const http = new GuardedHttp(guard)
  const cipher = openMasterKey(data.dataDir, data.masterKey)
  const attempts = new WebhookAttempts({
    state,
    webhooks: new WebhookReader(state, cipher),
    http,
    guard,
    clock: systemClock,
  })
  const desk = new Caller<DeskProcedures>(data.desk)
  const deliverer = new Deliverer({
    clock: systemClock,
    desk: {
      exchange: (request: DeskRequest) => desk.call('exchange', request),
      news: () => desk.call('news', undefined),
    },
    reader: new StateDeliveryReader(state),
    attempt: attempts.make,
    resendEveryUs: data.resendEveryUs,
    isReplaceable: isCoalesced,
    onFailure: (error) => logger.error({ err: error }, 'deliveries wait: there was a failure'),
  })
  const procedures: DeliveryProcedures = {
    changed(webhookIds) {
      attempts.forget(webhookIds)
      deliverer.wake(webhookIds)
    },
    async stats() {
      return { ...deliverer.stats(), ...(await backlogOf(state, systemClock.nowUs())) }
    },
    async stop() {
      await deliverer.stop()
      await http.close()
      await state.destroy()
      data.desk.close()
    },
  }
  serveCalls(port, procedures)
  deliverer.start()
}

if (parentPort) run(parentPort, workerData as DeliveryThreadData)
