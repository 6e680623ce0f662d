import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../../core/errors.ts'
import { race } from '../../core/race.ts'
import { RemoteThread } from '../../core/threads/remote-thread.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type { TrimHold } from '../../storage/journal/trim-schedule.ts'
import type { ServedRows, StoreCopy } from '../../storage/time-series/store-copy.ts'
import type { BackupProcedures, BackupThreadData } from './backup-thread.ts'
import type {
  BackupProgress,
  ContentSource,
  SnapshotPaths,
  StagedFile,
  StagedText,
} from './backup-writer.ts'
import { backupFormat, type Manifest } from './manifest.ts'

/** How often it is looked at how far a backup has come. */
const progressMs = 250

/** Acknowledgements wait for it; a machine that needs longer is asked again by another backup. */
const cutMsMax = 2_000

/** What a backup is made of. */
export interface BackedUp {
  readonly holdTrimming: () => Promise<TrimHold>
  /** Does something while nothing is committed to the journal. */
  readonly betweenCommits: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly journalHead: () => Promise<Offset>
  readonly journalPath: string
  readonly snapshots: SnapshotPaths
  readonly holdRemovals: () => Promise<void>
  readonly releaseRemovals: () => Promise<void>
  readonly contents: ContentSource
  /** Keeps the contents of users' files that the state knows from being removed. */
  readonly holdContents: () => Promise<void>
  readonly releaseContents: () => void
  /** The folder of the ledger of our own. */
  readonly ledgerFolder: string
  readonly copyStore: (folder: string) => Promise<StoreCopy>
  /** Resolves with why the copy of the store is of no use, if so. */
  readonly endCopy: () => Promise<string | undefined>
  readonly stopCopy: () => Promise<void>
}

/** What one backup was asked for. */
export interface BackupOrder extends BackupThreadData {
  readonly backupId: string
  readonly productVersion: string
  /** Texts of files that are only there when they were asked for. */
  readonly secrets: readonly StagedText[]
  readonly nowText: () => string
}

/**
 * One backup, from the first step to the manifest. The order makes the parts fit together:
 *
 * 1. Trimming is held, and no deleted stream is removed.
 * 2. The time series are copied: nothing is stored meanwhile, so the copy has one position.
 * 3. Between two commits of the journal the moment of state and MQTT sessions is fixed. All they know of the
 *    journal lies before its head at that moment, and all entries before it are about versions that they know.
 * 4. The journal is packed, from the position of whoever is behind up to that head.
 * 5. The contents of users' files are packed that the state knows, none of which is removed until
 *    then.
 * 6. Everything else is packed, the ledger of our own as it is by then, and the manifest written. Rows that lie on a server are read now, as they were at the
 *    position of step 2; until then no deleted stream is removed.
 */
export class BackupRun {
  readonly #parts: BackedUp
  readonly #order: BackupOrder
  readonly #thread: RemoteThread<BackupProcedures>
  #hold: TrimHold | undefined
  #progress: BackupProgress = { phase: 'time-series', bytesDone: 0, bytesTotal: 0 }
  #stopReason: string | undefined

  constructor(parts: BackedUp, order: BackupOrder) {
    this.#parts = parts
    this.#order = order
    const { address, rules, staging } = order
    const workerData: BackupThreadData = { address, rules, staging }
    this.#thread = new RemoteThread(startThread(import.meta.url, './backup-thread', { workerData }))
  }

  get progress(): BackupProgress {
    return this.#progress
  }

  /** Why it was told to stop, if it was. */
  get stopReason(): string | undefined {
    return this.#stopReason
  }

  /** Lets the step under way fail, and no other begin. */
  stop(reason: string): void {
    this.#stopReason ??= reason
    void this.#parts.stopCopy().catch(ignore)
    void this.#thread.calls.abort().catch(ignore)
  }

  /** @throws Error when it was stopped or a step failed: then nothing of it is left */
  async make(): Promise<Manifest> {
    const watching = new AbortController()
    const watched = this.#watch(watching.signal)
    try {
      return await race([this.#steps(), this.#thread.failed])
    } catch (error) {
      await this.#thread.calls.discard().catch(ignore)
      throw this.#stopReason === undefined ? error : new Error(this.#stopReason, { cause: error })
    } finally {
      watching.abort()
      await watched
      this.#hold?.release()
      await this.#parts.endCopy().catch(ignore)
      await this.#parts.releaseRemovals().catch(ignore)
      this.#parts.releaseContents()
      await this.#thread.terminate()
    }
  }

  async #steps(): Promise<Manifest> {
    const parts = this.#parts
    const order = this.#order
    const staging = await this.#thread.calls.prepare()
    this.#hold = await parts.holdTrimming()
    await parts.holdRemovals()
    this.#assertGoesOn()
    const store = await parts.copyStore(staging)
    this.#assertGoesOn()
    await parts.holdContents()
    this.#assertGoesOn()
    const to = await this.#fixMoment()
    const asOf = order.nowText()
    const decider = await this.#thread.calls.copySnapshots()
    if (!store.served) await parts.releaseRemovals()
    const from = Math.min(store.position, decider, Math.max(0, to - 1))
    await this.#thread.calls.writeJournal({ path: parts.journalPath, from, to })
    this.#assertGoesOn()
    this.#hold.release()
    await this.#thread.calls.writeContents(parts.contents)
    parts.releaseContents()
    this.#assertGoesOn()
    await this.#thread.calls.writeFiles(filesOf(store))
    const timeSeriesRows = store.served ? await this.#servedRows(store.served) : store.rows
    await this.#thread.calls.writeLedger(parts.ledgerFolder)
    for (const secret of order.secrets) await this.#thread.calls.writeText(secret)
    this.#assertGoesOn()
    return await this.#thread.calls.finish({
      format: backupFormat,
      backupId: order.backupId,
      productVersion: order.productVersion,
      asOf,
      finishedAt: order.nowText(),
      hasMasterKey: order.secrets.length > 0,
      storePosition: store.position,
      timeSeriesRows,
    })
  }

  async #servedRows(served: ServedRows): Promise<Readonly<Record<string, number>>> {
    const rows = await this.#thread.calls.writeRows(served)
    const problem = await this.#parts.endCopy()
    if (problem !== undefined) throw new Error(problem)
    await this.#parts.releaseRemovals()
    return rows
  }

  /** Resolves with the head of the journal at the moment that the snapshots are of. */
  async #fixMoment(): Promise<Offset> {
    const { betweenCommits, journalHead, snapshots } = this.#parts
    return await betweenCommits(async () => {
      const patience = new AbortController()
      const tooLate = sleep(cutMsMax, undefined, { signal: patience.signal }).then(() => {
        throw new DomainError('overloaded', 'the machine is too busy for a backup now')
      })
      tooLate.catch(ignore)
      const fixed = Promise.all([journalHead(), this.#thread.calls.takeSnapshots(snapshots)])
      fixed.catch(ignore)
      try {
        const [head] = await race([fixed, tooLate])
        return head
      } finally {
        patience.abort()
      }
    })
  }

  #assertGoesOn(): void {
    if (this.#stopReason !== undefined) throw new Error(this.#stopReason)
    const lost = this.#hold?.lostBecause
    if (lost !== undefined) throw new Error(`the journal was trimmed under the backup: ${lost}`)
  }

  /** Brings in the progress. While there is some, trimming stays held; and when it is not, all ends. */
  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(progressMs, undefined, { signal }).catch(ignore)
      const progress = await this.#thread.calls.progress().catch(ignore)
      if (progress === undefined) continue
      const { phase, bytesDone } = this.#progress
      if (progress.phase !== phase || progress.bytesDone !== bytesDone) this.#hold?.renew()
      this.#progress = progress
    }
  }
}

function filesOf({ files }: StoreCopy): StagedFile[] {
  return files.map((path) => ({ name: `${basename(path)}.zst`, path }))
}

function ignore(): undefined {}
