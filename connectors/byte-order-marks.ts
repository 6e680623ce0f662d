import { createRequire } from 'node:module'

interface Iconv {
  readonly getCodec: (encoding: string) => { bomAware: boolean }
}

const required = createRequire(import.meta.url)

/**
 * Lets a library that decodes its texts with iconv-lite keep U+FEFF at their beginning, as UTF-8: a text of a device or
 * a database has no byte order mark, and what looks like one is a character of it.
 */
export function keepByteOrderMarks(library: string): void {
  const iconv = createRequire(required.resolve(library))('iconv-lite') as Iconv
  iconv.getCodec('utf8').bomAware = false
}

interface ReplicationReader {
  readonly BinaryReader: { readonly prototype: { decodeText(bytes: Uint8Array): string } }
}

const textDecoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Lets the library that reads the log of PostgreSQL keep U+FEFF in names of columns and values. */
export function keepByteOrderMarksOfLog(): void {
  const library = createRequire(required.resolve('pg-logical-replication'))
  const { BinaryReader } = library(
    './output-plugins/pgoutput/binary-reader.js',
  ) as ReplicationReader
  BinaryReader.prototype.decodeText = (bytes) => textDecoder.decode(bytes)
}

/** Lets the library of NATS keep U+FEFF in what it decodes: a subject may begin with it. */
export function keepByteOrderMarksOfNats(): void {
  const library = createRequire(required.resolve('@nats-io/transport-node'))
  const { TD } = library('@nats-io/nats-core/internal') as {
    readonly TD: { decode: (bytes: Uint8Array) => string }
  }
  TD.decode = (bytes) => textDecoder.decode(bytes)
}
