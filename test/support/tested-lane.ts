import { Lane } from '../../src/anchors/pursuit/lane.ts'
import type { LaneNeeds } from '../../src/anchors/pursuit/lane-needs.ts'
import { StateAnchorDesk } from '../../src/anchors/pursuit/state-anchor-desk.ts'
import type { Ledger } from '../../src/ledgers/ledger.ts'
import type { StateDatabase } from '../../src/storage/state/database.ts'
import { anchoredKinds } from '../../src/twins/anchored/anchored-kinds.ts'
import type { HandClock } from './hand-clock.ts'
import type { StepKill } from './step-kill.ts'
import type { Twins } from './twins.ts'

const dayUs = 86_400_000_000

/** What a lane can be killed around, besides what it writes down. */
const effects = [
  'prepare',
  'sign',
  'betterTerms',
  'nextSequence',
  'submit',
  'sight',
  'find',
] as const satisfies readonly (keyof Ledger)[]

interface TestedLane extends Pick<LaneNeeds, 'network' | 'work' | 'onFailure'> {
  readonly twins: Twins
  readonly clock: HandClock
  readonly kill: StepKill
  readonly open: () => Promise<Ledger>
  /** Called when more is planned, which may be for another account. */
  readonly onMore?: () => void
}

/** A lane as a service has it, which can be killed around all that has an effect. */
export function testedLane({ twins, kill, open, onMore, ...needs }: TestedLane): Lane {
  const kinds = anchoredKinds({ lifecycle: twins.lifecycle, clock: needs.clock })
  const { state } = twins.tests
  const desk = new StateAnchorDesk({ state, clock: needs.clock, kinds, notify: nobody })
  return new Lane({
    ...needs,
    open: async () => kill.over(await open(), effects),
    desk: {
      async exchange(request) {
        const answer = await kill.around(() => desk.exchange(request))
        if (answer.isMore) onMore?.()
        return answer
      },
    },
    rules: { patienceUs: dayUs, retryUsMin: 1_000_000, retryUsMax: 60_000_000 },
    random: () => 0.5,
  })
}

/** Tells nobody. */
async function nobody() {
  return () => undefined
}

/** What is written down of a network. */
export class LaneRows {
  readonly #state: StateDatabase
  readonly #network: string

  constructor({ tests }: Twins, network: string) {
    this.#state = tests.state
    this.#network = network
  }

  async anchors() {
    const anchors = this.#state.selectFrom('anchors').selectAll()
    return await anchors.where('network', '=', this.#network).orderBy('number').execute()
  }

  async transactions() {
    const all = this.#state.selectFrom('anchor_transactions').selectAll()
    const ours = all.where('network', '=', this.#network)
    return await ours.orderBy('sequence').orderBy('attempt').execute()
  }

  /** Whether nothing is under way any more. */
  async areAtRest(): Promise<boolean> {
    const isOpen = (await this.transactions()).some(({ state }) => state === 'open')
    const anchors = await this.anchors()
    return !isOpen && anchors.every(({ state }) => state === 'completed' || state === 'failed')
  }
}
