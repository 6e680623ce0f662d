import type { FastifyPluginAsync } from 'fastify'
import type { MasterKey } from '../../access/auth/master-key.ts'
import type { Config } from '../../config/config.ts'
import { productVersion } from '../../config/product-version.ts'
import type { ServiceFacts } from '../../identity/console-sessions/console-session-api.ts'
import {
  consoleSessionRoutes,
  signInRoute,
} from '../../identity/console-sessions/console-session-routes.ts'
import { ConsoleSessionStore } from '../../identity/console-sessions/console-session-store.ts'
import { ConsoleSettingsStore } from '../../identity/console-settings/console-settings.ts'
import { consoleSettingsRoutes } from '../../identity/console-settings/console-settings-routes.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import { SessionCookies } from '../../requests/http/session-cookies.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { Access } from './access.ts'

export interface SigningInNeeds {
  readonly config: Config
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly access: Pick<Access, 'auth'>
  /** The ports of the broker; undefined where it has none. */
  readonly broker: { readonly port: number | undefined; readonly securePort: number | undefined }
}

/** Composition of sessions of the console. */
export interface SigningIn {
  readonly cookies: SessionCookies
  readonly openRoutes: readonly FastifyPluginAsync[]
  readonly routes: readonly GuardedRoutes[]
}

export async function openSigningIn(needs: SigningInNeeds): Promise<SigningIn> {
  const { config, state, access } = needs
  const { authenticator, limits, sessions, masterKey } = access.auth
  const name = await cookieName(state, masterKey, config.dataDir)
  const cookies = new SessionCookies({ name, publicUrl: config.publicUrl })
  const settings = new ConsoleSettingsStore(state, needs.writer)
  const names = new ConsoleSessionStore(state)
  const parts = { sessions, names, cookies, service: factsOf(needs) }
  return {
    cookies,
    openRoutes: [signInRoute({ ...parts, authenticator, limits })],
    routes: [
      (callerOf) => consoleSessionRoutes({ ...parts, callerOf }),
      (callerOf) => consoleSettingsRoutes({ settings, callerOf }),
    ],
  }
}

/** Digits that tell services on one host apart. */
const nameDigits = 12

/**
 * Another name for each data folder: browsers send cookies to all ports of a host. Two may have one master key, by
 * their settings, or one path, in two containers; one may be a copy of the other.
 */
async function cookieName(
  state: StateDatabase,
  masterKey: Pick<MasterKey, 'digest'>,
  dataDir: string,
): Promise<string> {
  const first = await state
    .selectFrom('users')
    .select('id')
    .orderBy('created_at')
    .orderBy('id')
    .executeTakeFirst()
  const digest = masterKey.digest(JSON.stringify(['console cookie', dataDir, first?.id]))
  return `streamvault-${digest.slice(0, nameDigits)}`
}

function factsOf({ config, broker }: SigningInNeeds): ServiceFacts {
  const { hostname } = new URL(config.publicUrl)
  const at = (scheme: string, port: number | undefined) =>
    port === undefined ? null : `${scheme}://${hostname}:${port}`
  return {
    version: productVersion(),
    http: config.publicUrl,
    mqtt: at('mqtt', broker.port),
    mqtts: at('mqtts', broker.securePort),
    store: config.timeSeries.kind,
    mail: config.smtp !== undefined,
  }
}
