import { openAlerts } from './alerts/open-alerts.ts'
import type { Config } from './config/config.ts'
import { systemClock } from './core/clock.ts'
import type { SecretDigests } from './core/idempotency-key.ts'
import { DataStreamStore } from './data-streams/data-stream-store.ts'
import { ReadingsExports } from './data-streams/readings-export.ts'
import { ReceiptStore } from './data-streams/receipt-store.ts'
import { StreamChanges } from './data-streams/stream-changes.ts'
import type { Engine } from './engine.ts'
import { type AccessedVault, noteAccess } from './events/coalesced-events.ts'
import { FavoriteStore } from './favorites/favorite-store.ts'
import { failingParts } from './observability/facts.ts'
import { QuarantineStore } from './quarantine/quarantine-store.ts'
import { Reviews } from './quarantine/reviews.ts'
import { QueriedStreams } from './queries/queried-streams.ts'
import { Removals } from './removals/removals.ts'
import { TemplateStore } from './templates/template-store.ts'
import { Units } from './units/units.ts'
import { VaultStore } from './vaults/vault-store.ts'

export type Domains = ReturnType<typeof openDomains>

/** What the routes and the connectors of the service stand on, each made once. */
export function openDomains(
  engine: Engine,
  { publicUrl }: Pick<Config, 'publicUrl'>,
  digests: SecretDigests,
) {
  const { state, worker, directory, commits, entries } = engine
  const streams = new DataStreamStore(state, systemClock)
  const quarantine = new QuarantineStore(state)
  const processing = processingOf(engine)
  return {
    streams,
    changes: new StreamChanges(state, worker, systemClock),
    directory,
    topics: engine.topics,
    templates: new TemplateStore(state, worker, systemClock),
    vaults: new VaultStore(state, worker, systemClock),
    quarantine,
    reviews: new Reviews({
      quarantine,
      commits: entries,
      directory,
      processing,
      clock: systemClock,
    }),
    queried: new QueriedStreams(state),
    units: new Units(),
    exports: new ReadingsExports(),
    removals: new Removals({
      commits,
      clock: systemClock,
      caughtUp: async () => worker.stored((await engine.journal.status()).head),
    }),
    alerts: openAlerts(state, worker),
    favorites: new FavoriteStore(state, worker, systemClock),
    receiptStore: new ReceiptStore(state, worker, digests),
    processing,
    lifecycle: engine.lifecycle,
    async noteAccess(vault: AccessedVault) {
      const note = await noteAccess(state, vault, systemClock.nowUs())
      if (note) await worker.commit(note)
    },
    publicUrl,
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
