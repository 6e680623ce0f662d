import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../core/threads/priority.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import type { ServedRows } from '../../storage/time-series/store-copy.ts'
import type { BackupAddress, PlaceRules } from './backup-place.ts'
import {
  type BackupProgress,
  BackupWriter,
  type ContentSource,
  type ManifestFacts,
  type SnapshotPaths,
  type StagedFile,
  type StagedText,
} from './backup-writer.ts'
import type { Manifest } from './manifest.ts'
import { openPlace } from './open-place.ts'

/** What the thread is started with. */
export interface BackupThreadData {
  readonly address: BackupAddress
  readonly rules: PlaceRules
  /** Where copies lie until they are packed, when the place has no folder for them. */
  readonly staging: string
}

export interface JournalPart {
  readonly path: string
  readonly from: number
  readonly to: number
}

/** What the network thread asks of a backup's thread, in this order. */
export interface BackupProcedures {
  /** Resolves with the folder for copies. */
  prepare(): Promise<string>
  takeSnapshots(paths: SnapshotPaths): Promise<void>
  /** Resolves with the decider's position. */
  copySnapshots(): Promise<number>
  writeJournal(part: JournalPart): Promise<void>
  writeContents(source: ContentSource): Promise<void>
  writeFiles(files: readonly StagedFile[]): Promise<void>
  /** Takes the folder of the ledger. */
  writeLedger(folder: string): Promise<void>
  /** Resolves with the rows of each table. */
  writeRows(served: ServedRows): Promise<Readonly<Record<string, number>>>
  writeText(file: StagedText): Promise<void>
  finish(facts: ManifestFacts): Promise<Manifest>
  /** Progress, which may be asked for at any time. */
  progress(): Promise<BackupProgress>
  abort(): Promise<void>
  discard(): Promise<void>
}

/** The thread of one backup: it reads, packs and hashes, and leaves the processor to all others. */
function run(port: MessagePort, { address, rules, staging }: BackupThreadData): void {
  const opening = openPlace(address, rules).then((place) => new BackupWriter(place, staging))
  // Procedures that await it get the failure.
  opening.catch(() => undefined)
  const procedures: BackupProcedures = {
    prepare: async () => (await opening).prepare(),
    takeSnapshots: async (paths) => (await opening).takeSnapshots(paths),
    async copySnapshots() {
      // The priority stays until now: acknowledgements wait while the moment is fixed.
      lowerThreadPriority()
      return await (await opening).copySnapshots()
    },
    writeJournal: async ({ path, ...range }) => (await opening).writeJournal(path, range),
    writeContents: async (source) => (await opening).writeContents(source),
    writeFiles: async (files) => (await opening).writeFiles(files),
    writeLedger: async (folder) => (await opening).writeLedger(folder),
    writeRows: async (served) => (await opening).writeRows(served),
    writeText: async (file) => (await opening).writeText(file),
    finish: async (facts) => (await opening).finish(facts),
    progress: async () => (await opening).progress(),
    abort: async () => (await opening).abort(),
    discard: async () => (await opening).discard(),
  }
  serveCalls(port, procedures)
}

if (parentPort) run(parentPort, workerData as BackupThreadData)
