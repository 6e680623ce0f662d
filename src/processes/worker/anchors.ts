import type { MessagePort } from 'node:worker_threads'
import type { AnchorDeskProcedures } from '../../anchors/pursuit/anchoring-procedures.ts'
import type { DeskRequest } from '../../anchors/pursuit/desk.ts'
import {
  StateAnchorDesk,
  type StateAnchorDeskNeeds,
} from '../../anchors/pursuit/state-anchor-desk.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { attemptChanges, LocalStateWriter, type PlainChange } from '../../storage/state/database.ts'
import { anchoredKinds } from '../../twins/anchored/anchored-kinds.ts'

/** Answers the thread that anchors, from when it asks. */
export function serveAnchorDesk(
  needs: Omit<StateAnchorDeskNeeds, 'kinds'>,
  port: MessagePort,
): void {
  const { state, clock, notify } = needs
  const writer = new LocalStateWriter(state, notify)
  const lifecycle = new LifecycleEvents({ state, clock, writer })
  const desk = new StateAnchorDesk({ ...needs, kinds: anchoredKinds({ lifecycle, clock }) })
  const procedures: AnchorDeskProcedures = {
    exchange: (request: DeskRequest) => desk.exchange(request),
    attempt: (changes: readonly PlainChange[]) => attemptChanges(state, changes, notify),
  }
  serveCalls(port, procedures)
}
