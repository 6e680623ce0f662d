import { errorCatalogue } from '../../../clients/typescript/errors.ts'
import { span } from '../formats/times.ts'
import type { Failure } from './failure.ts'

const ownRemedies: Readonly<Record<string, string>> = {
  unreachable: 'The service was not reached: it may be restarting, or the network is down.',
  unreadable:
    'Something between here and the service has answered instead of it, such as a proxy: ask its operator.',
  rate_limited: 'Too much was asked at once. It goes on when the time that is shown is over.',
  page_error:
    'This is a mistake of the page. Load it again; if it stays, ask the operator of the service.',
}

/** What to do about a failure, in words for people: how long to wait is said, and not in which member it stands. */
export function remedyOf({
  code,
  retryAfterS,
  remedy: said,
}: Pick<Failure, 'code' | 'retryAfterS' | 'remedy'>): string | undefined {
  const known: Readonly<Record<string, { readonly remedy: string }>> = errorCatalogue
  const remedy = ownRemedies[code] ?? said ?? known[code]?.remedy
  const wait = retryAfterS === undefined ? 'a while' : span(retryAfterS)
  return remedy?.replaceAll('retryAfter seconds', wait)
}
