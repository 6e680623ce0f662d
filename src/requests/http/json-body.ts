import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { unsafeContent } from '../../core/json-safety.ts'
import { parseJson } from '../../core/parse-json.ts'
import type { JsonSchema } from './schema.ts'

const digests = new WeakMap<FastifyRequest, string>()

/**
 * Takes JSON bodies as strictly as readings are taken (decisions.md#bodies-and-queries): UTF-8
 * without a byte order mark, no key twice, no U+0000, no lone surrogates, no integer that a double
 * would round.
 *
 * An empty body is fine where the operation has none.
 */
export function takeStrictJson(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      rememberBody(request, bytes)
      if (bytes.length === 0) {
        if (!needsBody(request.routeOptions.schema?.body)) return undefined
        throw new DomainError('malformed_body', 'the body is empty')
      }
      return parseStrictJson(bytes)
    },
  )
}

/** To be called by whoever takes the body of a POST in another format: it may come again. */
export function rememberBody(request: FastifyRequest, bytes: Buffer): void {
  if (request.headers['idempotency-key'] === undefined) return
  digests.set(request, hash('sha256', bytes))
}

/** Remembers the SHA-256, in hex, of a body that nobody holds in memory: it may come again, too. */
export function rememberDigest(request: FastifyRequest, sha256: string): void {
  digests.set(request, sha256)
}

/** SHA-256 of the bytes of a body that came with an Idempotency-Key: hex. */
export function bodyDigestOf(request: FastifyRequest): string {
  return digests.get(request) ?? hash('sha256', '')
}

function needsBody(schema: unknown): boolean {
  if (schema === undefined) return false
  return ![(schema as JsonSchema)['type']].flat().includes('null')
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws DomainError `malformed_body` */
function parseStrictJson(bytes: Buffer): unknown {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw new DomainError('malformed_body', 'the body is not valid UTF-8')
  }
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    throw new DomainError('malformed_body', 'the body is not valid JSON')
  }
  const problem = unsafeContent(text, value)
  if (problem !== undefined) throw new DomainError('malformed_body', problem)
  if (hasPrototypeKey(value)) throw new DomainError('malformed_body', '__proto__ is not a key')
  return value
}

/** A member named `__proto__` is never meant well, and no operation has one. */
function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([key, member]) => key === '__proto__' || hasPrototypeKey(member),
  )
}
