import { isObject } from '../../contracts/definitions/field-map.ts'
import type { Judge } from '../../contracts/reading.ts'
import type { FieldMap, StreamSchema } from '../../contracts/stream-schema.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import { schemaOf } from './definition.ts'
import { inferSchema } from './schema-inference.ts'
import type { Samples } from './stream-samples.ts'
import { inferTime } from './time-inference.ts'
import { currentRules } from './time-rules.ts'

/** A sample that the stream would refuse, and why. */
interface Misfit {
  readonly index: number
  readonly error: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
}

export interface Proposal {
  readonly proposal: {
    readonly type: 'iot_sensor'
    readonly source: object
    readonly schema: FieldMap
  }
  /** How many there were. */
  readonly samples: number
  /** What was left out of the schema, and why. */
  readonly notes: readonly ErrorDetail[]
  readonly misfits: readonly Misfit[]
}

/** How far ahead of the server the time of a reading may be (decisions.md#times-of-readings). */
const futureToleranceUs = 5 * 60 * 1_000_000

/**
 * What a stream of such readings could be defined as. Who it would refuse all the same is named: the
 * stages that readings pass are asked.
 *
 * @throws DomainError `invalid_request` when the samples have no field that a schema could have, or far
 *   too many of them
 */
export function proposeStream(
  { readings, unreadable, source: sampled }: Samples,
  { judgeOf, nowUs }: { readonly judgeOf: (schema: StreamSchema) => Judge; readonly nowUs: number },
): Proposal {
  const objects = readings.filter(isObject)
  const { schema: inferred, notes } = inferSchema(objects)
  if (Object.keys(inferred).length === 0) {
    throw new DomainError('invalid_request', 'the samples have no field for a schema', {
      details: notes,
    })
  }
  const time = inferTime(objects, nowUs)
  const schema = withoutTimeLimits(inferred, time.timestampField)
  const source = { ...time, ...withKnownColumns(sampled, schema, time.timestampField) }
  const judge = judgeOf(schemaOf({ source, schema, processing: {}, rules: currentRules }))
  const misfits = readings.flatMap((sample, index): readonly Misfit[] => {
    const problem = unreadable.get(index)
    if (problem !== undefined) return [{ index, error: 'malformed', message: problem, details: [] }]
    const verdict = judge(sample, { receivedAtUs: nowUs, futureToleranceUs })
    if (verdict.accepted) return []
    const { reason, message, details } = verdict
    return [{ index, error: reason, message, details }]
  })
  const proposal = { type: 'iot_sensor' as const, source, schema }
  return { proposal, samples: readings.length, notes, misfits }
}

/** A column that is no field of the schema is left out, as `null` says. */
function withKnownColumns(
  source: Samples['source'],
  schema: FieldMap,
  timestampField = 'timestamp',
): object {
  if (source.columns === undefined) return source
  const isKnown = (name: string) => name === timestampField || Object.hasOwn(schema, name)
  return { ...source, columns: source.columns.map((name) => (isKnown(name) ? name : null)) }
}

/** Time goes on: what the samples have is no limit for it. */
function withoutTimeLimits(schema: FieldMap, name: string | undefined): FieldMap {
  const field = name === undefined ? undefined : schema[name]
  if (name === undefined || field === undefined) return schema
  const { min: _min, max: _max, ...rest } = field
  return { ...schema, [name]: rest }
}
