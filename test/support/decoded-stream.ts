import type { DecodedStream } from '../../src/contracts/reading.ts'
import type { FieldMap, FormatOptions, StreamSchema } from '../../src/contracts/stream-schema.ts'

/** As much of a stream as decoders are told. */
export function decodedStream(
  fields: FieldMap,
  formatOptions: FormatOptions = {},
  times: Partial<Pick<StreamSchema, 'timestampField' | 'timestampFormat'>> = {},
): DecodedStream {
  const schema: StreamSchema = {
    fields,
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
    ...times,
  }
  return { schema, formatOptions }
}
