import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileDurably } from '../config/data-folder.ts'
import type { Clock } from '../core/clock.ts'
import { newId, type UserId } from '../core/ids.ts'
import type { StateDatabase, StateWriter } from '../state/database.ts'
import type { ApiKeys } from './api-keys.ts'
import { MasterKey } from './master-key.ts'

/** The user that the bootstrap key belongs to. */
const bootstrapUsername = 'admin'

/** The configured master key, or the one in the data folder, made at the first start. */
export function openMasterKey(dataDir: string, configured: string | undefined): MasterKey {
  if (configured !== undefined) return new MasterKey(Buffer.from(configured, 'base64'))
  const path = join(dataDir, 'master.key')
  if (!existsSync(path)) writeFileDurably(path, `${MasterKey.generate().toString('base64')}\n`)
  return new MasterKey(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64'))
}

export interface BootstrapNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly keys: ApiKeys
  readonly clock: Clock
}

export interface BootstrapOptions {
  readonly dataDir: string
  /** Key and secret as they were configured, both or neither. */
  readonly given: { readonly key: string; readonly secret: string } | undefined
}

/**
 * Sees to it that there is a first key. Returns the path of the file that holds a generated one, or
 * nothing when the key was given.
 */
export async function ensureBootstrapKey(
  { state, writer, keys, clock }: BootstrapNeeds,
  { dataDir, given }: BootstrapOptions,
): Promise<string | undefined> {
  const userId = await ensureUser(state, writer, clock)
  if (given) {
    await keys.put(userId, given.key, given.secret)
    return undefined
  }
  const path = join(dataDir, 'admin.json')
  // The file comes first: after a crash between the two, the key in it still gets stored.
  if (!existsSync(path)) writeFileDurably(path, `${JSON.stringify(generateKey(), null, 2)}\n`)
  const { apiKey, apiSecret } = JSON.parse(readFileSync(path, 'utf8')) as GeneratedKey
  if (!(await keys.exists(apiKey))) await keys.put(userId, apiKey, apiSecret)
  return path
}

interface GeneratedKey {
  readonly apiKey: string
  readonly apiSecret: string
}

function generateKey(): GeneratedKey {
  return {
    apiKey: `sv_live_${randomBytes(12).toString('hex')}`,
    apiSecret: randomBytes(32).toString('base64url'),
  }
}

async function ensureUser(
  state: StateDatabase,
  writer: StateWriter,
  clock: Clock,
): Promise<UserId> {
  const find = () =>
    state
      .selectFrom('users')
      .select('id')
      .where('username', '=', bootstrapUsername)
      .executeTakeFirst()
  const known = await find()
  if (known) return known.id as UserId
  const id = newId<UserId>()
  await writer.commit(
    state
      .insertInto('users')
      .values({ id, username: bootstrapUsername, created_at: clock.nowUs() }),
  )
  return id
}
