import type { Socket } from 'node:net'
import type { ClientSession, EndpointDescription, OPCUAClient } from 'node-opcua-client'
import { type FetchRun, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { race } from '../../src/core/race.ts'
import { withDriver } from '../optional-drivers.ts'
import type { OpcUaOptions, SecurityMode } from './options.ts'
import { describeFailure } from './refusals.ts'
import { DialedTransport } from './transport.ts'
import { applicationUriOf, type KeyPair, keyPairOf, trustedCertificate } from './trust.ts'

export type Library = typeof import('node-opcua-client')

/** Time for an answer. */
export const answerMs = 15_000

/** Time to say good-bye. */
export const endMs = 2_000

const modes: Readonly<Record<SecurityMode, string>> = {
  none: 'None',
  sign: 'Sign',
  signAndEncrypt: 'SignAndEncrypt',
}

export interface AttemptNeeds {
  readonly library: Library
  readonly options: OpcUaOptions
  readonly run: Pick<FetchRun, 'dial' | 'signal'>
  readonly keyPair: KeyPair
}

/** The way to a session: what was opened on it is closed where it does not lead there. */
export class Attempt {
  readonly library: Library
  readonly #needs: AttemptNeeds
  readonly #clients: OPCUAClient[] = []
  readonly #sockets: Socket[] = []
  readonly #failed = Promise.withResolvers<never>()
  #failure: Error | undefined
  #isLeaving = false
  onFailure: (failure: Error) => void = (failure) => {
    // A server may hang up first when it is said good-bye to.
    if (!this.#isLeaving) this.giveUp(failure)
  }

  constructor(needs: AttemptNeeds) {
    this.#needs = needs
    this.library = needs.library
    this.#failed.promise.catch(() => undefined)
  }

  giveUp(reason: Error): void {
    this.#failure ??= reason
    this.#failed.reject(reason)
  }

  /** Rejects when a connection has ended. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  /** The certificate of the server, which was held to what is trusted. */
  async #discover(): Promise<Buffer> {
    const { options } = this.#needs
    const client = this.#newClient({ securityMode: 'None', securityPolicy: 'None' })
    await client.connect(options.endpoint)
    const endpoints = await client.getEndpoints()
    const fitting = endpoints.find((endpoint) => this.#fits(endpoint))
    if (fitting === undefined) throw new SourceRefused(this.#notOffered(endpoints))
    this.#isLeaving = true
    await client.disconnect()
    this.#isLeaving = false
    return trustedCertificate(fitting.serverCertificate, options.serverCertificate)
  }

  async #connect(serverCertificate: Buffer | undefined): Promise<OPCUAClient> {
    const { options } = this.#needs
    const { securityMode, securityPolicy } = options
    const client = this.#newClient(
      serverCertificate === undefined
        ? { securityMode: 'None', securityPolicy: 'None' }
        : { securityMode: modes[securityMode], securityPolicy, serverCertificate },
    )
    await client.connect(options.endpoint)
    return client
  }

  async enter(former: ClientSession | undefined) {
    const { options } = this.#needs
    const { securityMode } = options
    const client = await this.#connect(securityMode === 'none' ? undefined : await this.#discover())
    if (former !== undefined) {
      const isReactivated = await client.reactivateSession(former).then(
        () => true,
        () => false,
      )
      if (isReactivated) return { client, session: former, isReactivated }
    }
    const { UserTokenType } = this.library
    const { user } = options
    const session = await client.createSession(
      user === undefined
        ? { type: UserTokenType.Anonymous }
        : { type: UserTokenType.UserName, ...user },
    )
    return { client, session, isReactivated: false }
  }

  describe(error: unknown): Error {
    const { StatusCodes } = this.library
    const all: readonly { readonly value: number; readonly name: string }[] =
      Object.values(StatusCodes)
    const nameOf = (code: number) =>
      all.find(({ value }) => value === code)?.name ?? `0x${code.toString(16)}`
    const described = describeFailure(error, nameOf)
    // The library makes errors of its own of what has ended a connection.
    if (described instanceof SourceRefused || this.#failure === undefined) return described
    return describeFailure(this.#failure, nameOf)
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    const ends = this.#clients.map(async (client) => await client.disconnect())
    await race([Promise.allSettled(ends), patience(endMs)])
  }

  #newClient(security: {
    readonly securityMode: string
    readonly securityPolicy: string
    readonly serverCertificate?: Buffer
  }): OPCUAClient {
    const { options, run, keyPair } = this.#needs
    const { host, port, sessionTimeout } = options
    const transport = new DialedTransport({
      open: async () => {
        const socket = await run.dial({ host, port, signal: run.signal })
        this.#sockets.push(socket)
        return socket
      },
      onFailure: (failure) => this.onFailure(failure),
    })
    const client = this.library.OPCUAClient.create({
      applicationName: 'Streamvault',
      applicationUri: applicationUriOf(options),
      clientName: 'Streamvault',
      ...security,
      certificateKeyPairProvider: keyPair,
      // The library does not connect again by itself: then each way out would have to be watched.
      connectionStrategy: { maxRetry: 0, initialDelay: 1_000, maxDelay: 1_001 },
      defaultTransactionTimeout: answerMs,
      requestedSessionTimeout: sessionTimeout,
      keepSessionAlive: false,
      keepPendingSessionsOnDisconnect: true,
      // Servers name themselves by names that only their own network knows.
      endpointMustExist: false,
      transportFactory: { create: () => transport },
    })
    client.on('receive_response', () => transport.heard())
    this.#clients.push(client)
    return client
  }

  #fits({ securityMode, securityPolicyUri }: EndpointDescription): boolean {
    const { options } = this.#needs
    const wanted = modes[options.securityMode]
    const isMode = this.library.MessageSecurityMode[securityMode] === wanted
    return isMode && securityPolicyUri?.endsWith(`#${options.securityPolicy}`) === true
  }

  #notOffered(endpoints: readonly EndpointDescription[]): string {
    const offered = endpoints.map(({ securityMode, securityPolicyUri }) => {
      const policy = securityPolicyUri?.split('#').at(-1) ?? ''
      return `${this.library.MessageSecurityMode[securityMode]} ${policy}`
    })
    const list = [...new Set(offered)].slice(0, 10).join(', ').slice(0, 500)
    return `the server does not offer this security mode and policy; it offers ${list}`
  }
}

/** What the library would print: what is of use to somebody is in the errors, and there may be secrets in the rest. */
export async function loadLibrary(): Promise<Library> {
  const library = await withDriver('opcua', () => import('node-opcua-client'))
  library.setWarningLogger(() => undefined)
  library.setErrorLogger(() => undefined)
  return library
}

export async function newKeyPair(options: OpcUaOptions): Promise<KeyPair> {
  return await keyPairOf(await loadLibrary(), options)
}

export async function patience(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
