import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openMasterKey } from '../../access/auth/bootstrap.ts'
import { sandbox } from '../../anchors/intents/chosen-network.ts'
import { AnchorProofs } from '../../anchors/proofs/anchor-proofs.ts'
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
import { ledgerKeys } from '../../ledgers/sandbox/keys.ts'
import { SandboxLedger } from '../../ledgers/sandbox/sandbox-ledger.ts'
import { createLogger } from '../../operating/observability/logger.ts'
import { openStateForReading, plain } from '../../storage/state/database.ts'
import { Verifier } from '../../twins/verification/verifier.ts'
import type { AnchoringThreadData } from './anchoring-contract.ts'
import { OneLedger } from './one-ledger.ts'
import { contentsOf, Verifying } from './verifying.ts'

/** Waits after failures of the ledger of our own: its disk may be well again at any time. */
const retryUsMin = 500_000
const retryUsMax = 10_000_000

/** Composition of the thread that anchors: it reads the state itself, and has others write it. */
function run(port: MessagePort, data: AnchoringThreadData): void {
  // Acknowledgements go before.
  lowerThreadPriority()
  const logger = createLogger(data.logLevel)
  const state = openStateForReading(data.statePath)
  const cipher = openMasterKey(data.dataDir, data.masterKey)
  const { calls } = new Caller<AnchorDeskProcedures>(data.desk)
  const { ledgerFolder: folder, batchWaitUs, patienceUs } = data
  const onFailure = (error: unknown) => {
    logger.error({ err: error }, 'anchors wait: there was a failure')
  }
  const ledger = new OneLedger(() =>
    SandboxLedger.open({ folder, cipher, clock: systemClock, batchWaitUs }),
  )
  const lane = new Lane({
    network: sandbox,
    open: () => ledger.opened(),
    work: new OpenWork(state, sandbox),
    desk: { exchange: (request) => calls.exchange(request) },
    clock: systemClock,
    rules: { patienceUs, retryUsMin, retryUsMax },
    random: Math.random,
    onFailure,
  })
  const stopping = new AbortController()
  const files = contentsOf(data.filesAddress, data.filesFolder)
  const verifier = new Verifier({
    state,
    writer: { attempt: (...changes) => calls.attempt(changes.map(plain)) },
    clock: systemClock,
    files,
    proofs: new AnchorProofs(state),
    ledgerOf: async (network) => (network === sandbox ? await ledger.opened() : undefined),
    trustedKeys: () => blockKeys(folder),
  })
  const verifying = new Verifying(verifier, onFailure)
  const running = Promise.all([
    data.isAnchoring ? lane.run(stopping.signal) : undefined,
    verifying.run(stopping.signal),
  ])
  const procedures: AnchoringProcedures = {
    wake() {
      lane.wake()
      verifying.wake()
    },
    figures: () => [lane.figures()],
    async stop() {
      stopping.abort()
      lane.wake()
      verifying.wake()
      await running
      await lane.close()
      await ledger.close()
      await files.close()
      await state.destroy()
      data.desk.close()
    },
  }
  reportFaults(port)
  serveCalls(port, procedures)
}

/** Ids of the keys that blocks are signed with. */
async function blockKeys(folder: string): Promise<ReadonlySet<string>> {
  const { keys } = await ledgerKeys(folder)
  return new Set(keys.filter(({ role }) => role === 'blocks').map(({ kid }) => kid))
}

if (parentPort) run(parentPort, workerData as AnchoringThreadData)
