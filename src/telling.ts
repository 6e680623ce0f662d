import type { UserId } from './core/ids.ts'
import { type FanOutStep, fanOut } from './notifications/fan-out.ts'
import type { StateDatabase, Tell } from './state/database.ts'

export interface TellingNeeds {
  /** Plans what webhooks are told. */
  readonly plan: FanOutStep
  /** Once it is committed, with whose events were told. */
  readonly onTold: (ownerIds: ReadonlySet<UserId>) => void
}

/** Composition of what tells of events, where the state is written. Tells of what was left over. */
export async function openTelling(
  state: StateDatabase,
  { plan, onTold }: TellingNeeds,
): Promise<Tell> {
  // Every way in which events are told, in order. To add one: write its file, and name it here.
  const steps: readonly FanOutStep[] = [plan]
  const tell = fanOut({ steps, onTold })
  const afterwards = await state.transaction().execute(tell)
  afterwards()
  return tell
}
