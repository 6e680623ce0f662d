import type { Clock } from '../../core/clock.ts'
import { conflict } from '../../core/conflict.ts'
import { invalidParameter, messageOf } from '../../core/errors.ts'
import { type BackupId, newId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import { formatUs } from '../../core/time.ts'
import type { AllowedDestination } from '../../egress/allowed-destinations.ts'
import type { Backup } from './backup.ts'
import { type BackupAddress, parseBackupAddress } from './backup-place.ts'
import { type BackedUp, BackupRun } from './backup-run.ts'
import type { BackupStore } from './backup-store.ts'
import type { StagedText } from './backup-writer.ts'

export interface BackupsNeeds {
  readonly store: BackupStore
  readonly parts: BackedUp
  readonly clock: Clock
  readonly productVersion: string
  readonly egressAllowed: readonly AllowedDestination[]
  /** The data folder, in which no backup can be. */
  readonly dataDir: string
  /** Where copies lie that an object store has no folder for. */
  readonly staging: string
  /** What `withMasterKey` adds. */
  readonly secrets: () => readonly StagedText[]
  /** Called when a backup has failed or is done. */
  readonly onEnd: (backup: Pick<Backup, 'id' | 'to' | 'state' | 'error'>) => void
}

/** Makes backups, one at a time. */
export class Backups {
  readonly #needs: BackupsNeeds
  #running:
    | { readonly id: BackupId; readonly run: BackupRun; readonly ended: Promise<void> }
    | undefined
  #lastCompletedAtUs = 0
  #failures = 0

  constructor(needs: BackupsNeeds) {
    this.#needs = needs
  }

  /** Whether one is being made now. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** When the last one since the start of the service was completed; 0: none. */
  get lastCompletedAtUs(): number {
    return this.#lastCompletedAtUs
  }

  get failures(): number {
    return this.#failures
  }

  /** Says of those that were running when the service ended that they have failed. */
  async open(): Promise<void> {
    await this.#needs.store.endCutOff(this.#needs.clock.nowUs())
  }

  /** @throws DomainError `invalid_request` for a place that can be none */
  plan(to: string, withMasterKey: boolean) {
    const { store, clock, dataDir } = this.#needs
    const address = parseBackupAddress(to)
    assertOutside(address, dataDir)
    const backup = { id: newId<BackupId>(), to, withMasterKey, createdAtUs: clock.nowUs() }
    return {
      backup: { ...unfinished, ...backup } satisfies Backup,
      change: store.beginning(backup),
      refusal: async () =>
        conflict(
          'a backup is being made already',
          'Wait until GET /backups says that it has ended, or end it with POST /backups/{backupId}/cancel.',
        ),
      start: () => this.#start(backup, address),
    }
  }

  async find(id: BackupId): Promise<Backup | undefined> {
    const backup = await this.#needs.store.find(id)
    return backup && this.#withProgress(backup)
  }

  /** Newest first. */
  async list(after: ListCursor | undefined, limit: number): Promise<Backup[]> {
    const found = await this.#needs.store.list(after, limit)
    return found.map((backup) => this.#withProgress(backup))
  }

  /** Resolves when a backup is not running any more; what there was of it is removed. */
  async cancel(id: BackupId): Promise<void> {
    if (this.#running?.id !== id) return
    this.#running.run.stop(cancelled)
    await this.#running.ended
  }

  /** Ends the one that is running. */
  async close(): Promise<void> {
    this.#running?.run.stop('the service was stopped')
    await this.#running?.ended
  }

  #start(backup: Pick<Backup, 'id' | 'to' | 'withMasterKey'>, address: BackupAddress): void {
    const { parts, productVersion, egressAllowed, staging, clock, secrets } = this.#needs
    const run = new BackupRun(parts, {
      backupId: backup.id,
      address,
      rules: { egressAllowed },
      staging,
      productVersion,
      secrets: backup.withMasterKey ? secrets() : [],
      nowText: () => formatUs(clock.nowUs()),
    })
    const ended = this.#make(run, backup).finally(() => {
      this.#running = undefined
    })
    this.#running = { id: backup.id, run, ended }
  }

  async #make(run: BackupRun, { id, to }: Pick<Backup, 'id' | 'to'>): Promise<void> {
    const { store, clock, onEnd } = this.#needs
    try {
      const manifest = await run.make()
      this.#lastCompletedAtUs = clock.nowUs()
      await store.end(id, { state: 'completed', finishedAtUs: this.#lastCompletedAtUs, manifest })
      onEnd({ id, to, state: 'completed', error: undefined })
    } catch (failure) {
      const state = run.stopReason === cancelled ? 'cancelled' : 'failed'
      const error = messageOf(failure)
      if (state === 'failed') this.#failures++
      onEnd({ id, to, state, error })
      // A state that takes no changes now is told so at the next start.
      await store.end(id, { state, finishedAtUs: clock.nowUs(), error }).catch(() => undefined)
    }
  }

  #withProgress(backup: Backup): Backup {
    const running = this.#running
    if (running?.id !== backup.id || backup.state !== 'running') return backup
    return { ...backup, progress: running.run.progress }
  }
}

const cancelled = 'the backup was cancelled'

const unfinished = {
  state: 'running',
  finishedAtUs: undefined,
  progress: undefined,
  error: undefined,
  manifest: undefined,
} as const

function assertOutside(address: BackupAddress, dataDir: string): void {
  if (address.kind !== 'folder') return
  const isWithin = `${address.path}/`.startsWith(`${dataDir}/`)
  if (isWithin) throw invalidParameter('to', 'lies in the data folder, which it is to outlive')
}
