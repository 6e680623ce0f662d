import { existsSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { AuthenticatedCaller, Authenticator } from '../../access/auth/authenticate.ts'
import { scopes } from '../../access/auth/scopes.ts'
import type { Config } from '../../config/config.ts'
import type { DataFolder } from '../../config/data-folder.ts'
import { productVersion } from '../../config/product-version.ts'
import { systemClock } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { BodiesInFlight } from '../../requests/http/bodies-in-flight.ts'
import { buildHttpServer } from '../../requests/http/server.ts'
import {
  LocalStateWriter,
  openStateForReading,
  openStateForWriting,
  type StateDatabase,
} from '../../storage/state/database.ts'
import { resumeSteadyTime } from '../../storage/state/steady-time.ts'
import { type Access, openAccess } from '../network/access.ts'
import { openFanOut } from '../worker/fan-out.ts'

/** What the audit log has instead of an address. */
const localAddress = 'local'

export interface OfflineRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: object | undefined
}

export interface OfflineAnswer {
  readonly status: number
  readonly text: string
}

/** Users, keys and signing keys of a data folder that no service has open. */
export interface OfflineAccess {
  /** Does what the service would do with this request of somebody who may do everything. */
  request(request: OfflineRequest): Promise<OfflineAnswer>
  /** Closes the state; the folder stays locked. */
  close(): Promise<void>
}

/**
 * Opens only what is about who asks: the same routes over the same state, without a listener, a
 * journal or a time-series store. Nothing is made that is not there, neither a state nor a key: a
 * mistaken setting must not bring a second master key or a new administrator into the world.
 *
 * @throws Error when the folder has never been used, or its master key is not at hand
 */
export async function openOfflineAccess(
  folder: DataFolder,
  config: Config,
): Promise<OfflineAccess> {
  assertInUse(folder, config.masterKey)
  const writing = await openStateForWriting(folder.state)
  const state = openStateForReading(folder.state)
  const closeState = async () => {
    await state.destroy()
    await writing.destroy()
  }
  try {
    await resumeSteadyTime(writing)
    // Nobody waits for it here: the service finds what there is to be sent.
    const deaf = { onPlanned: nobody, onNotified: nobody }
    const { fanOut } = await openFanOut(writing, { clock: systemClock, ...deaf })
    const writer = new LocalStateWriter(writing, fanOut.notify)
    const access = await openAccess(
      {
        state,
        writer,
        clock: systemClock,
        // Brought into the journal by the service.
        lifecycle: new LifecycleEvents({ state, writer, clock: systemClock }),
        // Upkeep that fails here is done by the service.
        onFailure: () => undefined,
        // The service looks for it at its next start.
        // Nobody uploads anything to a command.
        store: { uploadUrl: undefined },
        forgetUser: async () => undefined,
      },
      { ...config, dataDir: folder.path, adminKey: 'kept', publicUrl: '' },
    )
    const server = await serverOver(access, await operator(state), config)
    return {
      request: (request) => injected(server, request),
      async close() {
        await server.close()
        await access.auth.close()
        await closeState()
      },
    }
  } catch (error) {
    await closeState()
    throw error
  }
}

/** @throws Error when the folder has never been used, or its master key is not at hand */
export function assertInUse(
  { path, state, masterKey }: Pick<DataFolder, 'path' | 'state' | 'masterKey'>,
  configured: string | undefined,
): void {
  if (!existsSync(state)) {
    throw new Error(`there is nothing in ${path} yet: start the service once, which makes it`)
  }
  if (configured !== undefined || existsSync(masterKey)) return
  throw new Error(`there is no ${masterKey}: set STREAMVAULT_MASTER_KEY as the service has it`)
}

async function injected(
  server: FastifyInstance,
  { method, path, body }: OfflineRequest,
): Promise<OfflineAnswer> {
  const given = body && { body }
  const answer = await server.inject({ method, url: path, remoteAddress: localAddress, ...given })
  return { status: answer.statusCode, text: answer.body }
}

/** The routes as the service has them, where whoever can open the folder may do everything. */
async function serverOver(access: Access, caller: AuthenticatedCaller, config: Config) {
  const authenticator: Pick<Authenticator, 'authenticate' | 'isStillGood' | 'lookUp'> = {
    lookUp: () => undefined,
    authenticate: () => caller,
    isStillGood: () => true,
  }
  return await buildHttpServer({
    logger: pino({ level: 'silent' }),
    version: productVersion(),
    publicUrl: config.publicUrl,
    checkAnswers: config.checkAnswers,
    network: { certificate: undefined, corsOrigins: [], trustedProxies: [] },
    bodies: new BodiesInFlight(),
    authenticator,
    openRoutes: [],
    signedRoutes: [],
    routes: access.routes,
  })
}

/**
 * The key in whose name it is done: changes are made by a key that exists, and the audit log names
 * it. There is always one that may do everything and does not expire, as the last one cannot end.
 */
async function operator(state: StateDatabase): Promise<AuthenticatedCaller> {
  const keys = await state
    .selectFrom('api_keys')
    .select(['id', 'user_id', 'scopes'])
    .where('revoked_at', 'is', null)
    .where('expires_at', 'is', null)
    .orderBy('created_at')
    .execute()
  const key = keys.find((one) => one.scopes.split(' ').includes('platform:admin'))
  if (!key) throw new Error('there is no key with platform:admin: start the service once')
  return {
    userId: key.user_id as UserId,
    apiKeyId: key.id,
    scope: scopes.join(' '),
    interface: 'header-key',
    expiresAtUs: undefined,
  }
}

function nobody(): void {
  // The next start finds in the state who is to be told.
}
