import type { Clocks } from '../../core/clock.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { latestWallUs } from '../../storage/state/steady-time.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { AttemptLimits } from './attempt-limits.ts'
import { Authenticator, type Logins, type Origin } from './authenticate.ts'
import { ensureBootstrapKey, openMasterKey } from './bootstrap.ts'
import { ConsoleSessions } from './console-sessions.ts'
import { DroppedPublishes } from './dropped-publishes.ts'
import { FailedLogins } from './failed-logins.ts'
import { KeyDirectory } from './key-directory.ts'
import type { LimitedKey } from './limited-key.ts'
import { LimitedKeys } from './limited-keys.ts'
import type { MasterKey } from './master-key.ts'
import { SigningKeys } from './signing-keys.ts'
import { Tokens } from './tokens.ts'
import { Upkeep } from './upkeep.ts'

export interface AuthNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clocks
  readonly audit: AuditLog
  /** Called when upkeep has failed; it is tried again. */
  readonly onFailure: (error: unknown) => void
  /** Called at each use of a key that is not a user's. */
  readonly onUse: (key: LimitedKey, origin: Origin) => void
  /** Writes down what else was only remembered; called now and then, and at the end. */
  readonly alsoFlush: () => Promise<void>
}

export interface AuthOptions {
  readonly dataDir: string
  /** Base64; undefined: the one in the data folder. */
  readonly masterKey: string | undefined
  /** Undefined: a generated one. `kept`: those that the state has, and nothing is made. */
  readonly adminKey: { readonly key: string; readonly secret: string } | 'kept' | undefined
}

/** Everything that tells who asks. */
export interface Auth {
  readonly masterKey: MasterKey
  readonly directory: KeyDirectory
  readonly limitedKeys: LimitedKeys
  readonly authenticator: Authenticator
  readonly tokens: Tokens
  readonly sessions: ConsoleSessions
  readonly signingKeys: SigningKeys
  readonly limits: AttemptLimits
  readonly failedLogins: FailedLogins
  readonly droppedPublishes: DroppedPublishes
  /** Path of the file with the generated bootstrap key, or nothing when the key was given. */
  readonly adminFile: string | undefined
  /** Writes down what was only remembered. The state must still be open. */
  close(): Promise<void>
}

export async function openAuth(needs: AuthNeeds, options: AuthOptions): Promise<Auth> {
  const { state, clock, onUse } = needs
  const masterKey = openMasterKey(options.dataDir, options.masterKey)
  const { dataDir, adminKey } = options
  const adminFile =
    adminKey === 'kept'
      ? undefined
      : await ensureBootstrapKey({ ...needs, masterKey }, { dataDir, given: adminKey })
  const directory = await KeyDirectory.open({ ...needs, masterKey })
  const signingKeys = await SigningKeys.open({ ...needs, masterKey })
  const tokens = new Tokens({ signingKeys, clock, latestUs: await latestWallUs(state) })
  const sessions = await ConsoleSessions.open({ ...needs, masterKey, keys: directory })
  const limitedKeys = new LimitedKeys({ state, masterKey, clock })
  const failedLogins = new FailedLogins({
    findAny: (id) => directory.findAny(id) ?? limitedKeys.findAny(id),
  })
  const limits = new AttemptLimits()
  const authenticator = new Authenticator({
    keys: directory,
    limited: limitedKeys,
    tokens,
    sessions,
    logins: loginsWithin(limits),
    onUse,
    onFailure: (attempt) => failedLogins.record(attempt),
  })
  const upkeep = new Upkeep({ ...needs, directory, sessions, failedLogins, signingKeys })
  return {
    masterKey,
    directory,
    limitedKeys,
    authenticator,
    tokens,
    sessions,
    signingKeys,
    limits,
    failedLogins,
    droppedPublishes: new DroppedPublishes(),
    adminFile,
    close: () => upkeep.stop(),
  }
}

/** Keys in the headers of requests have the limits of `POST /auth/token`: they are as good as a token. */
function loginsWithin(limits: AttemptLimits): Logins {
  return {
    assertMayLogIn: (address, keyId) => limits.assertMayLogIn(address, keyId),
    countFailure: (address, keyId) => limits.countFailure(address, keyId),
  }
}
