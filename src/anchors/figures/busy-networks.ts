import type { StateDatabase } from '../../storage/state/database.ts'
import { restingStates } from '../intents/anchor.ts'

/** Networks that something is still to be put on, whether or not they are configured. */
export async function busyNetworks(state: StateDatabase): Promise<readonly string[]> {
  const rows = await state
    .selectFrom('anchor_counts')
    .select('network')
    .distinct()
    .where('anchors', '>', 0)
    .where('state', 'not in', restingStates)
    .execute()
  return rows.map(({ network }) => network)
}
