import type { Decoder } from '../src/pipeline/reading.ts'
import type { PayloadFormat } from '../src/pipeline/stream-schema.ts'
import { decodeCbor } from './decode-cbor.ts'
import { decodeJson } from './decode-json.ts'
import { decodeMsgpack } from './decode-msgpack.ts'
import { decodeNdjson } from './decode-ndjson.ts'

/** Every format that readings may come in: one file each, and one line here. */
export const decoders: Readonly<Record<PayloadFormat, Decoder>> = {
  json: decodeJson,
  ndjson: decodeNdjson,
  cbor: decodeCbor,
  msgpack: decodeMsgpack,
}

/** The format that a media type names. MessagePack got its own only after others were in use. */
export const formatOfMediaType: Readonly<Record<string, PayloadFormat>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/cbor': 'cbor',
  'application/vnd.msgpack': 'msgpack',
  'application/msgpack': 'msgpack',
  'application/x-msgpack': 'msgpack',
}
