import type { Operations } from '../../../clients/typescript/call.ts'

export type Inferred = Operations['inferStream']['answer']
export type Proposal = Inferred['proposal']
export type ProposedField = Proposal['schema'][string]
export type FieldType = ProposedField['type']

export const fieldTypes: readonly FieldType[] = [
  'number',
  'integer',
  'boolean',
  'string',
  'datetime',
  'object',
  'array',
]

/** A field of the proposal, as somebody may change it. */
export interface DraftField {
  /** Its name in the proposal, which stays; of one that was added what it is called meanwhile. */
  readonly key: string
  /** Undefined where somebody has added it. */
  readonly proposed: ProposedField | undefined
  readonly isKept: boolean
  readonly name: string
  readonly type: FieldType
  readonly unit: string
}

export function draftOf({ schema }: Proposal): readonly DraftField[] {
  return Object.entries(schema).map(([name, field]) => ({
    key: name,
    isKept: true,
    name,
    type: field.type,
    unit: field.unit ?? '',
    proposed: field,
  }))
}

/** One more field, that no sample has told of. */
export function addedField(fields: readonly DraftField[]): DraftField {
  const key = `field ${fields.length + 1}`
  return { key, isKept: true, name: '', type: 'number', unit: '', proposed: undefined }
}

/**
 * The schema that the draft stands for. A field that got another name is still read from where it was; one of another
 * type loses what was proposed for the type before.
 */
export function schemaOf(fields: readonly DraftField[]): Proposal['schema'] {
  const kept = fields.filter(({ isKept }) => isKept)
  return Object.fromEntries(kept.map((field) => [field.name.trim(), definedBy(field)]))
}

function definedBy({ key, name, type, unit, proposed }: DraftField): ProposedField {
  if (proposed === undefined) return { type, ...(unit.trim() !== '' && { unit: unit.trim() }) }
  const { unit: _, ...rest } = proposed
  const base: ProposedField =
    type === proposed.type
      ? rest
      : { type, ...(proposed.from !== undefined && { from: proposed.from }) }
  return {
    ...base,
    ...(unit.trim() !== '' && { unit: unit.trim() }),
    ...(name.trim() !== key && base.from === undefined && { from: key }),
  }
}

/** Whether it can be made so: a stream has at least one field, and each of them a name of its own. */
export function isSound(fields: readonly DraftField[]): boolean {
  const kept = fields.filter((field) => field.isKept)
  return kept.length > 0 && kept.every((field) => nameProblem(fields, field) === undefined)
}

/** What is wrong with the names: none, or one that is there twice. */
export function nameProblem(
  fields: readonly DraftField[],
  { key, name }: DraftField,
): string | undefined {
  const wanted = name.trim()
  if (wanted === '') return 'a field needs a name'
  const isTwice = fields.some(
    (other) => other.isKept && other.key !== key && other.name.trim() === wanted,
  )
  return isTwice ? 'another field has this name' : undefined
}
