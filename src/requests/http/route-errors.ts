import type { ErrorCode } from '../../core/error-catalogue.ts'
import type { DescribedRoute } from './route-description.ts'
import { keyHeaders } from './schema.ts'

/** Codes that any request may end with, whatever its route. */
const always: readonly ErrorCode[] = [
  'headers_too_large',
  'internal_error',
  'malformed_request',
  'url_too_long',
]

const ofGuarded: readonly ErrorCode[] = [
  'ambiguous_credentials',
  'insufficient_permissions',
  'invalid_api_key',
  'invalid_request',
  'missing_credentials',
  'overloaded',
  'rate_limited',
  'session_expired',
  'token_expired',
]

/** A body may come where none belongs, and is then judged as one that does. */
const ofBodies: readonly ErrorCode[] = [
  'body_too_large',
  'malformed_body',
  'unsupported_media_type',
]

/** Routes that change something have to find its file where the next start looks for it. */
const ofChanges: readonly ErrorCode[] = ['data_folder_gone']

/** The cookie of the console is believed when a page of ours sends it, and no other. */
const ofGuardedChanges: readonly ErrorCode[] = ['origin_not_allowed']

/** Codes for what an Idempotency-Key can be wrong about. */
const ofKeys: readonly ErrorCode[] = ['idempotency_conflict']

/** Every code that a route can answer with: those of its shape, and those that it names. */
export function errorsOf({ method, schema, config }: DescribedRoute): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>([...always, ...(config.errors ?? [])])
  if (config.scope !== undefined) for (const code of ofGuarded) codes.add(code)
  if (config.scope !== undefined && method !== 'GET') {
    for (const code of ofGuardedChanges) codes.add(code)
  }
  if (method !== 'GET') for (const code of [...ofBodies, ...ofChanges]) codes.add(code)
  if (schema.body !== undefined || schema.querystring !== undefined) codes.add('invalid_request')
  if (schema.headers === keyHeaders) for (const code of ofKeys) codes.add(code)
  if (schema.params !== undefined) codes.add('not_found')
  return [...codes].toSorted()
}
