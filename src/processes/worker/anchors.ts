import type { MessagePort } from 'node:worker_threads'
import type { AnchorDeskProcedures } from '../../anchors/pursuit/anchoring-procedures.ts'
import type { DeskRequest } from '../../anchors/pursuit/desk.ts'
import {
  StateAnchorDesk,
  type StateAnchorDeskNeeds,
} from '../../anchors/pursuit/state-anchor-desk.ts'
import { serveCalls } from '../../core/threads/rpc.ts'

/** Answers the thread that anchors, from when it asks. */
export function serveAnchorDesk(needs: StateAnchorDeskNeeds, port: MessagePort): void {
  const desk = new StateAnchorDesk(needs)
  const procedures: AnchorDeskProcedures = {
    exchange: (request: DeskRequest) => desk.exchange(request),
  }
  serveCalls(port, procedures)
}
