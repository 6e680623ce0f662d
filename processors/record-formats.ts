import type { UndecodableMessage } from '../src/contracts/reading.ts'
import type { PayloadFormat } from '../src/contracts/stream-schema.ts'
import { otlpEncodingIn, otlpRecords } from './decode-otlp.ts'
import { prometheusTextRecords } from './prometheus-text.ts'
import type { Records } from './records.ts'
import { remoteWriteRecords } from './remote-write.ts'

/** The rows of a message, or what is wrong with all of it. */
export type ReadRecords = { readonly ok: true; readonly records: Records } | UndecodableMessage

/** Takes a message apart into its rows. Pure. */
export type RecordReader = (payload: Uint8Array) => ReadRecords

/** Formats whose rows name their values, so that nothing has to be known of a stream to find them. */
export const recordReaders: Readonly<Partial<Record<PayloadFormat, RecordReader>>> = {
  prometheus(payload) {
    const records = prometheusTextRecords(payload)
    return typeof records === 'string' ? { ok: false, problem: records } : { ok: true, records }
  },
  'prometheus-remote-write': remoteWriteRecords,
  otlp: (payload) => otlpRecords(payload, otlpEncodingIn(payload)),
}
