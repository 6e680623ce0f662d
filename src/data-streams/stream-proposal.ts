import { DomainError } from '../core/errors.ts'
import type { Judge } from '../pipeline/reading.ts'
import type { FieldMap, StreamSchema } from '../pipeline/stream-schema.ts'
import { schemaOf } from './definition.ts'
import { isObject } from './field-map.ts'
import { inferSchema } from './schema-inference.ts'
import { inferTime } from './time-inference.ts'

/** How far ahead of the server the time of a reading may be (D19). */
const futureToleranceUs = 5 * 60 * 1_000_000

/**
 * What a stream of such readings could be defined as. Who it would refuse all the same is named: the
 * stages that readings pass are asked.
 *
 * @throws DomainError `invalid_request` when the samples have no field that a schema could have
 */
export function proposeStream(
  samples: readonly unknown[],
  { judgeOf, nowUs }: { readonly judgeOf: (schema: StreamSchema) => Judge; readonly nowUs: number },
): object {
  const objects = samples.filter(isObject)
  const { schema: inferred, notes } = inferSchema(objects)
  if (Object.keys(inferred).length === 0) {
    throw new DomainError('invalid_request', 'the samples have no field for a schema', {
      details: notes,
    })
  }
  const source = { ...inferTime(objects, nowUs) }
  const schema = withoutTimeLimits(inferred, source.timestampField)
  const judge = judgeOf(schemaOf({ source, schema, processing: {} }))
  const misfits = samples.flatMap((sample, index) => {
    const verdict = judge(sample, { receivedAtUs: nowUs, futureToleranceUs })
    if (verdict.accepted) return []
    const { reason, message, details } = verdict
    return [{ index, error: reason, message, details }]
  })
  const proposal = { type: 'iot_sensor', source, schema }
  return { proposal, samples: samples.length, notes, misfits }
}

/** Time goes on: what the samples have is no limit for it. */
function withoutTimeLimits(schema: FieldMap, name: string | undefined): FieldMap {
  const field = name === undefined ? undefined : schema[name]
  if (name === undefined || field === undefined) return schema
  const { min: _min, max: _max, ...rest } = field
  return { ...schema, [name]: rest }
}
