import { parsePath } from './path.ts'
import type { StreamSchema } from './stream-schema.ts'

/**
 * The member of a reading that has its time, where the time is a member of the reading itself: what puts a time into a
 * reading puts it there.
 */
export function timeMemberOf({
  timestampField,
  time,
}: Pick<StreamSchema, 'timestampField' | 'time'>): string | undefined {
  return time === undefined ? timestampField : memberNamed(timestampField)
}

/** The member that a source says times are in, for whoever writes messages: a path to elsewhere is no member that it has. */
export function timeNameOf({ timestampField = 'timestamp' }: { readonly timestampField?: string }) {
  return memberNamed(timestampField) ?? timestampField
}

/** The member that a path is the name of, and nothing more. */
export function memberNamed(text: string): string | undefined {
  const path = parsePath(text)
  if ('problem' in path || path.root !== 'item' || path.steps.length !== 1) return undefined
  const [step] = path.steps
  return typeof step === 'string' ? step : undefined
}
