import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openMasterKey } from '../../access/auth/bootstrap.ts'
import { AnchorProofs } from '../../anchors/proofs/anchor-proofs.ts'
import type {
  AnchorDeskProcedures,
  AnchoringProcedures,
} from '../../anchors/pursuit/anchoring-procedures.ts'
import { figuresByNetwork } from '../../anchors/pursuit/lanes-together.ts'
import { systemClock } from '../../core/clock.ts'
import { reportFaults } from '../../core/threads/faults.ts'
import { lowerThreadPriority } from '../../core/threads/priority.ts'
import { Caller, type Remote, serveCalls } from '../../core/threads/rpc.ts'
import { ledgerKeys } from '../../ledgers/sandbox/keys.ts'
import { hiding } from '../../operating/observability/hidden-addresses.ts'
import { createLogger } from '../../operating/observability/logger.ts'
import { openStateForReading, plain } from '../../storage/state/database.ts'
import { Verifier } from '../../twins/verification/verifier.ts'
import type { AnchoringThreadData } from './anchoring-contract.ts'
import { type LaneParts, type NetworkLane, openLanes } from './lanes.ts'
import { contentsOf, Verifying } from './verifying.ts'

interface Parts extends Omit<LaneParts, 'calls'> {
  readonly lanes: readonly NetworkLane[]
  readonly calls: Remote<AnchorDeskProcedures>
}

/** Composition of the thread that anchors: it reads the state itself, and has others write it. */
function run(port: MessagePort, data: AnchoringThreadData): void {
  // Acknowledgements go before.
  lowerThreadPriority()
  const hide = hiding(data.ledgers.flatMap(({ endpoints }) => endpoints))
  const logger = createLogger(data.log, hide)
  const state = openStateForReading(data.statePath)
  const { calls } = new Caller<AnchorDeskProcedures>(data.desk)
  const onFailure = (error: unknown) => {
    logger.error({ err: error }, 'anchors wait: there was a failure')
  }
  const cipher = openMasterKey(data.dataDir, data.masterKey)
  const shared = { data, state, cipher, logger, calls, onFailure }
  const lanes = openLanes(shared)
  const parts: Parts = { ...shared, lanes }
  const files = contentsOf(data.filesAddress, data.filesFolder)
  const verifying = verifyingOf(parts, files)
  const stopping = new AbortController()
  const running = Promise.all([
    ...(data.isAnchoring ? lanes.map(({ lane }) => lane.run(stopping.signal)) : []),
    verifying.run(stopping.signal),
  ])
  const wake = () => {
    for (const { lane } of lanes) lane.wake()
    verifying.wake()
  }
  const procedures: AnchoringProcedures = {
    wake,
    figures: () => figuresByNetwork(lanes.map(({ lane }) => lane.figures())),
    async stop() {
      stopping.abort()
      wake()
      await running
      for (const { ledger } of lanes) await ledger.close()
      await files.close()
      await state.destroy()
      data.desk.close()
    },
  }
  reportFaults(port)
  serveCalls(port, procedures)
}

/** Vaults are compared with what is on their ledgers. */
function verifyingOf(
  { data, state, lanes, calls, onFailure }: Parts,
  files: ReturnType<typeof contentsOf>,
): Verifying {
  const ledgers = new Map(
    lanes.flatMap(({ network, role, ledger }) => (role === 'issuer' ? [[network, ledger]] : [])),
  )
  const verifier = new Verifier({
    state,
    writer: { attempt: (...changes) => calls.attempt(changes.map(plain)) },
    clock: systemClock,
    files,
    proofs: new AnchorProofs(state),
    ledgerOf: async (network) => await ledgers.get(network)?.opened(),
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
