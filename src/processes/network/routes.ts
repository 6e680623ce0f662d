import { connectors } from '../../../connectors/index.ts'
import { judgeOf } from '../../../processors/index.ts'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import { AnchorProofs } from '../../anchors/proofs/anchor-proofs.ts'
import { systemClock } from '../../core/clock.ts'
import type { StreamId } from '../../core/ids.ts'
import { receiptRoutes } from '../../evidence/receipts/receipt-routes.ts'
import { sealRoutes } from '../../evidence/seals/seal-routes.ts'
import { SealStore } from '../../evidence/seals/seal-store.ts'
import type { Downloads } from '../../files/downloads/downloads.ts'
import type { UploadUrls } from '../../files/uploads/upload-urls.ts'
import { AskedActivity } from '../../ingest/activity/asked-activity.ts'
import { ownerQuarantineRoutes } from '../../ingest/quarantine/owner-quarantine-routes.ts'
import { quarantineRoutes } from '../../ingest/quarantine/quarantine-routes.ts'
import { refusedRoutes } from '../../ingest/quarantine/refused-routes.ts'
import type { UnroutedMessages } from '../../ingest/unrouted/unrouted-messages.ts'
import { unroutedRoutes } from '../../ingest/unrouted/unrouted-routes.ts'
import { overviewRoutes } from '../../operating/overview/overview-routes.ts'
import { exportRoutes } from '../../reading/exports/export-routes.ts'
import { importRoutes } from '../../reading/imports/import-routes.ts'
import type { EntriesAtRequest } from '../../reading/live/entries-at.ts'
import { type LiveParts, tailRoutes } from '../../reading/live/tail-routes.ts'
import { dataRoutes } from '../../reading/queries/data-routes.ts'
import { latestRoutes } from '../../reading/queries/latest-routes.ts'
import { queryRoutes } from '../../reading/queries/query-routes.ts'
import { QueryShare } from '../../reading/queries/query-share.ts'
import { removalRoutes } from '../../reading/removals/removal-routes.ts'
import { retentionRoutes } from '../../reading/retention/retention-routes.ts'
import { rememberBody } from '../../requests/http/json-body.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { RefusedReadingsQuery } from '../../storage/time-series/refused-readings.ts'
import { bulkRoutes } from '../../streams/data-streams/bulk-routes.ts'
import { dataStreamRoutes } from '../../streams/data-streams/data-stream-routes.ts'
import { previewRoute } from '../../streams/data-streams/preview-route.ts'
import type { IdempotentRequest } from '../../streams/data-streams/receipt-store.ts'
import { secretRotationRoute } from '../../streams/data-streams/secret-rotation-route.ts'
import { sourceRoutes } from '../../streams/data-streams/source-routes.ts'
import { streamChangeRoutes } from '../../streams/data-streams/stream-change-routes.ts'
import { streamListRoute } from '../../streams/data-streams/stream-list-route.ts'
import type { StreamSources } from '../../streams/data-streams/stream-sources.ts'
import { assertMayEndKeys, type KeysOfVault } from '../../streams/devices/provisioning-rights.ts'
import { fleetChangeRoutes } from '../../streams/fleets/fleet-change-routes.ts'
import type { FleetChanges } from '../../streams/fleets/fleet-changes.ts'
import { fleetDeviceRoutes } from '../../streams/fleets/fleet-device-routes.ts'
import { fleetRoutes } from '../../streams/fleets/fleet-routes.ts'
import { metadataRoutes } from '../../twins/anchored/metadata-routes.ts'
import { proofRoutes } from '../../twins/anchored/proof-routes.ts'
import { retryRoutes } from '../../twins/anchored/retry-routes.ts'
import { assetRoutes } from '../../twins/assets/asset-routes.ts'
import { attachmentDownloadRoutes } from '../../twins/attachments/attachment-download-routes.ts'
import { attachmentRoutes } from '../../twins/attachments/attachment-routes.ts'
import { favoriteRoutes } from '../../twins/favorites/favorite-routes.ts'
import { permissionRoutes } from '../../twins/permissions/permission-routes.ts'
import { templateRoutes } from '../../twins/templates/template-routes.ts'
import { vaultRoutes } from '../../twins/vaults/vault-routes.ts'
import { verificationRoutes } from '../../twins/verification/verification-routes.ts'
import type { Domains } from './domains.ts'
import type { Engine } from './engine.ts'
import type { Sharing } from './sharing.ts'
import type { Transfers } from './transfers.ts'

export interface RoutedParts extends Domains, Omit<Transfers, 'start' | 'stop'> {
  readonly engine: Engine
  readonly posts: Posts
  readonly live: LiveParts
  readonly sources: StreamSources
  /** Keys that devices of a vault register with. */
  readonly keysOfVault: KeysOfVault
  readonly corsOrigins: readonly string[]
  readonly importBytesMax: number
  readonly sealGraceUs: number
  readonly uploadUrls: UploadUrls
  readonly uploadBytesMax: number
  readonly downloads: Downloads
  /** Called when contents of files may have become unused. */
  readonly onReleased: () => void
  readonly sharing: Sharing
  readonly audit: AuditLog
  /** Brings the streams of fleets to where their fleets are. */
  readonly fleetChanges: FleetChanges
  /** Messages of clients of MQTT that lead nowhere. */
  readonly unrouted: UnroutedMessages
}

/**
 * Every group of routes that needs credentials, apart from those of `src/processes/network/access.ts`. To add one: write
 * its file, and a line here.
 */
export function guardedRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  const { engine, directory, topics, fleetDevices, live, sources } = parts
  const { worker } = engine
  const share = new QueryShare()
  const activity = new AskedActivity(worker)
  return [
    ...twinRoutes(parts),
    (callerOf) => dataStreamRoutes({ ...parts, nowUs: () => systemClock.nowUs(), callerOf }),
    (callerOf) => overviewRoutes({ ...parts, ...engine, nowUs, callerOf }),
    (callerOf) => streamListRoute({ ...parts, state: engine.state, activity, nowUs, callerOf }),
    (callerOf) => bulkRoutes({ ...parts, nowUs: () => systemClock.nowUs(), judgeOf, callerOf }),
    (callerOf) =>
      streamChangeRoutes({
        ...parts,
        nowUs: () => systemClock.nowUs(),
        forget({ id, ownerId, fleet }) {
          directory.forget(id)
          if (fleet !== undefined) fleetDevices.forget(fleet)
          topics.forget(ownerId)
          sources.wake(id)
          worker.wakeRetention()
        },
        onDeleted(id) {
          live.tails.endStream(id)
          engine.deletions.wake()
        },
        callerOf,
      }),
    ...fleetsRoutes(parts),
    ...sourcesRoutes(parts),
    (callerOf) => unroutedRoutes({ ...parts, judgeOf, nowUs, callerOf }),
    (callerOf) => previewRoute({ ...parts, nowUs: () => systemClock.nowUs(), callerOf }),
    (callerOf) => favoriteRoutes({ ...parts, callerOf }),
    (callerOf) =>
      dataRoutes({
        ...parts,
        share,
        store: worker.store,
        readLines: (request) => worker.store.readLines(request),
        fieldsOf: (id) => worker.fieldsOf(id),
        nowUs: () => systemClock.nowUs(),
        callerOf,
      }),
    (callerOf) =>
      queryRoutes({
        ...parts,
        share,
        store: worker.store,
        nowUs: () => systemClock.nowUs(),
        callerOf,
      }),
    (callerOf) => latestRoutes({ ...parts, share, latest: worker.store.latest, callerOf }),
    ...transferRoutes(parts),
    ...refusalRoutes(parts),
    ...evidenceRoutes(parts, share),
    ...keptRoutes(parts),
    (callerOf) => tailRoutes({ ...parts, ...live, nowUs, callerOf }),
    ...pushedRoutes(parts),
  ]
}

const nowUs = () => systemClock.nowUs()

/** Readings that are sent to us. */
function pushedRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  const { engine, directory, topics, fleetDevices, receiptStore } = parts
  const { intake, receipts } = engine
  const pushed = {
    intake,
    receipts,
    findStream: (id: StreamId) => directory.find(id),
    receiptOf: (request: IdempotentRequest, atUs: number) =>
      receiptStore.receiptOf(request, atUs, systemClock.steadyUs()),
    assertReady: () => engine.assertReady(),
    fleets: topics,
    devices: fleetDevices,
  }
  return [
    (callerOf) =>
      connectors.httpValidate({
        intake,
        findStream: (id) => directory.find(id),
        answerOnce(sent, plan) {
          if (Buffer.isBuffer(sent.request.body)) rememberBody(sent.request, sent.request.body)
          const { userId } = callerOf(sent.request)
          return parts.posts.answer({ ...sent, userId }, async () => ({
            statusCode: 200,
            body: await plan(),
            changes: [],
          }))
        },
        callerOf,
      }),
    (callerOf) => connectors.httpPush({ ...pushed, callerOf }),
    (callerOf) => connectors.fleetPush({ ...pushed, callerOf }),
    (callerOf) => connectors.influxWrite({ ...pushed, callerOf }),
    (callerOf) => connectors.remoteWrite({ ...pushed, callerOf }),
    (callerOf) => connectors.otlpMetrics({ ...pushed, callerOf }),
  ]
}

/** Digital twins, and what they are made from. */
function twinRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  const { state } = parts.engine
  const proofs = new AnchorProofs(state)
  return [
    (callerOf) => templateRoutes({ ...parts, callerOf }),
    (callerOf) => assetRoutes({ ...parts, callerOf }),
    (callerOf) => attachmentRoutes({ ...parts, callerOf }),
    (callerOf) => attachmentDownloadRoutes({ ...parts, callerOf }),
    (callerOf) => verificationRoutes({ ...parts, callerOf }),
    (callerOf) => permissionRoutes({ ...parts, ...parts.sharing, clock: systemClock, callerOf }),
    (callerOf) => metadataRoutes({ ...parts, state, callerOf }),
    (callerOf) => proofRoutes({ ...parts, state, proofs, callerOf }),
    (callerOf) => retryRoutes({ ...parts, state, clock: systemClock, callerOf }),
    (callerOf) =>
      vaultRoutes({
        ...parts,
        assertMayEndKeys: (caller, id) => assertMayEndKeys(parts.keysOfVault, caller, id),
        callerOf,
      }),
  ]
}

/** One definition for many devices. */
function fleetsRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  const { worker: writer } = parts.engine
  return [
    (callerOf) => fleetRoutes({ ...parts, callerOf }),
    (callerOf) => fleetChangeRoutes({ ...parts, writer, nowUs, callerOf }),
    (callerOf) => fleetDeviceRoutes({ ...parts, nowUs, callerOf }),
  ]
}

/** Where readings come from, other than by being pushed. */
function sourcesRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  return [
    (callerOf) => sourceRoutes({ ...parts, judgeOf, nowUs, callerOf }),
    (callerOf) => secretRotationRoute({ ...parts, nowUs, callerOf }),
  ]
}

/** How long data is kept, and what is removed before that. */
function keptRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  return [
    (callerOf) => retentionRoutes({ ...parts, ...parts.engine, callerOf }),
    (callerOf) => removalRoutes({ ...parts, nowUs, callerOf }),
  ]
}

/** What shows that readings were stored, and what happened to them. */
function evidenceRoutes(parts: RoutedParts, share: QueryShare): readonly GuardedRoutes[] {
  const { live, engine } = parts
  const { state, worker } = engine
  const seals = new SealStore(state, new AnchorProofs(state))
  const receipts = {
    state,
    seals,
    store: worker.store,
    entriesAt: (request: EntriesAtRequest) => live.journal.entriesAt(request),
    countsOf: async (streamId: string) => (await worker.progress(streamId)).counts,
    refused: (query: RefusedReadingsQuery) => worker.refusedReadings(query),
  }
  return [
    (callerOf) => sealRoutes({ ...parts, seals, nowUs, callerOf }),
    (callerOf) => receiptRoutes({ ...parts, ...receipts, share, nowUs, callerOf }),
  ]
}

/** Readings that were not stored. */
function refusalRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  const { worker } = parts.engine
  return [
    (callerOf) => quarantineRoutes({ ...parts, nowUs, callerOf }),
    (callerOf) => ownerQuarantineRoutes({ ...parts, nowUs, callerOf }),
    (callerOf) => refusedRoutes({ ...parts, worker, callerOf }),
  ]
}

/** Readings into files, and files into streams. */
function transferRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  return [
    (callerOf) => exportRoutes({ ...parts, nowUs: () => systemClock.nowUs(), callerOf }),
    (callerOf) => importRoutes({ ...parts, nowUs: () => systemClock.nowUs(), callerOf }),
  ]
}
