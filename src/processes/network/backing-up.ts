import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { AuditLog } from '../../access/audit/audit-log.ts'
import type { Config } from '../../config/config.ts'
import { productVersion } from '../../config/product-version.ts'
import { systemClock } from '../../core/clock.ts'
import type { UnusedContents } from '../../files/contents/unused-contents.ts'
import { backupRoutes } from '../../operating/backup/backup-routes.ts'
import type { BackedUp } from '../../operating/backup/backup-run.ts'
import { BackupStore } from '../../operating/backup/backup-store.ts'
import { Backups } from '../../operating/backup/backups.ts'
import { fileNames } from '../../operating/backup/manifest.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { Engine } from './engine.ts'

const stagingName = 'backup-staging'

export interface BackingUp {
  readonly backups: Backups
  readonly routes: (posts: Posts) => GuardedRoutes
}

export interface BackingUpNeeds {
  readonly config: Config
  readonly logger: Logger
  readonly unused: UnusedContents
}

/** Composition of what makes backups of a running service. */
export async function openBackups(
  engine: Engine,
  { config, logger, unused }: BackingUpNeeds,
): Promise<BackingUp> {
  const { state, worker, folder } = engine
  const staging = join(folder.path, stagingName)
  // What a backup that was cut off has left behind.
  rmSync(staging, { recursive: true, force: true })
  const backups = new Backups({
    store: new BackupStore(state, worker),
    parts: backedUp(engine, config, unused),
    clock: systemClock,
    productVersion: productVersion(),
    egressAllowed: config.egressAllowed,
    dataDir: resolve(folder.path),
    staging,
    secrets: () => secretsOf(engine, config),
    onEnd({ error, ...facts }) {
      if (facts.state === 'failed') logger.warn({ ...facts, error }, 'a backup has failed')
      else logger.info(facts, 'a backup has ended')
    },
  })
  await backups.open()
  const audit = new AuditLog(state, systemClock)
  return {
    backups,
    routes: (posts) => (callerOf) => backupRoutes({ backups, audit, posts, callerOf }),
  }
}

function backedUp(engine: Engine, config: Config, unused: UnusedContents): BackedUp {
  const { trimming, commits, journal, journalPath, worker, folder } = engine
  return {
    holdTrimming: () => trimming.hold(),
    betweenCommits: (work) => commits.between(work),
    journalHead: async () => (await journal.status()).head,
    journalPath,
    snapshots: { state: folder.state, mqttSessions: folder.mqttSessions },
    holdRemovals: () => worker.holdRemovals(),
    releaseRemovals: () => worker.releaseRemovals(),
    contents:
      config.filesAddress.kind === 's3' ? { kind: 's3' } : { kind: 'folder', path: folder.files },
    holdContents: () => unused.hold(),
    releaseContents: () => unused.release(),
    ledgerFolder: folder.ledger,
    copyStore: (path) => worker.copyStore(path),
    endCopy: () => worker.endCopy(),
    stopCopy: () => worker.stopCopy(),
  }
}

/** The key to all secrets, and the generated bootstrap key where there is one. */
function secretsOf({ folder }: Engine, { masterKey }: Config) {
  const key = masterKey === undefined ? readFileSync(folder.masterKey, 'utf8') : `${masterKey}\n`
  const admin = existsSync(folder.admin)
    ? [{ name: fileNames.admin, text: readFileSync(folder.admin, 'utf8') }]
    : []
  return [{ name: fileNames.masterKey, text: key }, ...admin]
}
