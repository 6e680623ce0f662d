import * as s from '../../requests/http/schema.ts'
import type { Units } from '../units/units.ts'
import { withConversions } from './conversions.ts'
import type { DataStream } from './data-stream-store.ts'
import { changedDefinition } from './definition-change.ts'

/** A change that is tried: what it makes of the stream is in no schema, as with the change itself. */
export const draftSchema = s.typed<unknown>({
  type: 'object',
  description: 'A change of the definition to try, as `PUT /streams/{streamId}` takes it.',
})

/**
 * The stream as a change would make it. Nothing of it is stored, and its source is not asked.
 *
 * @throws DomainError as the change itself would, about what the definition says
 */
export async function draftOf(
  units: Units,
  stream: DataStream,
  change: unknown,
): Promise<DataStream> {
  if (change === undefined) return stream
  const changed = await withConversions(units, changedDefinition(stream, change))
  return { ...stream, ...changed }
}
