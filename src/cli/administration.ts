import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Config, readConfig } from '../config/config.ts'
import { type DataFolder, FolderInUse, filesIn, openDataFolder } from '../config/data-folder.ts'
import { readOwner } from '../config/folder-owner.ts'
import { monotonicMs } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { OfflineAnswer, OfflineRequest } from '../processes/offline/offline-access.ts'
import { CommandError, type Input, type Option, UsageError } from './command.ts'
import { type ApiKeyPair, askService, type ServiceAddress } from './service-client.ts'

/** Longest time to wait for another command that has the folder, or for a service that starts. */
const waitMs = 60_000
const pollMs = 50

/** Options of all commands that ask the service. */
export const serviceOptions: readonly Option[] = [
  {
    name: 'url',
    value: 'URL',
    summary: 'A service elsewhere. Default: the service of the data folder, or the folder itself.',
  },
  {
    name: 'ca',
    value: 'FILE',
    summary: 'PEM file with the certificate to trust, for a service with HTTPS.',
  },
]

/** Who administers, whether through the running service or in a folder that no process has open. */
export interface Administration {
  /** The parsed answer. @throws CommandError with the service's code and message */
  call<Body>(request: OfflineRequest): Promise<Body>
}

interface Connection {
  request(request: OfflineRequest): Promise<OfflineAnswer>
  close(): Promise<void>
}

/** Does work on users and keys: one process has the folder, so either the service does it or we. */
export async function administer<Result>(
  command: string,
  { options }: Input,
  work: (administration: Administration) => Promise<Result>,
): Promise<Result> {
  const url = options['url']
  if (url !== undefined && !isServiceUrl(url)) {
    throw new UsageError('--url must be such as http://127.0.0.1:8080, without a key or a path')
  }
  const config = readConfig(process.env)
  const connection = await connect(command, config, { url, authorityPath: options['ca'] })
  try {
    return await work({
      async call<Body>(request: OfflineRequest) {
        return parsed<Body>(await connection.request(request))
      },
    })
  } finally {
    await connection.close()
  }
}

/** User info would be a secret among the arguments of the process. */
export function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, pathname, search } = new URL(text)
  return /^https?:$/.test(protocol) && username + password + search === '' && pathname === '/'
}

interface Destination {
  readonly url: string | undefined
  readonly authorityPath: string | undefined
}

async function connect(
  command: string,
  config: Config,
  { url, authorityPath }: Destination,
): Promise<Connection> {
  const { dataDir } = config
  if (url !== undefined) {
    return viaHttp({ url, authorityPath, ownCertificatePath: undefined }, config)
  }
  if (!existsSync(dataDir)) {
    const message = `there is no data folder ${dataDir}: set STREAMVAULT_DATA_DIR, or name a service with --url`
    throw new CommandError('no_data_folder', message)
  }
  const giveUpMs = monotonicMs() + waitMs
  for (;;) {
    try {
      return await inFolder(openDataFolder(dataDir, command), config)
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error
      const found = serviceOf(dataDir)
      const ownCertificatePath = config.tls?.certPath
      if (found !== undefined) {
        return viaHttp({ url: found, authorityPath, ownCertificatePath }, config)
      }
      if (monotonicMs() > giveUpMs) throw new CommandError('folder_in_use', error.message)
      await sleep(pollMs)
    }
  }
}

/** Where the service listens that has the folder, or nothing when it does not, or not yet. */
export function serviceOf(dataDir: string): string | undefined {
  const address = readOwner(dataDir)?.addresses.find((one) => one.startsWith('http'))
  // A service that listens everywhere is nowhere else than here.
  return address?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

async function inFolder(folder: DataFolder, config: Config): Promise<Connection> {
  try {
    const { openOfflineAccess } = await import('../processes/offline/offline-access.ts')
    const access = await openOfflineAccess(folder, config)
    return {
      request: (request) => access.request(request),
      async close() {
        await access.close()
        folder.unlock()
      },
    }
  } catch (error) {
    folder.unlock()
    throw error
  }
}

function viaHttp(address: ServiceAddress, config: Config): Connection {
  const credentials = credentialsOf(config)
  return {
    request: (request) => askService(address, credentials, request),
    async close() {},
  }
}

/** From the environment, else from the file that the first start has written. */
export function credentialsOf({ adminKey, dataDir }: Config): ApiKeyPair {
  if (adminKey) return { apiKey: adminKey.key, apiSecret: adminKey.secret }
  const { admin } = filesIn(dataDir)
  if (!existsSync(admin)) {
    const message = `set STREAMVAULT_ADMIN_KEY and STREAMVAULT_ADMIN_SECRET: there is no ${admin}`
    throw new CommandError('no_credentials', message)
  }
  try {
    return JSON.parse(readFileSync(admin, 'utf8')) as ApiKeyPair
  } catch (error) {
    // The parser's message would show a part of the secret.
    const reason = error instanceof SyntaxError ? 'it is no JSON' : messageOf(error)
    throw new CommandError('no_credentials', `${admin} cannot be read: ${reason}`)
  }
}

interface ErrorBody {
  readonly error?: string
  readonly message?: string
  readonly remedy?: string
  readonly details?: readonly { readonly path: string; readonly message: string }[]
}

export function parsed<Body>({ status, text }: OfflineAnswer): Body {
  const body = text === '' ? undefined : parsedJson(text)
  if (status >= 200 && status < 300) return body as Body
  const {
    error = `http_${status}`,
    message = 'no reason given',
    remedy,
    details = [],
  } = {
    ...(body as ErrorBody | undefined),
  }
  const places = details.map((detail) => `${detail.path}: ${detail.message}`)
  throw new CommandError(error, [message, ...places].join('; '), { remedy })
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = 'that address does not answer as this service does'
    throw new CommandError('not_this_service', message, { cause: error })
  }
}
