import { ApiFailure } from './api-failure.ts'
import type { AskedOfAny, NamedTexts, OperationId } from './asked.ts'
import { operationPaths } from './operations.ts'

/** A call as it goes out. */
export interface Outgoing {
  readonly operationId: OperationId
  readonly url: string
  readonly init: RequestInit
  readonly idempotencyKey: string | undefined
}

/** @throws ApiFailure for a part of the path that would lead to another place */
export function outgoing(
  operationId: OperationId,
  asked: AskedOfAny,
  client: NamedTexts,
): Outgoing {
  const [method = '', pattern = ''] = operationPaths[operationId].split(' ')
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    pathPart(asked.path?.[name] ?? '', operationId),
  )
  const isPost = method === 'POST'
  const idempotencyKey = isPost ? (asked.idempotencyKey ?? newIdempotencyKey()) : undefined
  const body = asked.raw ?? jsonBody(asked.body)
  const headers = new Headers(client)
  if (body) headers.set('content-type', body.type)
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  for (const [name, value] of Object.entries(asked.headers ?? {})) headers.set(name, value)
  const init: RequestInit = { method, headers }
  if (body) init.body = body.content
  if (asked.signal) init.signal = asked.signal
  return { operationId, url: path + queryOf(asked.query ?? {}), init, idempotencyKey }
}

/** A browser leaves out these parts, even when they are escaped: what is asked for would be another thing. */
function pathPart(value: string, operationId: OperationId): string {
  if (!['', '.', '..'].includes(value)) return encodeURIComponent(value)
  throw new ApiFailure('nothing has this id', { operationId, status: 404, code: 'not_found' })
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const said = Object.entries(query).filter(([, value]) => value !== undefined)
  if (said.length === 0) return ''
  const pairs = said.map(([name, value]): [string, string] => [name, String(value)])
  return `?${new URLSearchParams(pairs).toString()}`
}

function jsonBody(body: unknown) {
  if (body === undefined) return undefined
  return { type: 'application/json', content: JSON.stringify(body) }
}

/** A key that nobody else makes. `randomUUID` is missing in pages that came over plain HTTP. */
export function newIdempotencyKey(): string {
  return crypto.getRandomValues(new Uint8Array(16)).reduce((key, byte) => {
    return key + byte.toString(16).padStart(2, '0')
  }, '')
}
