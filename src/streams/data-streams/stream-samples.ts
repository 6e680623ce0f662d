import type { FastifyInstance, FastifyRequest } from 'fastify'
import { csvSamples } from '../../../processors/csv-samples.ts'
import { decoders, formatOfMediaType } from '../../../processors/decode.ts'
import type { MessageContext } from '../../contracts/mapping.ts'
import type { LinePrecision, PayloadFormat } from '../../contracts/stream-schema.ts'
import { DomainError } from '../../core/errors.ts'
import { rememberBody } from '../../requests/http/json-body.ts'

/** Samples of one proposal: each is looked at several times, while everybody waits. */
export const samplesMax = 1_000

/** One message, taken apart as far as it can be without a definition. */
export interface SampledMessage {
  /** What it is named by in an answer. */
  readonly index: number
  readonly context: MessageContext
  readonly readings: readonly unknown[]
  /** Whether it was an array of readings. */
  readonly isBatch: boolean
  /** What was sent, where that is known: the stream is to read it by itself. */
  readonly payload?: Uint8Array
}

/** What a device sends, taken apart. */
export class Samples {
  readonly messages: readonly SampledMessage[]
  /** What could not be read: what is wrong, by its index. */
  readonly unreadable: ReadonlyMap<number, string>
  /** How a stream has to be defined that is sent them. */
  readonly source: SampledSource
  /** How many there are, with those that could not be read. */
  readonly count: number

  /** Samples that are readings. */
  constructor(
    readings: readonly unknown[],
    {
      unreadable = new Map(),
      source = {},
      messages,
      contexts = [],
    }: {
      readonly unreadable?: Samples['unreadable']
      readonly source?: SampledSource
      /** Undefined: each reading is one. */
      readonly messages?: readonly SampledMessage[]
      /** What is known of each reading's message. */
      readonly contexts?: readonly MessageContext[]
    } = {},
  ) {
    this.unreadable = unreadable
    this.source = source
    this.count = readings.length
    this.messages =
      messages ??
      readings.flatMap((reading, index) => {
        if (unreadable.has(index)) return []
        return [{ index, context: contexts[index] ?? {}, readings: [reading], isBatch: false }]
      })
  }
}

export interface SampledSource {
  readonly format?: Extract<
    PayloadFormat,
    | 'ndjson'
    | 'cbor'
    | 'msgpack'
    | 'csv'
    | 'plain'
    | 'senml-json'
    | 'form'
    | 'line-protocol'
    | 'prometheus'
  >
  /** The names in the first line of a table. */
  readonly columns?: readonly string[]
  readonly delimiter?: string
  /** The field that a payload is the value of. */
  readonly field?: string
  /** Lines before those of readings, and which of them names the columns. */
  readonly headerLines?: number
  readonly columnsLine?: number
  /** The unit of the times of lines. */
  readonly precision?: LinePrecision
  /** Values that mean none, in any field. */
  readonly missing?: readonly string[]
}

/** Media types of samples that are what a device sends, and no JSON around it. */
export const sampleTypes: readonly string[] = Object.keys(formatOfMediaType).filter((type) =>
  ['ndjson', 'cbor', 'msgpack', 'csv'].includes(formatOfMediaType[type] ?? ''),
)

/** Takes bodies in these types as samples. */
export function takeSamples(app: FastifyInstance): void {
  app.addContentTypeParser(
    [...sampleTypes],
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      rememberBody(request, bytes)
      const [type = ''] = (request.headers['content-type'] ?? '').split(';')
      return readSamples(bytes, formatOfMediaType[type.trim().toLowerCase()])
    },
  )
}

/** @throws DomainError `malformed_body`, `invalid_request` for none or too many */
function readSamples(bytes: Buffer, format: string | undefined): Samples {
  if (format === 'csv') return tableSamples(bytes)
  if (format !== 'ndjson' && format !== 'cbor' && format !== 'msgpack') {
    throw new Error(`samples of ${format} came through`)
  }
  const decoded = decoders[format](bytes)
  if (!decoded.ok) throw new DomainError('malformed_body', decoded.problem)
  const { readings, unreadable = new Map() } = decoded
  return counted(new Samples(readings, { unreadable, source: { format } }))
}

function tableSamples(bytes: Buffer): Samples {
  const table = csvSamples(bytes, samplesMax)
  if (!table.ok) throw new DomainError('malformed_body', table.problem)
  const { readings, unreadable, columns, delimiter } = table
  const written = delimiter === ',' ? {} : { delimiter }
  const source = { format: 'csv', columns, ...written } as const
  return counted(new Samples(readings, { unreadable, source }))
}

function counted(samples: Samples): Samples {
  if (samples.count > 0 && samples.count <= samplesMax) return samples
  const message = `there must be 1 to ${samplesMax.toLocaleString('en')} samples`
  throw new DomainError('invalid_request', message, {
    details: [{ path: 'samples', message }],
  })
}
