import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Logger } from 'pino'
import { openMasterKey } from '../../access/auth/bootstrap.ts'
import { sandbox } from '../../anchors/intents/chosen-network.ts'
import { AnchorProofs } from '../../anchors/proofs/anchor-proofs.ts'
import type {
  AnchorDeskProcedures,
  AnchoringProcedures,
} from '../../anchors/pursuit/anchoring-procedures.ts'
import type { DeskRequest } from '../../anchors/pursuit/desk.ts'
import { Lane } from '../../anchors/pursuit/lane.ts'
import { OpenWork } from '../../anchors/pursuit/open-work.ts'
import { abandonOtherAccounts } from '../../anchors/pursuit/sequences.ts'
import { systemClock } from '../../core/clock.ts'
import { reportFaults } from '../../core/threads/faults.ts'
import { lowerThreadPriority } from '../../core/threads/priority.ts'
import { Caller, type Remote, serveCalls } from '../../core/threads/rpc.ts'
import { ledgerKeys } from '../../ledgers/sandbox/keys.ts'
import { SandboxLedger } from '../../ledgers/sandbox/sandbox-ledger.ts'
import { createLogger } from '../../operating/observability/logger.ts'
import { openStateForReading, plain, type StateDatabase } from '../../storage/state/database.ts'
import { Verifier } from '../../twins/verification/verifier.ts'
import type { AnchoringThreadData } from './anchoring-contract.ts'
import { OneLedger } from './one-ledger.ts'
import { contentsOf, Verifying } from './verifying.ts'

/** Waits after failures of the ledger of our own: its disk may be well again at any time. */
const retryUsMin = 500_000
const retryUsMax = 10_000_000

interface Parts {
  readonly data: AnchoringThreadData
  readonly state: StateDatabase
  readonly logger: Logger
  readonly ledger: OneLedger
  readonly calls: Remote<AnchorDeskProcedures>
  readonly onFailure: (error: unknown) => void
}

/** Composition of the thread that anchors: it reads the state itself, and has others write it. */
function run(port: MessagePort, data: AnchoringThreadData): void {
  // Acknowledgements go before.
  lowerThreadPriority()
  const logger = createLogger(data.logLevel)
  const state = openStateForReading(data.statePath)
  const { calls } = new Caller<AnchorDeskProcedures>(data.desk)
  const onFailure = (error: unknown) => {
    logger.error({ err: error }, 'anchors wait: there was a failure')
  }
  const ledger = ledgerOf(data)
  const parts: Parts = { data, state, logger, ledger, calls, onFailure }
  const lane = laneOf(parts)
  const files = contentsOf(data.filesAddress, data.filesFolder)
  const verifying = verifyingOf(parts, files)
  const stopping = new AbortController()
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

function ledgerOf({ dataDir, masterKey, ledgerFolder, batchWaitUs }: AnchoringThreadData) {
  const cipher = openMasterKey(dataDir, masterKey)
  const needs = { folder: ledgerFolder, cipher, clock: systemClock, batchWaitUs }
  return new OneLedger(() => SandboxLedger.open(needs))
}

/** Everything that goes onto the ledger of our own. */
function laneOf({ data, state, logger, ledger, calls, onFailure }: Parts): Lane {
  const pursuing = {
    network: sandbox,
    work: new OpenWork(state, sandbox),
    desk: { exchange: (request: DeskRequest) => calls.exchange(request) },
  }
  return new Lane({
    ...pursuing,
    async open() {
      const opened = await ledger.opened()
      const abandoned = await abandonOtherAccounts(pursuing, opened)
      if (abandoned > 0) {
        logger.warn({ abandoned }, 'the ledger was begun anew: what was under way is signed again')
      }
      return opened
    },
    clock: systemClock,
    rules: { patienceUs: data.patienceUs, retryUsMin, retryUsMax },
    random: Math.random,
    onFailure,
  })
}

/** Vaults are compared with what is on the ledger. */
function verifyingOf(
  { data, state, ledger, calls, onFailure }: Parts,
  files: ReturnType<typeof contentsOf>,
): Verifying {
  const verifier = new Verifier({
    state,
    writer: { attempt: (...changes) => calls.attempt(changes.map(plain)) },
    clock: systemClock,
    files,
    proofs: new AnchorProofs(state),
    ledgerOf: async (network) => (network === sandbox ? await ledger.opened() : undefined),
    trustedKeys: () => blockKeys(data.ledgerFolder),
  })
  return new Verifying(verifier, onFailure)
}

/** Ids of the keys that blocks are signed with. */
async function blockKeys(folder: string): Promise<ReadonlySet<string>> {
  const { keys } = await ledgerKeys(folder)
  return new Set(keys.filter(({ role }) => role === 'blocks').map(({ kid }) => kid))
}

if (parentPort) run(parentPort, workerData as AnchoringThreadData)
