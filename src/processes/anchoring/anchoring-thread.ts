import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openMasterKey } from '../../access/auth/bootstrap.ts'
import { sandbox } from '../../anchors/intents/chosen-network.ts'
import type {
  AnchorDeskProcedures,
  AnchoringProcedures,
} from '../../anchors/pursuit/anchoring-procedures.ts'
import { Lane } from '../../anchors/pursuit/lane.ts'
import { OpenWork } from '../../anchors/pursuit/open-work.ts'
import { systemClock } from '../../core/clock.ts'
import { reportFaults } from '../../core/threads/faults.ts'
import { lowerThreadPriority } from '../../core/threads/priority.ts'
import { Caller, serveCalls } from '../../core/threads/rpc.ts'
import { SandboxLedger } from '../../ledgers/sandbox/sandbox-ledger.ts'
import { createLogger } from '../../operating/observability/logger.ts'
import { openStateForReading } from '../../storage/state/database.ts'
import type { AnchoringThreadData } from './anchoring-contract.ts'

/** Waits after failures of a ledger. */
const retryUsMin = 500_000
const retryUsMax = 300_000_000

/** Composition of the thread that anchors: it reads the state itself, and has others write it. */
function run(port: MessagePort, data: AnchoringThreadData): void {
  // Acknowledgements go before.
  lowerThreadPriority()
  const logger = createLogger(data.logLevel)
  const state = openStateForReading(data.statePath)
  const cipher = openMasterKey(data.dataDir, data.masterKey)
  const { calls } = new Caller<AnchorDeskProcedures>(data.desk)
  const { ledgerFolder: folder, batchWaitUs, patienceUs } = data
  const lane = new Lane({
    network: sandbox,
    open: () => SandboxLedger.open({ folder, cipher, clock: systemClock, batchWaitUs }),
    work: new OpenWork(state, sandbox),
    desk: { exchange: (request) => calls.exchange(request) },
    clock: systemClock,
    rules: { patienceUs, retryUsMin, retryUsMax },
    random: Math.random,
    onFailure: (error) => logger.error({ err: error }, 'anchors wait: there was a failure'),
  })
  const stopping = new AbortController()
  const running = lane.run(stopping.signal)
  const procedures: AnchoringProcedures = {
    wake: () => lane.wake(),
    figures: () => [lane.figures()],
    async stop() {
      stopping.abort()
      lane.wake()
      await running
      await lane.close()
      await state.destroy()
      data.desk.close()
    },
  }
  reportFaults(port)
  serveCalls(port, procedures)
}

if (parentPort) run(parentPort, workerData as AnchoringThreadData)
