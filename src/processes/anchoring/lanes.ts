import type { Logger } from 'pino'
import { sandbox } from '../../anchors/intents/chosen-network.ts'
import type { AnchorRules } from '../../anchors/intents/next-step.ts'
import type { AnchorDeskProcedures } from '../../anchors/pursuit/anchoring-procedures.ts'
import type { AnchorDesk } from '../../anchors/pursuit/desk.ts'
import { Lane } from '../../anchors/pursuit/lane.ts'
import { OpenWork } from '../../anchors/pursuit/open-work.ts'
import { abandonOtherAccounts } from '../../anchors/pursuit/sequences.ts'
import { systemClock } from '../../core/clock.ts'
import { familyOf, type LedgerSettings } from '../../core/ledger-settings.ts'
import type { Remote } from '../../core/threads/rpc.ts'
import { type KeyRole, rolesOf } from '../../ledgers/keys/ledger-key.ts'
import { openLedger } from '../../ledgers/opening/open-ledger.ts'
import type { Cipher } from '../../ledgers/sandbox/keys.ts'
import { SandboxLedger } from '../../ledgers/sandbox/sandbox-ledger.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { signerIn } from './account-signer.ts'
import type { AnchoringThreadData } from './anchoring-contract.ts'
import { OneLedger } from './one-ledger.ts'

type Rules = Omit<AnchorRules, 'jitter' | 'patienceUs'>

/** Waits after failures of the ledger of our own: its disk may be well again at any time. */
const sandboxRules: Rules = { retryUsMin: 500_000, retryUsMax: 10_000_000 }

/** Nodes of others are asked less often: they make a block every two seconds at most, and count who asks. */
const networkRules: Rules = { retryUsMin: 2_000_000, retryUsMax: 60_000_000 }

export interface LaneParts {
  readonly data: AnchoringThreadData
  readonly state: StateDatabase
  readonly cipher: Cipher
  readonly logger: Logger
  readonly calls: Pick<Remote<AnchorDeskProcedures>, 'exchange'>
  readonly onFailure: (error: unknown) => void
}

interface DeskParts extends LaneParts {
  readonly desk: AnchorDesk
}

/** A ledger, and the lane of everything that goes onto it from one account of ours. */
export interface NetworkLane {
  readonly network: string
  readonly role: KeyRole
  readonly ledger: OneLedger
  readonly lane: Lane
}

/** That of our own first, then those that are configured. */
export function openLanes(needs: LaneParts): readonly NetworkLane[] {
  const lanes: NetworkLane[] = []
  const wakeAll = () => {
    for (const { lane } of lanes) lane.wake()
  }
  const parts: DeskParts = { ...needs, desk: wakingDesk(needs.calls, wakeAll) }
  const networkLanes = parts.data.ledgers.flatMap((settings) =>
    rolesOf(familyOf(settings.ledger)).map((role) => networkLane(parts, settings, role)),
  )
  lanes.push(sandboxLane(parts), ...networkLanes)
  return lanes
}

/** Another account may be the one to go on with what has come further. */
function wakingDesk(calls: LaneParts['calls'], wakeAll: () => void): AnchorDesk {
  return {
    async exchange(request) {
      const answer = await calls.exchange(request)
      if (answer.isMore) wakeAll()
      return answer
    },
  }
}

function sandboxLane(parts: DeskParts): NetworkLane {
  const { data, cipher, logger } = parts
  const { ledgerFolder: folder, batchWaitUs } = data
  const ledger = new OneLedger(() =>
    SandboxLedger.open({ folder, cipher, clock: systemClock, batchWaitUs }),
  )
  const pursuing = pursuingOf(parts, sandbox, 'issuer')
  const open = async () => {
    const opened = await ledger.opened()
    const abandoned = await abandonOtherAccounts(pursuing, opened)
    if (abandoned > 0) {
      logger.warn({ abandoned }, 'the ledger was begun again: what was under way is signed again')
    }
    return opened
  }
  const { patienceUs } = data
  return {
    network: sandbox,
    role: 'issuer',
    ledger,
    lane: new Lane({ ...pursuing, open, rules: { ...sandboxRules, patienceUs } }),
  }
}

function networkLane(parts: DeskParts, settings: LedgerSettings, role: KeyRole): NetworkLane {
  const { state, cipher, data } = parts
  const { network } = settings
  const { patienceUs, batchWaitUs } = data
  const pursuing = pursuingOf(parts, network, role)
  const signerOf = async (of: KeyRole) => await signerIn({ state, cipher }, network, of)
  const ledger = new OneLedger(async () => {
    const heights = await pursuing.work.heights()
    return await openLedger({ settings, role, signerOf, clock: systemClock, batchWaitUs, heights })
  })
  const rules = { ...networkRules, patienceUs }
  const open = () => ledger.opened()
  const lane = new Lane({ ...pursuing, open, rules })
  return { network, role, ledger, lane }
}

function pursuingOf({ state, desk, onFailure }: DeskParts, network: string, role: KeyRole) {
  return {
    network,
    work: new OpenWork(state, network, role),
    desk,
    clock: systemClock,
    random: Math.random,
    onFailure,
  }
}
