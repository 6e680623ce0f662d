import { messageOf } from '../../core/errors.ts'
import { LedgerUnreachable } from '../ledger.ts'

/** Longest answer that is read: what is asked here is far shorter. */
const answerBytesMax = 1024 * 1024

/** A question to a node: parameters of JSON-RPC, a list for EVM and an object for XRPL. */
export interface NodeQuestion {
  readonly method: string
  readonly params: readonly unknown[] | Readonly<Record<string, unknown>>
}

/** How long a node may take to answer one question. */
export interface Patience {
  readonly timeoutMs: number
  /** Ends it before. */
  readonly signal?: AbortSignal
}

/** A node that was asked, and says that it cannot: `code` is its own word for why. */
export class NodeRefusal extends LedgerUnreachable {
  readonly code: string

  constructor(code: string) {
    super(`the node answers with the error ${code}`)
    this.code = code
  }
}

/**
 * Asks a node by JSON-RPC, over HTTP or a WebSocket that is there for this question alone. No library of a network is
 * loaded. The operator names the nodes, so the egress guard, which is for what users name, does not look at them.
 *
 * @throws LedgerUnreachable in words of our own: those of others may show the address, which may hold a token
 */
export async function askNode(
  endpoint: string,
  question: NodeQuestion,
  patience: Patience,
): Promise<unknown> {
  const isSocket = /^wss?:/.test(endpoint)
  const body = JSON.stringify(bodyOf(question, isSocket))
  const text = isSocket
    ? await overSocket(endpoint, body, patience)
    : await overHttp(endpoint, body, patience)
  return resultIn(text)
}

/** XRPL speaks JSON-RPC over HTTP, and commands of its own over WebSockets (https://xrpl.org/docs/references/http-websocket-apis/api-conventions/request-formatting). */
function bodyOf({ method, params }: NodeQuestion, isSocket: boolean): object {
  if (Array.isArray(params)) return { jsonrpc: '2.0', id: 1, method, params }
  const named = params as Readonly<Record<string, unknown>>
  return isSocket ? { id: 1, command: method, ...named } : { method, params: [named] }
}

async function overHttp(endpoint: string, body: string, patience: Patience): Promise<string> {
  const { timeoutMs, signal } = patience
  const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      // The one who redirects could see what is asked, and answer what he likes.
      redirect: 'error',
      signal: AbortSignal.any(signals),
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new LedgerUnreachable(`the node answers with the status ${response.status}`)
    }
    return await limitedText(response)
  } catch (error) {
    throw error instanceof LedgerUnreachable ? error : unreachable(error)
  }
}

async function limitedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > answerBytesMax) throw new LedgerUnreachable('the answer of the node is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function overSocket(endpoint: string, body: string, patience: Patience): Promise<string> {
  const { timeoutMs, signal } = patience
  const { WebSocket } = await import('ws')
  const outcome = Promise.withResolvers<string>()
  const socket = new WebSocket(endpoint, { maxPayload: answerBytesMax, followRedirects: false })
  const late = setTimeout(() => {
    outcome.reject(new LedgerUnreachable('the node does not answer in time'))
  }, timeoutMs)
  socket.on('error', (error) => outcome.reject(unreachable(error)))
  socket.on('close', () => outcome.reject(new LedgerUnreachable('the node hangs up')))
  socket.on('open', () => socket.send(body))
  const hangUp = () => socket.terminate()
  signal?.addEventListener('abort', hangUp)
  socket.on('message', (data: Buffer) => outcome.resolve(data.toString('utf8')))
  try {
    return await outcome.promise
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', hangUp)
    socket.terminate()
  }
}

/** Codes of failures, in words. */
const failures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the node refuses connections',
  ENOTFOUND: 'the name of the node leads nowhere',
  EAI_AGAIN: 'the name of the node cannot be looked up',
  ECONNRESET: 'the node hangs up',
  UND_ERR_SOCKET: 'the node hangs up',
}

function unreachable(error: unknown): LedgerUnreachable {
  const { name, code, cause } = error as { name?: unknown; code?: unknown; cause?: unknown }
  if (name === 'TimeoutError') return new LedgerUnreachable('the node does not answer in time')
  const inner = (cause as { code?: unknown } | undefined)?.code ?? code
  if (typeof inner === 'string' && failures[inner]) return new LedgerUnreachable(failures[inner])
  if (typeof inner === 'string' && /CERT|TLS|SSL/.test(inner)) {
    return new LedgerUnreachable('the certificate of the node is not trusted')
  }
  const status = /Unexpected server response: (\d{3})/.exec(messageOf(error))?.[1]
  if (status) return new LedgerUnreachable(`the node answers with the status ${status}`)
  return new LedgerUnreachable('the node does not answer')
}

/** @throws LedgerUnreachable; NodeRefusal when it answers with an error */
function resultIn(text: string): unknown {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw new LedgerUnreachable('the answer of the node is no JSON')
  }
  if (typeof answer !== 'object' || answer === null) {
    throw new LedgerUnreachable('the answer of the node is none to what was asked')
  }
  const { error, result } = answer as Record<string, unknown>
  const refused = codeOf(error) ?? codeOf((result as { error?: unknown } | null | undefined)?.error)
  if (refused !== undefined) throw new NodeRefusal(refused)
  if (result === undefined) throw new LedgerUnreachable('the node leaves out what was asked')
  return result
}

/** A number of JSON-RPC, or a word of XRPL; the text beside it is left out. */
function codeOf(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined
  const code = typeof error === 'object' ? (error as { code?: unknown }).code : error
  return /^-?\w{1,40}$/.test(String(code)) ? String(code) : 'without a code'
}
