import type { DecodedStream } from '../src/contracts/reading.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'

/**
 * The field that belongs to something which is named by other rules than ours: the one that the
 * definition gives, else the name with `_` for what a field cannot have in its name.
 *
 * @param name what it is called in full
 * @param ownName the part of it that a field is named after
 */
export function fieldOf(
  { schema, formatOptions: { names = noNames } = {} }: DecodedStream,
  name: string,
  ownName = name,
): string {
  const given = Object.hasOwn(names, name) ? names[name] : undefined
  if (given !== undefined) return given
  const field = ownName.replaceAll(/\W/g, '_')
  // The time is said in another way, and no field can begin with a digit.
  return field === timeMemberOf(schema) || /^(\d|$)/.test(field) ? `_${field}` : field
}

const noNames: Readonly<Record<string, string>> = {}
