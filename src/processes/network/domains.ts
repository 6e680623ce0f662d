import { openAlerts } from '../../alerts/open-alerts.ts'
import type { ConfiguredNetworks } from '../../anchors/intents/chosen-network.ts'
import { type EarlierSalts, earlierSalt } from '../../anchors/metadata/earlier-salt.ts'
import type { Config } from '../../config/config.ts'
import { systemClock } from '../../core/clock.ts'
import type { SecretDigests } from '../../core/idempotency-key.ts'
import type { AssetStreamId, AttachmentId } from '../../core/ids.ts'
import { OwnerQuarantine } from '../../ingest/quarantine/owner-quarantine.ts'
import { QuarantineStore } from '../../ingest/quarantine/quarantine-store.ts'
import { Reviews } from '../../ingest/quarantine/reviews.ts'
import { Trials } from '../../ingest/quarantine/trials.ts'
import { failingParts } from '../../operating/observability/facts.ts'
import { type AccessedVault, noteAccess } from '../../outbox/events/coalesced-events.ts'
import { QueriedStreams } from '../../reading/queries/queried-streams.ts'
import { Removals } from '../../reading/removals/removals.ts'
import { openStateForReading } from '../../storage/state/database.ts'
import { DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { ReadingsExports } from '../../streams/data-streams/readings-export.ts'
import { ReceiptStore } from '../../streams/data-streams/receipt-store.ts'
import { StreamChanges } from '../../streams/data-streams/stream-changes.ts'
import { DeviceDirectory } from '../../streams/fleets/device-directory.ts'
import { FleetDeviceStore } from '../../streams/fleets/fleet-device-store.ts'
import { FleetStore } from '../../streams/fleets/fleet-store.ts'
import { NewStreams, type NewStreamsNeeds } from '../../streams/fleets/new-streams.ts'
import { Units } from '../../streams/units/units.ts'
import type { AssetStream } from '../../twins/asset-streams/asset-stream.ts'
import {
  type AssetStreamHalvesNeeds,
  assetStreamHalves,
} from '../../twins/asset-streams/asset-stream-routes.ts'
import {
  AssetStreamStore,
  type AssetStreamStoreNeeds,
} from '../../twins/asset-streams/asset-stream-store.ts'
import { withMetadata } from '../../twins/asset-streams/earlier-asset-stream.ts'
import { AssetStore, forgottenAssets } from '../../twins/assets/asset-store.ts'
import {
  AttachmentStore,
  type AttachmentStoreNeeds,
} from '../../twins/attachments/attachment-store.ts'
import { FavoriteStore } from '../../twins/favorites/favorite-store.ts'
import { forgottenSignatures, SignatureStore } from '../../twins/signatures/signature-store.ts'
import { TemplateStore } from '../../twins/templates/template-store.ts'
import { VaultStore } from '../../twins/vaults/vault-store.ts'
import { VerificationStore } from '../../twins/verification/verification-store.ts'
import type { Engine } from './engine.ts'

export type Domains = ReturnType<typeof openDomains>

/** Parts that the routes and the connectors of the service stand on, each made once. */
export function openDomains(
  engine: Engine,
  { publicUrl, uploadWaitUs, ledgers }: Pick<Config, 'publicUrl' | 'uploadWaitUs' | 'ledgers'>,
  digests: SecretDigests,
) {
  const { state, worker, directory, commits, entries } = engine
  const saltOf = (id: string) => earlierSalt(digests, id)
  const stored = { state, writer: worker, clock: systemClock, saltOf }
  const streams = new DataStreamStore(state, systemClock)
  const quarantine = new QuarantineStore(state)
  const processing = processingOf(engine)
  const networks: ConfiguredNetworks = new Map(
    ledgers.map(({ ledger, network }) => [ledger, network]),
  )
  return {
    streams,
    changes: new StreamChanges(stored),
    directory,
    topics: engine.topics,
    ...fleetParts(engine, { streams, publicUrl }),
    templates: new TemplateStore(stored),
    vaults: new VaultStore(stored),
    verifications: new VerificationStore(stored),
    saltOf,
    networks,
    ...assetParts(stored, { lifecycle: engine.lifecycle, networks }),
    ...attachedParts({ ...stored, uploadWaitUs }, engine.folder.state),
    quarantine,
    ownerQuarantine: new OwnerQuarantine(state),
    reviews: new Reviews({
      quarantine,
      commits: entries,
      directory,
      processing,
      clock: systemClock,
    }),
    trials: new Trials({ quarantine, clock: systemClock }),
    queried: new QueriedStreams(state),
    units: new Units(),
    exports: new ReadingsExports(),
    removals: new Removals({
      commits,
      clock: systemClock,
      caughtUp: async () => worker.stored((await engine.journal.status()).head),
    }),
    alerts: openAlerts(state, worker.store),
    favorites: new FavoriteStore(stored),
    receiptStore: new ReceiptStore({ state, writer: worker, digests }),
    processing,
    lifecycle: engine.lifecycle,
    async noteAccess(vault: AccessedVault) {
      const note = await noteAccess(state, vault, systemClock.nowUs())
      if (note) await worker.commit(note)
    },
    publicUrl,
  }
}

/** One definition for many devices, and the streams that they get by it. */
function fleetParts(
  { state, worker: writer, lifecycle }: Engine,
  around: Pick<NewStreamsNeeds, 'streams' | 'publicUrl'>,
) {
  const fleets = new FleetStore(state, systemClock)
  const newStreams = new NewStreams({ ...around, state, writer, fleets, lifecycle })
  const devicesOfFleets = new FleetDeviceStore(state)
  return { fleets, newStreams, devicesOfFleets, fleetDevices: new DeviceDirectory(newStreams) }
}

/** Records of assets, and what is issued for them. */
function assetParts(
  stored: AssetStreamStoreNeeds & EarlierSalts,
  around: Pick<AssetStreamHalvesNeeds, 'lifecycle' | 'networks'>,
) {
  const assetStreams = new AssetStreamStore(stored)
  const removedWith = (id: AssetStreamId) => forgottenAssets(stored.state, id)
  return {
    assetStreams,
    assets: new AssetStore(stored),
    assetHalves: assetStreamHalves({ ...around, assetStreams, removedWith }),
    withMetadata: (some: readonly AssetStream[]) => withMetadata(stored, some),
  }
}

/** What is attached, and who has signed it. */
function attachedParts(
  needs: Omit<AttachmentStoreNeeds, 'removedWith' | 'openView'>,
  statePath: string,
) {
  const openView = () => openStateForReading(statePath)
  const removedWith = (id: AttachmentId) => forgottenSignatures(needs.state, id)
  return {
    attachments: new AttachmentStore({ ...needs, openView, removedWith }),
    signatures: new SignatureStore(needs),
  }
}

/** How far the readings of a stream have come. */
function processingOf({ journal, worker, diskSpace, folderWatch }: Engine) {
  return {
    caughtUp: async () => worker.decided((await journal.status()).head),
    progress: (id: string) => worker.progress(id),
    async problem() {
      const failing = await failingParts({ journal, worker, diskSpace, folderWatch })
      return Object.values(failing)[0]
    },
  }
}
