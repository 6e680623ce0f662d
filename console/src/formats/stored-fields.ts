/** A field of readings as they are stored. */
export interface StoredField {
  readonly name: string
  readonly type: string
  readonly unit: string | undefined
}

interface Definition {
  readonly schema: Readonly<
    Record<string, { readonly type: string; readonly unit?: string | undefined }>
  >
  readonly processing: Readonly<Record<string, unknown>>
}

type Fields = Map<string, StoredField>
type Step = Readonly<Record<string, Readonly<Record<string, string | undefined>>>>

/** The fields that readings have in the store: those of the schema, after the steps of the transform. */
export function storedFields({ schema, processing }: Definition): readonly StoredField[] {
  const sent = Object.entries(schema).map(
    ([name, { type, unit }]) => [name, { name, type, unit }] as const,
  )
  const fields: Fields = new Map(sent)
  const steps = (processing['transform'] ?? []) as readonly Step[]
  for (const step of steps) {
    for (const [kind, options] of Object.entries(step)) applyStep(fields, kind, options)
  }
  return [...fields.values()]
}

function applyStep(
  fields: Fields,
  kind: string,
  options: Readonly<Record<string, string | undefined>>,
): void {
  const { field: name = '', from = '', to = '', type = 'number', unit } = options
  const before = fields.get(kind === 'rename' ? from : name)
  if (kind === 'rename' && before !== undefined) {
    fields.delete(from)
    fields.set(to, { ...before, name: to })
  }
  if (kind === 'drop') fields.delete(name)
  if (kind === 'convert') fields.set(name, { name, type: 'number', unit: to })
  if (kind === 'scale') fields.set(name, { name, type: 'number', unit: undefined })
  if (kind === 'derive') fields.set(name, { name, type, unit })
}

/** Whether values of a field can be drawn. */
export function isNumeric({ type }: StoredField): boolean {
  return type === 'number' || type === 'integer'
}
