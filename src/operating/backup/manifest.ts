/** Version of the manifest and of the files that it lists; a backup of a newer one is refused. */
export const backupFormat = 3

/** Name of the file that is written last: a place without it holds a backup that was cut off. */
export const manifestName = 'manifest.json'

/** Every file that a backup can have beside its manifest, and what becomes of it. */
export const fileNames = {
  state: 'state.db.zst',
  mqttSessions: 'mqtt-sessions.db.zst',
  timeSeries: 'time-series.duckdb.zst',
  timeSeriesLog: 'time-series.duckdb.wal.zst',
  positions: 'questdb-positions.db.zst',
  rows: 'questdb-rows.ndjson.zst',
  journal: 'journal.zst',
  counts: 'counts.ndjson.zst',
  /** Contents of users' files; `contentList` instead where an object store has them. */
  contents: 'files.zst',
  contentList: 'files.ndjson.zst',
  /** The ledger of our own, and its keys; both are missing before format 3, and as long as nothing was anchored. */
  ledgerChain: 'ledger-chain.jsonl.zst',
  ledgerKeys: 'ledger-keys.json.zst',
  masterKey: 'master.key.zst',
  admin: 'admin.json.zst',
} as const

/** One file of a backup. */
export interface PackedFile {
  readonly name: string
  /** Bytes of the file as it lies there, packed. */
  readonly bytes: number
  /** Digest of the packed file: hexadecimal. */
  readonly sha256: string
  /** Bytes of the content before it was packed. */
  readonly contentBytes: number
}

/** Places in the journal that belong together. */
export interface BackupPositions {
  /** The shipper's, in the copy of the time series. */
  readonly store: number
  /** The decider's, in the copy of the state. */
  readonly decider: number
  /** The first entry that both may still need. */
  readonly journalFrom: number
  /** Everything acknowledged before this offset is in the backup, and nothing after it. */
  readonly journalTo: number
}

/** How much there is, to be compared after a restore. */
export interface BackupCounts {
  /** Received readings of all streams that are there, before `journalTo`. */
  readonly received: number
  readonly streams: number
  /** Entries in the journal's file. */
  readonly journalEntries: number
  /** Rows of each table of the time series, as they were copied. */
  readonly timeSeriesRows: Readonly<Record<string, number>>
  /** Rows of each table of the state. */
  readonly stateRows: Readonly<Record<string, number>>
  /** Contents of users' files that the state knows; undefined in format 1, which has none. */
  readonly files?: number
  /** Bytes of them. */
  readonly fileBytes?: number
  /** Contents whose file was gone, or had another size. */
  readonly filesLost?: number
}

export interface Manifest {
  readonly format: number
  readonly backupId: string
  readonly productVersion: string
  /** The moment that it is of: what was acknowledged until then is in it. RFC 3339. */
  readonly asOf: string
  readonly finishedAt: string
  readonly hasMasterKey: boolean
  readonly positions: BackupPositions
  readonly counts: BackupCounts
  readonly files: readonly PackedFile[]
}

/** Whether the files of users stay in a bucket, of which the backup has a list. */
export function hasFilesInBucket({ files }: Pick<Manifest, 'files'>): boolean {
  return files.some(({ name }) => name === fileNames.contentList)
}

/** A backup that cannot be used as it is. */
export class DamagedBackup extends Error {
  override readonly name = 'DamagedBackup'
}

/**
 * Reads what a place has as a manifest, without trusting it: names lead nowhere else.
 *
 * @throws DamagedBackup
 */
export function parseManifest(text: string): Manifest {
  const manifest = parsedJson(text)
  if (typeof manifest?.format !== 'number')
    throw new DamagedBackup(`${manifestName} is not a manifest`)
  if (manifest.format > backupFormat) {
    throw new DamagedBackup(`the backup was made by a newer version (format ${manifest.format})`)
  }
  const { files, positions, counts } = manifest
  const known: ReadonlySet<string> = new Set(Object.values(fileNames))
  const isSound =
    Array.isArray(files) &&
    files.every((file) => known.has(file.name) && isSize(file.bytes) && isDigest(file.sha256)) &&
    new Set(files.map(({ name }) => name)).size === files.length &&
    isSize(positions?.journalFrom) &&
    isSize(positions?.journalTo) &&
    typeof counts === 'object' &&
    [counts.files, counts.fileBytes, counts.filesLost].every(isSizeIfGiven)
  if (!isSound) throw new DamagedBackup(`${manifestName} does not list what a backup has`)
  return manifest as Manifest
}

type Unchecked = { readonly [Key in keyof Manifest]?: Manifest[Key] } | null

function parsedJson(text: string): Unchecked {
  try {
    return JSON.parse(text) as Unchecked
  } catch (error) {
    throw new DamagedBackup(`${manifestName} cannot be read`, { cause: error })
  }
}

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isSizeIfGiven(value: unknown): boolean {
  return value === undefined || isSize(value)
}

function isDigest(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}
