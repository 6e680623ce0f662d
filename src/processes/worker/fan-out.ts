import { messageStep } from '../../alerts/alert-messages.ts'
import type { Clocks } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { FanOut, type FanOutStep } from '../../telling/notifications/fan-out.ts'

export interface FanOutParts {
  readonly clock: Clocks
  /** Plan what is delivered by the engine of deliveries. */
  readonly plans: readonly FanOutStep[]
  /** Once it is committed, with the owners of the events. */
  readonly onNotified: (ownerIds: ReadonlySet<UserId>) => void
}

/** Composition of what notifies users of events, where the state is written. */
export async function openFanOut(
  state: StateDatabase,
  { clock, plans, onNotified }: FanOutParts,
): Promise<FanOut> {
  // Every way in which users are notified, in order. To add one: write its file, and name it here.
  const steps: readonly FanOutStep[] = [...plans, messageStep]
  const fanOut = new FanOut({ clock, steps, onNotified })
  await fanOut.open(state)
  return fanOut
}
