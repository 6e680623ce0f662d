import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { writeFileDurably } from '../../config/data-folder.ts'
import type { Clock } from '../../core/clock.ts'
import { newId, type UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { countChange, everybody } from '../../storage/state/totals.ts'
import { MasterKey } from './master-key.ts'
import { scopes } from './scopes.ts'

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
  readonly masterKey: MasterKey
  readonly clock: Clock
}

export interface BootstrapOptions {
  readonly dataDir: string
  /** Key and secret as they were configured, both or neither. */
  readonly given: { readonly key: string; readonly secret: string } | undefined
}

/**
 * Sees to it that there is a first key. Returns the path of the file that holds a generated one, or
 * nothing when the key was given. A key that was revoked stays so: a start brings nothing back.
 */
export async function ensureBootstrapKey(
  needs: BootstrapNeeds,
  { dataDir, given }: BootstrapOptions,
): Promise<string | undefined> {
  if (given) {
    await putKey(needs, given, 'configured')
    return undefined
  }
  const path = join(dataDir, 'admin.json')
  // The file comes first: after a crash between the two, the key in it still gets stored.
  if (!existsSync(path)) writeFileDurably(path, `${JSON.stringify(generateKey(), null, 2)}\n`)
  const { apiKey, apiSecret } = JSON.parse(readFileSync(path, 'utf8')) as GeneratedKey
  await putKey(needs, { key: apiKey, secret: apiSecret }, 'bootstrap')
  return path
}

/**
 * Stores a key with all scopes, or gives a known one those that it lacks. A configured one takes its secret from the
 * settings at each start; a generated one may have been rotated since it was written to its file.
 */
async function putKey(
  needs: BootstrapNeeds,
  { key, secret }: { readonly key: string; readonly secret: string },
  origin: 'configured' | 'bootstrap',
): Promise<void> {
  const { state, writer, masterKey, clock } = needs
  const digest = masterKey.digest(secret)
  const known = await state
    .selectFrom('api_keys')
    .select(['secret_digest', 'origin', 'scopes'])
    .where('id', '=', key)
    .executeTakeFirst()
  if (!known) {
    await writer.commit(
      state.insertInto('api_keys').values({
        id: key,
        user_id: await ensureUser(needs),
        secret_digest: digest,
        scopes: scopes.join(' '),
        created_at: clock.nowUs(),
        name: 'bootstrap',
        permission: 'custom',
        origin,
      }),
    )
    return
  }
  // Permissions that a later version has brought: else nobody could grant them.
  if (known.scopes !== scopes.join(' ')) {
    await writer.commit(
      state
        .updateTable('api_keys')
        .set({ scopes: scopes.join(' ') })
        .where('id', '=', key)
        .where('revoked_at', 'is', null),
    )
  }
  const isChanged = known.secret_digest !== digest || known.origin !== origin
  if (origin === 'bootstrap' || !isChanged) return
  await writer.commit(
    state
      .updateTable('api_keys')
      .set({ secret_digest: digest, previous_digest: null, previous_until: null, origin })
      .where('id', '=', key),
  )
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

async function ensureUser({ state, writer, clock }: BootstrapNeeds): Promise<UserId> {
  const known = await state
    .selectFrom('users')
    .select('id')
    .where(sql<string>`lower(username)`, '=', bootstrapUsername)
    .executeTakeFirst()
  if (known) return known.id as UserId
  const id = newId<UserId>()
  await writer.commit(
    state
      .insertInto('users')
      .values({ id, username: bootstrapUsername, created_at: clock.nowUs() }),
    countChange(state, 'users', everybody, 1),
  )
  return id
}
