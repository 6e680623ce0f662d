import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { checkServerIdentity, rootCertificates } from 'node:tls'
import { messageOf } from '../core/errors.ts'
import { race } from '../core/race.ts'
import type { OfflineAnswer, OfflineRequest } from '../processes/offline/offline-access.ts'
import { CommandError } from './command.ts'

/** Longest time that a request may take. */
const timeoutMs = 30_000

/** Longest answer that is read: a page of a list is far shorter. */
const answerBytesMax = 16 * 1024 * 1024

/** Where a service is, and what it is known by. */
export interface ServiceAddress {
  /** For example `https://vault.example:8080`. */
  readonly url: string
  /** PEM file: certificates that are trusted instead of those of the system. */
  readonly authorityPath: string | undefined
  /**
   * PEM file of the service's own certificate, where it is known: it is trusted for any name,
   * because a command on the same machine calls it by another one.
   */
  readonly ownCertificatePath: string | undefined
}

export interface ApiKeyPair {
  readonly apiKey: string
  readonly apiSecret: string
}

/** What is asked of a service, with the headers as they are. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text?: string | undefined
  /** The content that is sent in place of a text. */
  readonly content?: Readable
  readonly signal: AbortSignal
}

/** @throws CommandError `service_unreachable`; Error when a file cannot be read */
export async function askService(
  address: ServiceAddress,
  credentials: ApiKeyPair | undefined,
  { method, path, body }: OfflineRequest,
): Promise<OfflineAnswer> {
  const text = body && JSON.stringify(body)
  const headers = {
    ...(credentials && { 'x-api-key': credentials.apiKey, 'x-api-secret': credentials.apiSecret }),
    ...(text !== undefined && { 'content-type': 'application/json' }),
  }
  const signal = AbortSignal.timeout(timeoutMs)
  return await readAnswer(await sendRequest(address, { method, path, headers, text, signal }))
}

/**
 * An answer whose body was not read yet.
 *
 * @throws CommandError `service_unreachable`; Error when a file cannot be read
 */
export async function sendRequest(
  address: ServiceAddress,
  { method, path, headers, text, content, signal }: ServiceRequest,
): Promise<IncomingMessage> {
  const url = new URL(address.url.replace(/\/+$/, '') + path)
  const isSecure = url.protocol === 'https:'
  const options = { method, agent: false as const, signal, headers }
  const trust = isSecure ? trustOf(address) : {}
  try {
    const outgoing = isSecure
      ? requestHttps(url, { ...options, ...trust })
      : requestHttp(url, options)
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
    if (content === undefined) outgoing.end(text)
    else await race([answered, pipeline(content, outgoing)])
    const [incoming] = await answered
    return incoming
  } catch (error) {
    throw unreachable(url, error)
  }
}

/** All of an answer. @throws CommandError `service_unreachable` when it breaks off */
export async function readAnswer(incoming: IncomingMessage): Promise<OfflineAnswer> {
  try {
    return { status: incoming.statusCode ?? 0, text: await textOf(incoming) }
  } catch (error) {
    throw new CommandError('service_unreachable', `the answer broke off: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > answerBytesMax) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** What a connection with TLS to a service trusts. @throws Error when a file cannot be read */
export function trustOf({ authorityPath, ownCertificatePath }: ServiceAddress): TrustOptions {
  if (authorityPath !== undefined) return { ca: readFileSync(authorityPath, 'utf8') }
  if (ownCertificatePath === undefined) return {}
  const own = readFileSync(ownCertificatePath, 'utf8')
  const { fingerprint256 } = new X509Certificate(own)
  return {
    ca: [...rootCertificates, own],
    checkServerIdentity: (host, peer) =>
      peer.fingerprint256 === fingerprint256 ? undefined : checkServerIdentity(host, peer),
  }
}

export interface TrustOptions {
  /** PEM. */
  readonly ca?: string | string[]
  readonly checkServerIdentity?: typeof checkServerIdentity
}

function unreachable({ origin }: URL, error: unknown): CommandError {
  const code = (error as { readonly code?: unknown }).code
  const isTrust = typeof code === 'string' && /CERT|TLS|SIGNATURE|ISSUER/.test(code)
  const advice = isTrust ? ' (--ca FILE names a certificate to trust)' : ''
  // Several addresses of one name fail together, with an empty message.
  const reason = messageOf(error) || String(code)
  const message = `the service at ${origin} cannot be reached: ${reason}${advice}`
  const remedy = isTrust
    ? undefined
    : 'Start the service there, or correct --url; npx streamvault doctor on that machine says what the service lacks.'
  return new CommandError('service_unreachable', message, { cause: error, remedy })
}
