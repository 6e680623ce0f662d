import { DomainError } from '../../../../core/errors.ts'

/** What has to be held in memory at once for an answer has a limit. */
export function needsTooMuchMemory(): DomainError {
  return new DomainError('query_too_slow', 'the query needs more memory than there is')
}
