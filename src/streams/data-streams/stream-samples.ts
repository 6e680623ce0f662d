import type { FastifyInstance, FastifyRequest } from 'fastify'
import { csvSamples } from '../../../processors/csv-samples.ts'
import { decoders, formatOfMediaType } from '../../../processors/decode.ts'
import { DomainError } from '../../core/errors.ts'
import { rememberBody } from '../../requests/http/json-body.ts'

/** Samples of one proposal: each is looked at twice, while everybody waits. */
export const samplesMax = 1_000

/** What a device sends, taken apart. */
export class Samples {
  readonly readings: readonly unknown[]
  /** Readings that could not be read although their neighbours could: what is wrong, by place. */
  readonly unreadable: ReadonlyMap<number, string>
  /** How a stream has to be defined that is sent them. */
  readonly source: SampledSource

  constructor(
    readings: readonly unknown[],
    {
      unreadable = new Map(),
      source = {},
    }: { readonly unreadable?: Samples['unreadable']; readonly source?: SampledSource } = {},
  ) {
    this.readings = readings
    this.unreadable = unreadable
    this.source = source
  }
}

interface SampledSource {
  readonly format?: 'ndjson' | 'cbor' | 'msgpack' | 'csv'
  /** The names in the first line of a table. */
  readonly columns?: readonly string[]
  readonly delimiter?: string
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
  const { length } = samples.readings
  if (length > 0 && length <= samplesMax) return samples
  const message = `there must be 1 to ${samplesMax.toLocaleString('en')} samples`
  throw new DomainError('invalid_request', message, {
    details: [{ path: 'samples', message }],
  })
}
