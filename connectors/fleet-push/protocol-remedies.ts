import type { ErrorCode } from '../../src/core/error-catalogue.ts'
import { remedyOf } from '../../src/core/errors.ts'
import type { ErrorBody, ErrorForm } from '../../src/requests/http/error-handler.ts'

/** Clients of other protocols have settings for these. */
const credentialRemedies = {
  invalid_api_key:
    'Check the user name, which is the key, and the password, which is its secret; GET /keys lists the keys of the account.',
  missing_credentials:
    'Send the key as user name and its secret as password (Basic authentication), or a header Authorization: Token KEY:SECRET.',
}

type Remedies = Partial<Readonly<Record<ErrorCode, string>>>

/**
 * Errors in the form of a protocol, with remedies that speak of that protocol in the place of those that speak of JSON.
 * What a refusal says itself stays.
 */
export function withRemedies(form: ErrorForm, remedies: Remedies): ErrorForm {
  const all = { ...credentialRemedies, ...remedies }
  return (body, request) => form(remedied(body, all), request)
}

function remedied(body: ErrorBody, remedies: Remedies): ErrorBody {
  const code = body.error as ErrorCode
  const remedy = remedies[code]
  if (remedy === undefined || body.remedy !== remedyOf(code, body.retryAfter)) return body
  return { ...body, remedy }
}
