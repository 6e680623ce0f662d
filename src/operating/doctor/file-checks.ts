import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MasterKey } from '../../access/auth/master-key.ts'
import type { Config } from '../../config/config.ts'
import { filesIn } from '../../config/data-folder.ts'
import { messageOf } from '../../core/errors.ts'
import { journalFileVersion } from '../../storage/journal/sqlite-journal.ts'
import { migrations } from '../../storage/state/migrations/index.ts'
import { type Check, fail, ok, type Surroundings, warn } from './check.ts'
import { octal } from './folder-checks.ts'

/** What is wrong with a file, and what to do. */
interface Finding {
  readonly message: string
  readonly advice: string
}

const newerAdvice = 'run the newer version again, or put back a backup of the complete folder'
const brokenAdvice = 'stop the service, keep a copy of the folder, and put back a backup'

/** The bootstrap key: its file is there unless the key is given, and nobody else can read it. */
export function checkAdminFile({ config }: Surroundings): Check {
  const { admin } = filesIn(config.dataDir)
  if (!existsSync(admin)) {
    const given = 'the bootstrap key is given in the settings'
    const later = 'it is not there yet: the first start without a given key makes it'
    return ok('admin.json', config.adminKey ? given : later)
  }
  const open = openToOthers(admin)
  if (open) return open
  if (hasKeyPair(admin)) return ok('admin.json', 'it can be read by its owner only')
  const advice = 'give STREAMVAULT_ADMIN_KEY and _SECRET, or put back a backup of the file'
  return fail('admin.json', 'there is no key and secret in it', advice)
}

function hasKeyPair(path: string): boolean {
  try {
    const content = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown> | null
    return typeof content?.['apiKey'] === 'string' && typeof content['apiSecret'] === 'string'
  } catch {
    return false
  }
}

/** The master key: it is there, nobody else can read it, and it opens what the state holds. */
export function checkMasterKey({ config }: Surroundings): Check {
  const { masterKey: path, state } = filesIn(config.dataDir)
  const name = 'master.key'
  if (config.masterKey === undefined && !existsSync(path)) {
    if (!existsSync(state)) return ok(name, 'it is not there yet: the first start makes it')
    const advice = 'put the file back, or set STREAMVAULT_MASTER_KEY: without it no secret is good'
    return fail(name, 'it is missing', advice)
  }
  const open = existsSync(path) ? openToOthers(path) : undefined
  if (open) return open
  const source = config.masterKey === undefined ? 'the file' : 'STREAMVAULT_MASTER_KEY'
  try {
    openSecret(config)
    return ok(name, `${source} is in use, and belongs to this data folder`)
  } catch {
    const advice = 'use the key that the folder was made with: no secret is good with another one'
    return fail(name, `${source} is not a key of this data folder`, advice)
  }
}

/** @throws Error when the master key is none, or opens nothing */
function openSecret(config: Config): void {
  const files = filesIn(config.dataDir)
  const text = config.masterKey ?? readFileSync(files.masterKey, 'utf8').trim()
  const masterKey = new MasterKey(Buffer.from(text, 'base64'))
  if (!existsSync(files.state)) return
  const query = 'SELECT private_key_encrypted AS bytes FROM signing_keys LIMIT 1'
  const row = inDatabase(files.state, (database) => {
    const hasKeys = database
      .prepare(`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'signing_keys'`)
      .get()
    return hasKeys && database.prepare(query).get()
  })
  if (row) masterKey.decrypt(row['bytes'] as Uint8Array)
}

function openToOthers(path: string): Check | undefined {
  const { mode } = statSync(path)
  if ((mode & 0o077) === 0) return undefined
  const message = `others than its owner can read it (mode ${octal(mode)})`
  const advice = `chmod 600 ${path}, and change the secret if another user may have read it`
  return fail(basename(path), message, advice)
}

/** The state: every change of its tables that was made is one that this version knows. */
export function checkState({ config }: Surroundings): Check {
  return fileCheck(filesIn(config.dataDir).state, (path) => {
    const query = 'SELECT name FROM kysely_migration ORDER BY name'
    const rows = inDatabase(path, (database) => database.prepare(query).all())
    const made = rows.map((row) => String(row['name']))
    const newer = made.filter((name) => !(name in migrations))
    if (newer.length > 0) {
      const message = `a newer version has changed its tables (${newer.join(', ')})`
      return { message, advice: newerAdvice }
    }
    const missing = Object.keys(migrations).length - made.length
    return missing === 0 ? 'its tables are those of this version' : `older: ${toMigrate}`
  })
}

const toMigrate = 'the next start brings its tables up to date'

export function checkJournal({ config }: Surroundings): Check {
  return fileCheck(filesIn(config.dataDir).journal, (path) => {
    const row = inDatabase(path, (database) => database.prepare('PRAGMA user_version').get())
    const version = Number(row?.['user_version'])
    if (version <= journalFileVersion) return `format ${version}`
    return { message: `a newer version has written it (format ${version})`, advice: newerAdvice }
  })
}

/** DuckDB's files begin with a checksum of eight bytes, then this, then their storage version. */
const duckDbMark = 'DUCK'

export function checkTimeSeries({ config }: Surroundings): Check {
  const { timeSeries } = config
  if (timeSeries.kind === 'questdb') {
    const { host, port } = timeSeries
    return ok(
      'time series',
      `in QuestDB at ${host}:${port}: GET /health/ready of a running service says whether it answers`,
    )
  }
  return fileCheck(filesIn(config.dataDir).timeSeries, (path) => {
    const head = Buffer.alloc(20)
    const file = openSync(path, 'r')
    readSync(file, head, 0, head.length, 0)
    closeSync(file)
    if (head.toString('latin1', 8, 12) !== duckDbMark) {
      return { message: 'it is not a DuckDB file', advice: brokenAdvice }
    }
    return `storage version ${head.readBigUInt64LE(12)}`
  })
}

function fileCheck(path: string, look: (path: string) => string | Finding): Check {
  const name = basename(path)
  if (!existsSync(path)) return ok(name, 'it is not there yet: the first start makes it')
  try {
    const found = look(path)
    if (typeof found === 'string') return ok(name, found)
    return fail(name, found.message, found.advice)
  } catch (error) {
    const message = messageOf(error)
    // Somebody who writes to it at this moment is no fault of the file.
    if (/locked|busy/.test(message)) return warn(name, message, 'look again')
    return fail(name, `it cannot be read: ${message}`, brokenAdvice)
  }
}

function inDatabase<Result>(path: string, work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return work(database)
  } finally {
    database.close()
  }
}
