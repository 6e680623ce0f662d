import type {
  DecodedMessage,
  DecodedStream,
  Decoder,
  UndecodableMessage,
} from '../src/contracts/reading.ts'
import { prometheusTextRecords } from './prometheus-text.ts'
import { messageOfRecords } from './records.ts'
import { remoteWriteRecords } from './remote-write.ts'

/** A decoder of texts that are exposed to Prometheus: one reading for each sample. */
export function prometheusDecoder(stream: DecodedStream): Decoder {
  return (payload) => {
    const records = prometheusTextRecords(payload)
    if (typeof records === 'string') return { ok: false, problem: records }
    return messageOfRecords(records, stream, 'prometheus')
  }
}

/** A decoder of requests of remote write, in Snappy: one reading for each sample. */
export function remoteWriteDecoder(stream: DecodedStream): Decoder {
  return (payload): DecodedMessage | UndecodableMessage => {
    const sent = remoteWriteRecords(payload)
    if (!sent.ok) return sent
    const { records } = sent
    const format = 'prometheus-remote-write'
    // Prometheus also sends requests that have only metadata, or only ends of series: nothing of them is stored.
    if (records.length === 0) return { ok: true, readings: [], isBatch: true, format }
    return messageOfRecords(records, stream, format)
  }
}
