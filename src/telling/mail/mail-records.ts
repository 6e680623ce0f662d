import type { Static } from 'typebox'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Slice } from '../../storage/state/listing.ts'
import { attemptRecordsOf } from '../delivery/attempt-records.ts'
import type { mailAttemptSchema } from './recipient-api.ts'

/**
 * Attempts to send mails to a recipient, the newest first: one record each
 * (decisions.md#records-of-attempts).
 */
export async function mailAttemptsOf(
  state: StateDatabase,
  recipientId: string,
  slice: Slice,
): Promise<readonly Static<typeof mailAttemptSchema>[]> {
  const attempts = await attemptRecordsOf(state, recipientId, slice)
  return attempts.map(({ record }) => record)
}
