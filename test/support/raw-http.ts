import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'

export interface RawRequest {
  readonly method: string
  readonly path: string
  /** Names and values, alternating: sent as they are, also twice. */
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly body: ErrorBody
}

/** A request with exactly these headers, which `fetch` would not allow. */
export async function sendRaw(base: string, raw: RawRequest): Promise<RawAnswer> {
  const { method, path, headers = [], body } = raw
  const { host, hostname, port } = new URL(base)
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))]
  const outgoing = request({
    hostname,
    port,
    path,
    method,
    headers: ['host', host, ...length, ...headers],
    agent: false,
  })
  outgoing.end(body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    text,
    body: JSON.parse(text) as ErrorBody,
  }
}
