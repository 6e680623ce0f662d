import { getHeapStatistics } from 'node:v8'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { AgeClock } from '../../core/age-clock.ts'
import { systemClock } from '../../core/clock.ts'
import { FilePlaces } from '../../core/file-places.ts'
import type { StreamId } from '../../core/ids.ts'
import { reportFaults } from '../../core/threads/faults.ts'
import { lowerPoolPriority, lowerThreadPriority } from '../../core/threads/priority.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import type { SealingStatus } from '../../evidence/seals/sealer.ts'
import { removeUserRemains } from '../../identity/users/user-remains.ts'
import type { ConsumerStatus } from '../../ingest/pipeline/consumer.ts'
import { Decider } from '../../ingest/pipeline/decider.ts'
import { StateDecisionStore } from '../../ingest/pipeline/decision-store.ts'
import { SealMarks } from '../../ingest/pipeline/seal-marks.ts'
import type { ShippedVersion } from '../../ingest/pipeline/shipper.ts'
import { Shipper } from '../../ingest/pipeline/shipper.ts'
import { RemovalGate } from '../../operating/backup/removal-gate.ts'
import { createLogger } from '../../operating/observability/logger.ts'
import type {
  HeldEntries,
  ProcessingStatus,
} from '../../operating/observability/processing-status.ts'
import { noteArrivals } from '../../outbox/events/coalesced-events.ts'
import { RetentionSchedule } from '../../reading/retention/retention-schedule.ts'
import { definedWindows } from '../../reading/windows/defined-windows.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import { JournalHead } from '../../storage/journal/journal-head.ts'
import {
  attemptChanges,
  commitChanges,
  openStateForWriting,
  type PlainChange,
  type StateDatabase,
} from '../../storage/state/database.ts'
import { keepSteadyTime, resumeSteadyTime } from '../../storage/state/steady-time.ts'
import { shapeOf } from '../../storage/time-series/shape.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import { keptEveryUs } from '../../streams/data-streams/deduplication.ts'
import { type VersionedDefinition } from '../../streams/data-streams/definition.ts'
import { StreamRemains } from '../../streams/data-streams/stream-remains.ts'
import { storedFieldsOf } from '../../streams/data-streams/transform-definition.ts'
import { postOwners } from '../../telling/notifications/notified-owners.ts'
import { activityProcedures, openActivity } from './activity.ts'
import { openWorkerAlerts } from './alerts.ts'
import { serveAnchorDesk } from './anchors.ts'
import { backupProcedures } from './backup.ts'
import { serveDeliveryDesk } from './deliveries.ts'
import { startLoops, type WorkerLoops } from './loops.ts'
import { openTimeSeries } from './open-time-series.ts'
import { storeProcedures } from './store-procedures.ts'
import type { StateProcedures, WorkerData, WorkerProcedures } from './worker-contract.ts'

const decidedWaitMs = 2_000

/** The store is not as quick, and a removal of many readings takes seconds. */
const storedWaitMs = 10_000

/**
 * Opens what the worker stands on. The library of the store must not be at work when a start that is refused ends the
 * thread: it would end the process. So both have been opened or not before either is told of, and what is open is
 * closed.
 *
 * @throws what the first of them throws
 */
async function openBoth(
  opening: ReturnType<typeof openState>,
  storing: ReturnType<typeof openTimeSeries>,
) {
  const [opened, stored] = await Promise.allSettled([opening, storing])
  if (opened.status === 'fulfilled' && stored.status === 'fulfilled') {
    return { ...opened.value, store: stored.value }
  }
  if (stored.status === 'fulfilled') await stored.value.close()
  if (opened.status === 'fulfilled') await opened.value.state.destroy()
  throw [opened, stored].find((one) => one.status === 'rejected')?.reason
}

async function openState(path: string) {
  const state = await openStateForWriting(path)
  return { state, time: await resumeSteadyTime(state) }
}

/** Composition root of the worker thread: state, store, and the two consumers of the journal. */
async function compose(data: WorkerData, opening: ReturnType<typeof openState>) {
  const logger = createLogger(data.log)
  const { state, store } = await openBoth(opening, openTimeSeries(data.timeSeries, logger))
  const statePlaces = FilePlaces.ofDatabase(data.statePath)
  // The store's work is done by these: a query of everything would hold up acknowledgements.
  lowerPoolPriority()
  const onNotified = postOwners(data.notified)
  const notifying = await serveDeliveryDesk({ state, clock: systemClock, onNotified }, data.desk)
  const { notify } = notifying
  serveAnchorDesk({ state, clock: systemClock, notify }, data.anchorDesk)
  const alerts = openWorkerAlerts({ state, clock: systemClock, notify, bell: data.bell })
  const decisions = new StateDecisionStore({
    state,
    note: noteArrivals,
    alerts: alerts.watches,
    onDiscard: (streamId) =>
      logger.warn({ streamId }, 'the quarantine is full: refused readings are only counted'),
  })
  const activity = openActivity({ state, store, logger })
  const shipper = new Shipper({
    store,
    loadVersion: (id, version) => loadVersion(state, id, version),
    activity,
  })
  const head = new JournalHead(data.head)
  const marks = new SealMarks()
  const decider = await Decider.open(decisions, { watches: alerts.watches, activity, marks })
  const sealing = { ...data.seals, marks, sealed: data.sealed }
  const retention = new RetentionSchedule({ state, store, clock: systemClock, logger })
  const removalGate = new RemovalGate()
  const forget = forgetting([shipper, decider, alerts.watches, activity])
  const clock = systemClock
  const ages = new AgeClock(clock)
  const removeOwners = async () => await removeUserRemains({ state, ages })
  const pass = removalGate.pass
  const removingRemains = { clock, ages, removeOwners, forget, pass }
  const remains = new StreamRemains({ state, store, logger, ...removingRemains })
  const removing = { clock, forget, removalGate, remains }
  const parts = { notifying, alerts, sealing }
  const opened = { state, statePlaces, store }
  const consumers = { shipper, decisions, decider, activity }
  return { ...parts, ...consumers, ...removing, ...opened, retention, logger, head }
}

/** Has everybody drop what they remember of streams that nobody will meet again. */
function forgetting(parts: readonly { forgetStreams(ids: readonly string[]): void }[]) {
  return (streamIds: readonly string[]) => {
    for (const part of parts) part.forgetStreams(streamIds)
  }
}

async function loadVersion(
  state: StateDatabase,
  id: string,
  version: number,
): Promise<ShippedVersion | undefined> {
  const row = await state
    .selectFrom('data_stream_versions')
    .select('definition')
    .where('stream_id', '=', id as StreamId)
    .where('version', '=', version)
    .executeTakeFirst()
  if (!row) return undefined
  const definition = JSON.parse(row.definition) as VersionedDefinition
  return {
    shape: shapeOf(storedFieldsOf(definition)),
    keptEveryUs: keptEveryUs(definition.processing),
    windows: definedWindows(definition),
  }
}

function heldBy({ durability }: TimeSeriesStore): HeldEntries {
  return {
    from: durability?.keptFrom() ?? Number.POSITIVE_INFINITY,
    bytes: durability?.heldBytes() ?? 0,
    problem: durability?.problem(),
  }
}

function idle(position: Offset): ConsumerStatus {
  return { position, problem: 'not started' }
}

const notSealing: SealingStatus = { marks: 0, added: 0, revised: 0, failures: 0, behindSeconds: 0 }

interface HasStreams {
  readonly streamsAtHand: number
}

/** Heap and streams that the thread holds in memory. */
function inMemory(shipper: HasStreams, decider: HasStreams, alerts: HasStreams) {
  return {
    heapBytes: getHeapStatistics().used_heap_size,
    atHand: {
      shipper: shipper.streamsAtHand,
      decider: decider.streamsAtHand,
      alerts: alerts.streamsAtHand,
    },
  }
}

function stateProcedures(composed: ReturnType<typeof compose>): StateProcedures {
  return {
    async commit(changes: readonly PlainChange[]) {
      const { state, statePlaces, notifying } = await composed
      await commitChanges(state, changes, notifying.notify)
      statePlaces.assertInPlace()
    },
    async attempt(changes: readonly PlainChange[]) {
      const { state, statePlaces, notifying } = await composed
      const isMade = await attemptChanges(state, changes, notifying.notify)
      statePlaces.assertInPlace()
      return isMade
    },
    async wakeRetention() {
      ;(await composed).retention.wake()
    },
    async decidedTotals() {
      return (await composed).decisions.totals()
    },
  }
}

function processingStatus(
  composed: Awaited<ReturnType<typeof compose>>,
  loops: WorkerLoops | undefined,
): ProcessingStatus {
  const { store, shipper, decider, retention, notifying, alerts } = composed
  return {
    shipper: loops?.shipper.status() ?? idle(shipper.position()),
    decider: loops?.decider.status() ?? idle(decider.position()),
    held: heldBy(store),
    totals: store.totals(),
    queries: store.queries(),
    retention: retention.status(),
    notifying: notifying.status(),
    ...inMemory(shipper, decider, alerts.watches),
    windows: {
      ...store.windows.totals(),
      behindSeconds: loops?.materialiser.behindSeconds ?? 0,
      tooSlow: loops?.materialiser.tooSlow ?? 0,
    },
    seals: loops?.sealer.status ?? notSealing,
  }
}

/** All that others are told and heard by. */
function portsOf(data: WorkerData): readonly MessagePort[] {
  const { head, notified, desk, anchorDesk, bell, sealed } = data
  return [head, notified, desk, anchorDesk, bell, sealed]
}

function run(port: MessagePort, data: WorkerData): void {
  // Acknowledgements go before: what is in the journal can wait until there is time for it.
  lowerThreadPriority()
  const opening = openState(data.statePath)
  const composed = compose(data, opening)
  const stopping = new AbortController()
  let loops: WorkerLoops | undefined

  const procedures: WorkerProcedures = {
    async steadyTime() {
      return (await opening).time
    },
    async ready() {
      await composed
    },
    async start() {
      const parts = await composed
      loops = startLoops(parts, data.journalPath, stopping.signal)
      parts.retention.start()
      parts.remains.start()
    },
    ...stateProcedures(composed),
    ...backupProcedures(composed),
    ...storeProcedures(composed),
    ...activityProcedures(composed),
    async decided(offset) {
      await loops?.decider.reaches(offset, AbortSignal.timeout(decidedWaitMs))
      return (await composed).decider.position() >= offset
    },
    async stored(offset) {
      await loops?.shipper.reaches(offset, AbortSignal.timeout(storedWaitMs))
      return (await composed).shipper.position() >= offset
    },
    status: async () => processingStatus(await composed, loops),
    async stop() {
      const { state, store, retention, remains } = await composed
      stopping.abort()
      // A server that does not answer would be waited for.
      store.interrupt?.()
      await Promise.all([loops?.done, retention.stop(), remains.stop()])
      await store.close()
      await keepSteadyTime(state).catch(() => undefined)
      await state.destroy()
      for (const other of portsOf(data)) other.close()
    },
  }
  reportFaults(port)
  serveCalls(port, procedures)
}

if (parentPort) run(parentPort, workerData as WorkerData)
