import type { UserId } from './core/ids.ts'
import { type FanOutStep, fanOut } from './notifications/fan-out.ts'
import type { StateDatabase, Tell } from './state/database.ts'

/** Every way in which events are told, in order. To add one: write its file, and a line here. */
const steps: readonly FanOutStep[] = []

/** Composition of what tells of events, where the state is written. Tells of what was left over. */
export async function openTelling(
  state: StateDatabase,
  onTold: (ownerIds: ReadonlySet<UserId>) => void,
): Promise<Tell> {
  const tell = fanOut({ steps, onTold })
  const afterwards = await state.transaction().execute(tell)
  afterwards()
  return tell
}
