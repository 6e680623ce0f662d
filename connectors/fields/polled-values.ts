import { fieldNameProblem, fieldsMax, isObject } from '../../src/contracts/definitions/field-map.ts'
import {
  type Field,
  finite,
  listOf,
  newField,
  refined,
} from '../../src/contracts/definitions/fields.ts'
import { durationUs } from '../../src/core/duration.ts'

/** The name of a field of the schema. */
export const fieldName = newField<string>(
  (value, key, problems) => {
    const problem =
      typeof value === 'string' ? fieldNameProblem(value, new Set()) : 'must be the name of a field'
    if (problem !== undefined) problems.add(key, problem)
  },
  { type: 'string', maxLength: 63 },
)

/** Name of a field whose value may be the clock of the device: that one is called `timestamp`. */
export const timedFieldName = newField<string>((value, key, problems) => {
  if (value !== 'timestamp') fieldName.rule(value, key, problems)
}, fieldName.schema)

/** What a number of the device is multiplied with. */
export const factor = newField<number>(
  (value, key, problems) => {
    if (value === 0) problems.add(key, 'must not be 0')
    else finite.rule(value, key, problems)
  },
  { type: 'number', not: { const: 0 } },
)

/** Values of a device, each for a field of its own. @param of what they are called, in the plural */
export function valuesOf<Item extends { readonly field: string }>(
  item: Field<Item>,
  of: string,
): Field<readonly Item[]> {
  const list = listOf(item, { max: fieldsMax, of })
  return {
    ...list,
    rule: (value, key, problems) => {
      list.rule(value, key, problems)
      if (!Array.isArray(value) || value.length > fieldsMax) return
      const seen = new Set<string>()
      for (const [index, one] of value.entries()) {
        const given: unknown = isObject(one) ? one['field'] : undefined
        // What is no name is refused as such.
        if (typeof given !== 'string') continue
        const name = given.toLowerCase()
        if (seen.has(name)) problems.within(key).add(`${index}.field`, 'comes twice')
        seen.add(name)
      }
    },
  }
}

/** The fields that values of a device are for. @param values as they stand in a source */
export function fieldsOfValues(values: unknown): readonly unknown[] {
  return Array.isArray(values) ? values.filter(isObject).map((value) => value['field']) : []
}

/** How long a device may take for one answer: others wait for it meanwhile. */
export function answerTimeout(base: Field<string>, secondsMax: number): Field<string> {
  return refined(base, (value, key, problems) => {
    const isLong = (durationUs(value) ?? 0) > secondsMax * 1_000_000
    if (isLong) problems.add(key, `must be ${secondsMax}s at most`)
  })
}
