import { SourceRefused } from '../../src/contracts/fetch-connector.ts'

/** Errors of the library and of servers by their names, as somebody who is to mend them has to read them. */
const refusals: Readonly<Record<string, string>> = {
  AuthorizationError: 'the server does not let us in with these credentials',
  UserAuthenticationExpiredError: 'the credentials have expired',
  PermissionViolationError: 'the user of the source lacks a permission',
  JetStreamNotEnabled: 'the server has no JetStream for us',
}

/** Errors of JetStream, by their `err_code`. */
const apiRefusals: Readonly<Record<number, string>> = {
  10_039: 'the server has no JetStream for us',
  10_059: 'there is no such stream',
  10_099: 'another consumer takes from this work queue',
  10_100: 'another consumer takes the same subjects from this work queue',
  10_026: 'the stream has as many consumers as it may have',
  10_002: 'the account may not have another consumer',
}

/** An error as somebody who is to mend it has to read it: a SourceRefused, where a repetition is of no use. */
export function describeFailure(error: unknown): Error {
  if (error instanceof SourceRefused || !(error instanceof Error)) return error as Error
  const { name, message, cause } = error
  const { code } = error as { readonly code?: unknown }
  const meaning = refusals[name] ?? (typeof code === 'number' ? apiRefusals[code] : undefined)
  if (meaning !== undefined) return new SourceRefused(`${meaning}: ${message}`, { cause: error })
  // The library wraps what a request has failed with.
  if (cause instanceof Error && refusals[cause.name] !== undefined) return describeFailure(cause)
  return error
}
