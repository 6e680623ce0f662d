import type { StoredField } from '../../formats/stored-fields.ts'

/** Fields that are drawn at once: more are no picture any more. */
export const drawnMax = 8

/** A list of names as one parameter of an address: no name of a field has a comma in it. */
export function fieldsParameter(names: readonly string[]): string {
  return names.join(',')
}

/** The fields that an address names; the first ones where it names none, or none that there is. */
export function chosenFields(
  parameter: string,
  fields: readonly StoredField[],
): readonly StoredField[] {
  const names = new Set(parameter.split(','))
  const named = fields.filter(({ name }) => names.has(name))
  return (named.length > 0 ? named : fields).slice(0, drawnMax)
}
