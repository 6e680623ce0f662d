import type { DecodedStream, Decoder } from '../src/contracts/reading.ts'
import type { PayloadFormat } from '../src/contracts/stream-schema.ts'
import { textMemberOfItems } from './decode-binary.ts'
import { cborFormat, decodeCbor } from './decode-cbor.ts'
import { csvDecoder } from './decode-csv.ts'
import { formDecoder } from './decode-form.ts'
import { decodeJson, type JsonReading, jsonDecoder, textMemberOfJson } from './decode-json.ts'
import { lineDecoder } from './decode-lines.ts'
import { decodeMsgpack, msgpackFormat } from './decode-msgpack.ts'
import { decodeNdjson } from './decode-ndjson.ts'
import { otlpDecoder } from './decode-otlp.ts'
import { plainDecoder } from './decode-plain.ts'
import { prometheusDecoder, remoteWriteDecoder } from './decode-prometheus.ts'
import { protobufDecoder } from './decode-protobuf.ts'
import { senmlCborDecoder, senmlJsonDecoder } from './decode-senml.ts'
import { sparkplugDecoder } from './decode-sparkplug.ts'
import { takesNonFinite } from './values.ts'

/** Formats whose bytes say all that there is to know: one file each, and one line here. */
export const decoders = {
  json: decodeJson,
  ndjson: decodeNdjson,
  cbor: decodeCbor,
  msgpack: decodeMsgpack,
} as const satisfies Partial<Record<PayloadFormat, Decoder>>

type SelfDescribing = keyof typeof decoders

/** Formats that can only be read by the definition of a stream. */
const decodersFor: Readonly<
  Record<Exclude<PayloadFormat, SelfDescribing>, (stream: DecodedStream) => Decoder>
> = {
  plain: plainDecoder,
  csv: csvDecoder,
  form: formDecoder,
  'senml-json': senmlJsonDecoder,
  'senml-cbor': senmlCborDecoder,
  protobuf: protobufDecoder,
  sparkplug: sparkplugDecoder,
  'line-protocol': (stream) => lineDecoder(stream),
  otlp: otlpDecoder,
  prometheus: prometheusDecoder,
  'prometheus-remote-write': remoteWriteDecoder,
  // The mapping finds the data in it.
  cloudevents: (stream) => jsonDecoder(jsonReadingOf(stream)),
}

/** The decoder of messages in a format that come for a stream. */
export function decoderOf(format: PayloadFormat, stream: DecodedStream): Decoder {
  if (!isSelfDescribing(format)) return decodersFor[format](stream)
  const how = jsonReadingOf(stream)
  if (format === 'json') return jsonDecoder(how)
  if (format === 'ndjson') return (payload) => decodeNdjson(payload, undefined, how)
  return decoders[format]
}

/** The decoder of what the quarantine keeps of one reading of a message in a format. */
export function elementDecoderOf(format: PayloadFormat, stream: DecodedStream): Decoder {
  // A line of NDJSON is a text of JSON; one of line protocol has its time in nanoseconds.
  if (format === 'line-protocol') return lineDecoder(stream, 'ns')
  return decoderOf(format === 'ndjson' ? 'json' : format, stream)
}

/**
 * What a stream makes of what JSON cannot write, and of what a double cannot hold. Where paths lead to the fields,
 * a message may have any of it in other places.
 */
function jsonReadingOf({ schema }: DecodedStream): JsonReading {
  const { items, fields, values, extra, timestampFormat, isCloudEvents = false } = schema
  const hasPaths =
    isCloudEvents ||
    items !== undefined ||
    Object.values(fields).some(({ from }) => from !== undefined)
  return {
    takesNonFinite: isCloudEvents || items !== undefined || takesNonFinite(fields, values),
    integersAsTexts: hasPaths || extra === 'drop' || timestampFormat === 'epoch_ns',
  }
}

/**
 * The text that a member of a reading is, whether or not the reading may be stored. Nothing where there is no such
 * member, where it is no text, and where it comes twice.
 *
 * @param reading the bytes of one element of a batch
 */
export function textMemberOf(
  format: SelfDescribing,
  reading: Uint8Array,
  name: string,
): string | undefined {
  if (format === 'cbor') return textMemberOfItems(reading, name, cborFormat)
  if (format === 'msgpack') return textMemberOfItems(reading, name, msgpackFormat)
  return textMemberOfJson(reading, name)
}

/** Whether messages in a format can be taken apart without knowing the stream that they are for. */
export function isSelfDescribing(format: PayloadFormat): format is SelfDescribing {
  return Object.hasOwn(decoders, format)
}

/**
 * The format that a media type names (`media-types.ts`: where several formats have one). MessagePack got its own only
 * after others were in use, and CloudEvents in structured mode are JSON by another name: a stream of CloudEvents finds
 * the data in it.
 */
export const formatOfMediaType: Readonly<Record<string, PayloadFormat>> = {
  'application/json': 'json',
  'application/cloudevents+json': 'json',
  'application/cloudevents-batch+json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/cbor': 'cbor',
  'application/vnd.msgpack': 'msgpack',
  'application/msgpack': 'msgpack',
  'application/x-msgpack': 'msgpack',
  'text/plain': 'plain',
  'text/csv': 'csv',
  'application/x-www-form-urlencoded': 'form',
  'application/senml+json': 'senml-json',
  'application/senml+cbor': 'senml-cbor',
  'application/protobuf': 'protobuf',
  'application/x-protobuf': 'protobuf',
  'text/x-influx-line-protocol': 'line-protocol',
  'application/openmetrics-text': 'prometheus',
}
