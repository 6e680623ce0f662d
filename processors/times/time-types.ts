import type { FieldType, StreamSchema } from '../../src/contracts/stream-schema.ts'
import { epochPlaces } from './epochs.ts'

/** What a text that is a time is read as, where a format has only texts and no field says it. */
export function timeTypeOf({
  timestampFormat,
  time,
}: Pick<StreamSchema, 'timestampFormat' | 'time'>): FieldType {
  // By the rules for times a text of digits is an epoch, and keeps all of them.
  return epochPlaces(timestampFormat) !== undefined && time === undefined ? 'number' : 'string'
}
