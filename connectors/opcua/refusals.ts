import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { FrameFault } from './frames.ts'
import { ServerError } from './transport.ts'

/** What a status of a server means to whom it concerns: OPC 10000-4, section 7.39.2. */
const meanings: Readonly<Record<string, string>> = {
  BadUserAccessDenied: 'the server does not let this user in',
  BadIdentityTokenRejected: 'the server does not know this user name with this password',
  BadIdentityTokenInvalid: 'the server does not take this kind of user',
  BadIdentityChangeNotSupported: 'the server does not take this kind of user',
  BadSecurityChecksFailed: 'the server does not trust our certificate, or does not take it',
  BadCertificateUntrusted: 'the server does not trust our certificate',
  BadCertificateTimeInvalid: 'our certificate has expired, or is not valid yet',
  BadCertificateUriInvalid: 'our certificate does not name its application',
  BadCertificateUseNotAllowed: 'our certificate is not meant for this use',
  BadCertificateInvalid: 'the server cannot read our certificate',
  BadCertificateRevoked: 'our certificate was revoked',
  BadCertificateChainIncomplete: 'the server does not know who has issued our certificate',
  BadSecurityModeRejected: 'the server does not take this security mode',
  BadSecurityPolicyRejected: 'the server does not take this security policy',
  BadTcpEndpointUrlInvalid: 'the server has no such endpoint',
}

/** What the library itself says, where a server offers nothing that fits. */
const ownRefusals = [
  [/Cannot find ANONYMOUS/, 'the server wants a user name: give credentials'],
  [/Cannot find USERNAME/, 'the server takes no user name with a password'],
  [
    /End point must exist|cannot find endpoint/i,
    'the server does not offer this security mode and policy',
  ],
] as const

/** An error as somebody who is to mend it has to read it: a SourceRefused, where a repetition is of no use. */
export function describeFailure(error: unknown, nameOf: (code: number) => string): Error {
  if (error instanceof SourceRefused || error instanceof FrameFault) return error
  const { message } = error as Error
  const state = error instanceof ServerError ? nameOf(error.code) : stateIn(message)
  const meaning = state === undefined ? undefined : meanings[state]
  if (meaning !== undefined) return new SourceRefused(`${meaning} (${state})`, { cause: error })
  if (error instanceof ServerError) {
    return new Error(`the server has ended the connection: ${state} ${message}`.trim())
  }
  const own = ownRefusals.find(([pattern]) => pattern.test(message))
  return own === undefined ? (error as Error) : new SourceRefused(own[1], { cause: error })
}

/** The library puts the name of a state into its texts. */
function stateIn(message: string): string | undefined {
  return /\bBad[A-Z]\w+/.exec(message)?.[0]
}
