import type { FieldDefinition, FieldMap } from '../../contracts/stream-schema.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import { type Draft, draftOf, type Limits, type ProposalNeeds } from './proposal-draft.ts'
import { type Misfit, misfitsOf } from './proposal-misfits.ts'
import type { Samples } from './stream-samples.ts'

export interface Proposal {
  readonly proposal: {
    readonly type: 'iot_sensor'
    readonly source: object
    readonly schema: FieldMap
  }
  /** How many there were. */
  readonly samples: number
  /** What was left out of the schema, and why; and what the samples do not show. */
  readonly notes: readonly ErrorDetail[]
  readonly misfits: readonly Misfit[]
}

/** A draft is loosened so often: each time a field, a level or the time has less to say. */
const draftsMax = 12

/**
 * What a stream of such messages could be defined as. Which of them it would refuse all the same is named: the
 * stages that messages pass are asked, and what they refuse for something that was only found is not proposed.
 *
 * @throws DomainError `invalid_request` when the samples have no field that a schema could have, or far
 *   too many of them
 */
export function proposeStream(samples: Samples, needs: ProposalNeeds): Proposal {
  let limits: Limits = { levelsMax: 4, time: 'required', fields: new Map() }
  for (let drafts = 1; ; drafts++) {
    const draft = draftOf(samples, limits, needs)
    if (Object.keys(draft.schema).length === 0) {
      throw new DomainError('invalid_request', 'the samples have no field for a schema', {
        details: draft.notes,
        remedy: noFieldRemedy(samples),
      })
    }
    const misfits = misfitsOf(samples, draft, needs)
    const looser = drafts < draftsMax ? loosened(limits, draft, misfits) : undefined
    if (looser === undefined) return proposalOf(samples, draft, misfits)
    limits = looser
  }
}

function noFieldRemedy({ unreadable }: Samples): string {
  const [problem] = unreadable.values()
  return problem === undefined
    ? 'Send messages that have at least one member with a value, as the device sends them.'
    : `Correct the samples that cannot be read, such as: ${problem}.`
}

function proposalOf(
  { count }: Samples,
  { source, schema, notes }: Draft,
  misfits: readonly Misfit[],
): Proposal {
  return { proposal: { type: 'iot_sensor', source, schema }, samples: count, notes, misfits }
}

/** What to find less of, so that fewer samples are refused; undefined: nothing that was found is why. */
function loosened(limits: Limits, draft: Draft, misfits: readonly Misfit[]): Limits | undefined {
  const reasons = new Set<string>(misfits.map(({ error }) => error))
  if (reasons.has('mapping_failed') && draft.levels > 0) {
    return { ...limits, levelsMax: draft.levels - 1 }
  }
  const isTimeAtFault = ['timestamp_missing', 'timestamp_invalid', 'timestamp_implausible'].some(
    (reason) => reasons.has(reason),
  )
  if (isTimeAtFault && draft.hasTime) {
    const isOptional = limits.time === 'optional' || !reasons.has('timestamp_missing')
    return { ...limits, time: isOptional ? 'none' : 'optional' }
  }
  const fields = new Map(limits.fields)
  for (const { error, details } of misfits) {
    if (error !== 'schema_mismatch') continue
    for (const { path } of details) {
      const [name = ''] = path.split('.')
      const field = draft.schema[name]
      if (field !== undefined) fields.set(name, looserField(field))
    }
  }
  const isSame =
    fields.size === limits.fields.size &&
    [...fields].every(([name, looser]) => limits.fields.get(name) === looser)
  return isSame ? undefined : { ...limits, fields }
}

/** Any array, a text, and then nothing. */
function looserField(field: FieldDefinition): 'bare' | 'text' | 'out' {
  if (field.required === true) return 'bare'
  if (field.type === 'array' && field.items !== undefined) return 'bare'
  const isTyped = field.type === 'string' && field.texts === 'typed'
  return field.type === 'array' || isTyped ? 'out' : 'text'
}
