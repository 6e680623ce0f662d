import { messageStep } from '../../alerts/alert-messages.ts'
import type { Clocks } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { FanOut, type FanOutStep } from '../../telling/notifications/fan-out.ts'

export interface TellingNeeds {
  readonly clock: Clocks
  /** Plan what is delivered by the engine of deliveries. */
  readonly plans: readonly FanOutStep[]
  /** Once it is committed, with whose events were told. */
  readonly onTold: (ownerIds: ReadonlySet<UserId>) => void
}

/** Composition of what tells of events, where the state is written. */
export async function openTelling(
  state: StateDatabase,
  { clock, plans, onTold }: TellingNeeds,
): Promise<FanOut> {
  // Every way in which events are told, in order. To add one: write its file, and name it here.
  const steps: readonly FanOutStep[] = [...plans, messageStep]
  const fanOut = new FanOut({ clock, steps, onTold })
  await fanOut.open(state)
  return fanOut
}
