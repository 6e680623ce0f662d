import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { readConfig } from '../config/config.ts'
import { readOwner } from '../config/folder-owner.ts'
import { monotonicMs } from '../core/clock.ts'
import { credentialsOf, isServiceUrl, parsed, serviceOf } from './administration.ts'
import { CommandError, type Input, UsageError } from './command.ts'
import { bringList, type Listed, type ListRequest } from './pages.ts'
import {
  type ApiKeyPair,
  readAnswer,
  type ServiceAddress,
  type ServiceRequest,
  sendRequest,
  type TrustOptions,
  trustOf,
} from './service-client.ts'

/** Longest time that a request may take, unless it goes on by its nature. */
const timeoutMs = 60_000

/** A token is valid for an hour; the next one is asked for in good time. */
const tokenLifetimeMs = 50 * 60_000

export interface SessionRequest {
  readonly method: ServiceRequest['method']
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface UploadRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly content: Readable
}

export interface SessionNeeds {
  readonly address: ServiceAddress
  readonly credentials: ApiKeyPair
  readonly mqttUrl: string | undefined
}

/** A running service, asked over the token interface. */
export class Session {
  readonly credentials: ApiKeyPair
  /** For example mqtt://127.0.0.1:1883; undefined when that is not known. */
  readonly mqttUrl: string | undefined
  readonly #needs: SessionNeeds
  #token: { readonly text: string; readonly untilMs: number } | undefined

  /** @throws CommandError `no_service` when none runs here and no other is named */
  static open({ options }: Input): Session {
    const given = options['url']
    if (given !== undefined && !isServiceUrl(given)) {
      throw new UsageError('--url must be such as http://127.0.0.1:8080, without a key or a path')
    }
    const config = readConfig(process.env)
    const url = given ?? serviceOf(config.dataDir)
    if (url === undefined) {
      const message = `no service has the folder ${config.dataDir}: start one, or name it with --url`
      throw new CommandError('no_service', message)
    }
    const address = {
      url,
      authorityPath: options['ca'],
      ownCertificatePath: given === undefined ? config.tls?.certPath : undefined,
    }
    const mqttUrl = given === undefined ? mqttOf(config.dataDir) : undefined
    return new Session({
      address,
      credentials: credentialsOf(config),
      mqttUrl: options['mqtt'] ?? mqttUrl,
    })
  }

  private constructor(needs: SessionNeeds) {
    this.#needs = needs
    const { credentials, mqttUrl } = needs
    this.credentials = credentials
    this.mqttUrl = mqttUrl
  }

  get url(): string {
    return this.#needs.address.url
  }

  /** PEM file with what other programs have to trust to reach the service; undefined: what the system trusts. */
  get authorityFile(): string | undefined {
    const { authorityPath, ownCertificatePath } = this.#needs.address
    return authorityPath ?? ownCertificatePath
  }

  /** What a connection with TLS to the broker trusts: the same as those over HTTPS. */
  trust(): TrustOptions {
    return trustOf(this.#needs.address)
  }

  /** The parsed answer. @throws CommandError with the service's code and message */
  async call<Body>(request: SessionRequest): Promise<Body> {
    const signal = AbortSignal.timeout(timeoutMs)
    return parsed<Body>(await readAnswer(await this.#send(request, signal)))
  }

  /** An answer without an end, or a long one. @throws CommandError when it is a refusal */
  async open(
    request: SessionRequest,
    signal = new AbortController().signal,
  ): Promise<IncomingMessage> {
    const incoming = await this.#send(request, signal)
    if (incoming.statusCode === 200 || incoming.statusCode === 206) return incoming
    parsed(await readAnswer(incoming))
    throw new CommandError('not_this_service', `an unexpected answer: ${incoming.statusCode}`)
  }

  /** Sends a file, for as long as that takes. @throws CommandError with the service's code and message */
  async upload<Body>(
    { path, headers, content }: UploadRequest,
    signal: AbortSignal,
  ): Promise<Body> {
    const authorization = `Bearer ${await this.#currentToken()}`
    const incoming = await sendRequest(this.#needs.address, {
      method: 'POST',
      path,
      headers: { authorization, ...headers },
      content,
      signal,
    })
    return parsed<Body>(await readAnswer(incoming))
  }

  /** Removes something. @throws CommandError with the service's code and message */
  async remove(path: string): Promise<void> {
    const signal = AbortSignal.timeout(timeoutMs)
    const answer = await readAnswer(await this.#send({ method: 'DELETE', path }, signal))
    if (answer.status !== 204) parsed(answer)
  }

  /** The items of a list, page by page. @throws CommandError with the service's code and message */
  async list<Item>(request: ListRequest): Promise<Listed<Item>> {
    return await bringList<Item>(request, async (path) => {
      const incoming = await this.#send({ method: 'GET', path }, AbortSignal.timeout(timeoutMs))
      const body = parsed<unknown>(await readAnswer(incoming))
      return { body, link: String(incoming.headers['link'] ?? '') }
    })
  }

  async #send(request: SessionRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, path, body, headers = {} } = request
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    return await sendRequest(this.#needs.address, {
      method,
      path,
      headers: {
        authorization: `Bearer ${await this.#currentToken()}`,
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      text,
      signal,
    })
  }

  async #currentToken(): Promise<string> {
    if (this.#token !== undefined && this.#token.untilMs > monotonicMs()) {
      return this.#token.text
    }
    const incoming = await sendRequest(this.#needs.address, {
      method: 'POST',
      path: '/auth/token',
      headers: { 'content-type': 'application/json' },
      text: JSON.stringify(this.credentials),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { accessToken } = parsed<{ accessToken: string }>(await readAnswer(incoming))
    this.#token = { text: accessToken, untilMs: monotonicMs() + tokenLifetimeMs }
    return accessToken
  }
}

function mqttOf(dataDir: string): string | undefined {
  const addresses = readOwner(dataDir)?.addresses ?? []
  // Without TLS where there is a choice: it is this very machine.
  const found = ['mqtt:', 'mqtts:'].map((scheme) =>
    addresses.find((one) => one?.startsWith(scheme)),
  )
  const address = found[0] ?? found[1]
  return address?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
