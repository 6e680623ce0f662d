import type { DecodedMessage, UndecodableMessage } from '../src/contracts/reading.ts'

/** Most readings that one message may carry. */
export const readingsPerMessageMax = 10_000

export const tooManyReadings = `more than ${readingsPerMessageMax} readings in one message`

/** A message of several readings, unless there are none, or too many of them. */
export function batchOf(
  message: Omit<DecodedMessage, 'ok' | 'isBatch'>,
): DecodedMessage | UndecodableMessage {
  const { length } = message.readings
  if (length === 0) return { ok: false, problem: 'the batch is empty' }
  if (length > readingsPerMessageMax) return { ok: false, problem: tooManyReadings }
  return { ok: true, isBatch: true, ...message }
}
