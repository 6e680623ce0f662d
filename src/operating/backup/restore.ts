import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { filesIn } from '../../config/data-folder.ts'
import { makeFolder } from '../../core/make-folder.ts'
import { openFolderStore } from '../../files/store/folder-file-store.ts'
import { chainFile, keysFile } from '../../ledgers/sandbox/files.ts'
import { rebuildJournal } from '../../storage/journal/journal-rebuild.ts'
import type { BackupPlace } from './backup-place.ts'
import { type CheckedContents, checkContents, countContents, noContents } from './content-check.ts'
import { contentsOf } from './content-frames.ts'
import { ContentKeeper } from './content-keeper.ts'
import { syncFolder, writeDurably } from './folder-place.ts'
import { batchesOf } from './journal-frames.ts'
import {
  DamagedBackup,
  fileNames,
  type Manifest,
  manifestName,
  type PackedFile,
  parseManifest,
} from './manifest.ts'
import { checked, unpack } from './packing.ts'

/** A manifest lists a dozen files and the tables of two databases. */
const manifestBytesMax = 64 * 1024 * 1024

/** Called with the packed bytes that have been read, and their total. */
export type OnProgress = (bytesDone: number, bytesTotal: number) => void

/** Nobody is told of anything else while a restore goes on. */
export interface Restoring {
  readonly place: BackupPlace
  readonly signal: AbortSignal
  readonly onProgress: OnProgress
}

/** Brings rows back that were not in the data folder: they lie on a server. */
export interface RowsReceiver {
  /** @throws Error when the server is away, or has something in their place */
  begin(): Promise<void>
  /** @param positions path of the file that knows of them. Resolves with the rows of each table */
  restore(
    positions: string,
    lines: AsyncIterable<Uint8Array>,
  ): Promise<Readonly<Record<string, number>>>
  /** Lets a service have what was brought: the folder is complete, and only lacks its name. */
  finish(): Promise<void>
  /** Takes away what was brought: there will be no folder that knows of it. */
  discard(): Promise<void>
}

/** What a restore makes. */
export interface RestoreTarget {
  readonly dataDir: string
  /** Gets rows that are not in the folder; undefined: there is no server for them. */
  readonly rows: RowsReceiver | undefined
  /** Whether the restored service is to have the files of users in a bucket. */
  readonly hasBucket: boolean
}

/** A backup that was read as a whole. */
export interface ReadBackup {
  readonly manifest: Manifest
  readonly contents: CheckedContents
}

/** @throws DamagedBackup when there is none that is complete; Error when it cannot be read */
async function readManifest({ place, signal }: Restoring): Promise<Manifest> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const piece of place.read(manifestName, signal)) {
      bytes += piece.byteLength
      if (bytes > manifestBytesMax) throw new DamagedBackup(`${manifestName} is too large`)
      pieces.push(piece)
    }
  } catch (error) {
    if (!isMissing(error)) throw error
    const message = `${place.name} has no ${manifestName}: there is no backup, or none that was completed`
    throw new DamagedBackup(message, { cause: error })
  }
  return parseManifest(Buffer.concat(pieces).toString('utf8'))
}

/**
 * Reads every file and compares it with the manifest, and contents with what the state knew.
 *
 * @throws DamagedBackup naming the first file that differs
 */
export async function verifyBackup(restoring: Restoring): Promise<ReadBackup> {
  const manifest = await readManifest(restoring)
  const read = readerOf(manifest, restoring)
  let contents = noContents
  for (const file of manifest.files) {
    if (isOfContents(file)) {
      contents = await readContents(manifest, file, unpack(read(file), file), undefined)
    } else {
      for await (const _ of checked(read(file), file)) continue
    }
  }
  return { manifest, contents }
}

/**
 * Builds a data folder from a backup: beside its place, and it gets its name when every file was what the
 * manifest lists and all is durable. So a restore that fails leaves nothing.
 *
 * @throws DamagedBackup naming the file; Error when there is something where the folder is to be
 */
export async function restoreBackup(
  restoring: Restoring,
  { dataDir, rows: receiver, hasBucket }: RestoreTarget,
): Promise<ReadBackup> {
  const target = resolve(dataDir)
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new Error(`${target} is not empty: a backup is only restored into a new folder`)
  }
  const manifest = await readManifest(restoring)
  if (hasBucket && hasContents(manifest)) throw new Error(notForBucket)
  const hasRows = manifest.files.some(({ name }) => name === fileNames.rows)
  if (hasRows) await receiverOf(receiver).begin()
  else if (receiver) throw new Error(notForServer)
  makeFolder(dirname(target))
  // One that was killed has left its own, whatever the number of its process was.
  const building = mkdtempSync(`${target}.restoring-`)
  try {
    const read = readerOf(manifest, restoring)
    let contents = noContents
    for (const file of manifest.files) {
      const built = { building, manifest, receiver }
      if (isOfContents(file)) contents = await restoreContents(built, file, read(file))
      else await restoreFile(built, file, read(file))
    }
    const { ledger } = filesIn(building)
    if (existsSync(ledger)) syncFolder(ledger)
    syncFolder(building)
    // Rows are finished before there is a folder: tables of one are never taken for something that
    // was left.
    if (hasRows) await receiver?.finish()
    renameSync(building, target)
    syncFolder(dirname(target))
    return { manifest, contents }
  } catch (error) {
    rmSync(building, { recursive: true, force: true })
    if (hasRows) await receiver?.discard().catch(() => undefined)
    throw error
  }
}

interface Built {
  readonly building: string
  readonly manifest: Manifest
  readonly receiver: RowsReceiver | undefined
}

const notForServer =
  'the time series of this backup are in its own files: restore it without STREAMVAULT_TIMESERIES_URL'

function receiverOf(receiver: RowsReceiver | undefined): RowsReceiver {
  if (receiver) return receiver
  throw new Error(
    'the time series of this backup are those of a QuestDB: say in STREAMVAULT_TIMESERIES_URL which one gets them',
  )
}

const notForBucket =
  'the files of users are in this backup itself: restore it without STREAMVAULT_FILES_URL'

function isOfContents({ name }: PackedFile): boolean {
  return name === fileNames.contents || name === fileNames.contentList
}

/** Whether the bytes of some files of users are in the backup. */
function hasContents({ files, counts }: Manifest): boolean {
  return files.some(({ name }) => name === fileNames.contents) && counts.files !== 0
}

async function restoreContents(
  { building, manifest }: Built,
  file: PackedFile,
  packed: AsyncIterable<Uint8Array>,
): Promise<CheckedContents> {
  const content = unpack(packed, file)
  if (file.name === fileNames.contentList) {
    return await readContents(manifest, file, content, undefined)
  }
  const folder = filesIn(building).files
  const store = await openFolderStore({ folder, spareBytes: 0, clearsLeftovers: false })
  try {
    return await readContents(manifest, file, content, new ContentKeeper(store))
  } finally {
    await store.close()
  }
}

/** Hashes contents, and keeps them where there is a keeper; a list of them is only counted. */
async function readContents(
  { counts }: Manifest,
  { name }: PackedFile,
  content: AsyncIterable<Uint8Array>,
  keeper: ContentKeeper | undefined,
): Promise<CheckedContents> {
  const contents = contentsOf(content)
  const isList = name === fileNames.contentList
  const found = isList ? await countContents(contents) : await checkContents(contents, keeper)
  if (found.files === counts.files) return found
  throw new DamagedBackup(`${name} has ${found.files} contents instead of ${counts.files}`)
}

async function restoreFile(
  { building, manifest, receiver }: Built,
  file: PackedFile,
  packed: AsyncIterable<Uint8Array>,
): Promise<void> {
  const content = unpack(packed, file)
  if (file.name === fileNames.counts) {
    // Counts are of no use to the service; but a backup with a damaged file is none.
    for await (const _ of content) continue
  } else if (file.name === fileNames.journal) {
    const head = await rebuildJournal(join(building, 'journal.db'), batchesOf(content))
    const { journalTo } = manifest.positions
    if (head === journalTo) return
    throw new DamagedBackup(`${file.name} ends at ${head} instead of ${journalTo}`)
  } else if (file.name === fileNames.rows) {
    const positions = join(building, fileNames.positions.replace(/\.zst$/, ''))
    const rows = await receiverOf(receiver).restore(positions, content)
    const [different] = Object.entries(manifest.counts.timeSeriesRows).filter(
      ([table, count]) => rows[table] !== count,
    )
    if (!different) return
    const [table, count] = different
    throw new DamagedBackup(
      `${file.name} has ${rows[table] ?? 'no'} rows of ${table}, not ${count}`,
    )
  } else {
    await writeDurably(placeOf(building, file), content)
  }
}

/** Where a file belongs in the data folder. */
function placeOf(building: string, { name }: PackedFile): string {
  const { ledger } = filesIn(building)
  const inLedger = ledgerPlaces.get(name)
  if (inLedger === undefined) return join(building, name.replace(/\.zst$/, ''))
  mkdirSync(ledger, { recursive: true, mode: 0o700 })
  return join(ledger, inLedger)
}

const ledgerPlaces: ReadonlyMap<string, string> = new Map([
  [fileNames.ledgerChain, chainFile],
  [fileNames.ledgerKeys, keysFile],
])

/** Packed files, one after the other, with the progress of all of them. */
function readerOf({ files }: Manifest, { place, signal, onProgress }: Restoring) {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  return async function* read({ name }: PackedFile): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of place.read(name, signal)) {
        done += piece.byteLength
        onProgress(Math.min(done, total), total)
        yield piece
      }
    } catch (error) {
      if (!isMissing(error)) throw error
      throw new DamagedBackup(`${name} is missing`, { cause: error })
    }
  }
}

/**
 * Recognizes what is missing in a folder, or in an object store, which hides its own error behind
 * ours.
 */
function isMissing(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: string; readonly cause?: { name?: string } }
  return code === 'ENOENT' || cause?.name === 'NoSuchKey'
}
