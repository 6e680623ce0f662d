import type { Hide } from './hidden-addresses.ts'

/** Errors behind an error, and beside each other, that are written down. */
const causesMax = 4

/** What the log has of an error. */
interface LoggedError {
  readonly type: string
  readonly message: string
  readonly stack?: string | undefined
  readonly code?: string | number
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

/**
 * What is written down of anything thrown: what it says, where, and why. None of the other fields that
 * libraries add, because these hold whole requests, with their headers and bodies.
 *
 * @param hide what else is not to be written down
 */
export function loggedError(
  error: unknown,
  hide: Hide = (text) => text,
  causesLeft = causesMax,
): unknown {
  const withoutSecrets = (text: string) => withoutTokens(hide(text))
  if (!(error instanceof Error)) return withoutSecrets(describe(error))
  const { name, message, stack, cause } = error
  const { code, errors } = error as { readonly code?: unknown; readonly errors?: unknown }
  const goesOn = causesLeft > 0
  return {
    type: name,
    message: withoutSecrets(message),
    stack: stack && withoutSecrets(stack),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(cause !== undefined && goesOn && { cause: loggedError(cause, hide, causesLeft - 1) }),
    ...(Array.isArray(errors) && goesOn && { errors: listed(errors, hide, causesLeft - 1) }),
  } satisfies LoggedError
}

function listed(errors: readonly unknown[], hide: Hide, causesLeft: number): readonly unknown[] {
  return errors.slice(0, causesMax).map((one) => loggedError(one, hide, causesLeft))
}

function describe(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown)
  const { message } = thrown as { readonly message?: unknown }
  return typeof message === 'string' ? message : Object.prototype.toString.call(thrown)
}

const credentials = /\/\/[^\s/@"']+@/g
const query = /(\/\/[^\s?"']+)\?[^\s"')]+/g

/** Messages name addresses: tokens stand in their queries, and passwords before their hosts. */
function withoutTokens(text: string): string {
  return text.replace(credentials, '//[secret]@').replace(query, '$1?[secret]')
}
