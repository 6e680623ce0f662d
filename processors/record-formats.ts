import type { UndecodableMessage } from '../src/contracts/reading.ts'
import type { PayloadFormat } from '../src/contracts/stream-schema.ts'
import type { Records } from './records.ts'

/** Takes a message apart into its rows. Pure. */
export type RecordReader = (payload: Uint8Array) => Records | UndecodableMessage

/** Formats whose rows name their values, so that nothing has to be known of a stream to find them. */
export const recordReaders: Readonly<Partial<Record<PayloadFormat, RecordReader>>> = {}
