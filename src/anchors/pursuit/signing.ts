import type { FoundTransaction, Ledger } from '../../ledgers/ledger.ts'
import { fillerDeed, placeIn, planDeeds } from './deeds.ts'
import type { MovedAnchors, SignedAnchors } from './desk.ts'
import { foundAnchors } from './found-anchors.ts'
import type { LaneNeeds } from './lane-needs.ts'
import type { OpenTransaction, WaitingAnchor } from './open-work.ts'
import { type PreparedDeed, preparedDeeds } from './prepared-deeds.ts'
import { compareSequences, noFacts } from './sequences.ts'

/** Anchors that are looked at in a round: a full batch, and as many transactions. */
const waitingMax = 2_000

/** What a round of signing has come to. */
export interface SignedNow {
  /** What is to be sent, in the order of the sequences. */
  readonly open: readonly OpenTransaction[]
  /** When leaves that are still collected are to be signed, in steady microseconds. */
  readonly dueAtUs: number
  /** Whether rows have moved otherwise: something was found on the ledger, or would never be taken. */
  readonly isMore: boolean
  /** Why no more could be signed. */
  readonly problem: string | undefined
}

export type SigningNeeds = Pick<LaneNeeds, 'network' | 'work' | 'desk' | 'clock'>

/**
 * Signs what waits under the sequences of one account. All is written down before anybody sends it, and a sequence that
 * is free is used before a new one.
 */
export class Signing {
  readonly #needs: SigningNeeds
  /** The lowest sequence that nothing has come near; undefined before rows and ledger were compared. */
  #next: number | undefined
  /** Sequences below it that neither the ledger nor a row has, in order: nothing that comes after them could get in. */
  #free: readonly number[] = []
  /** Anchors up to this number may be on the ledger, although no row says so; undefined before anybody has looked. */
  #unsureUpTo: number | undefined

  constructor(needs: SigningNeeds) {
    this.#needs = needs
  }

  /** Has sequences be compared before the next one is used. */
  forget(): void {
    this.#next = undefined
  }

  /**
   * Compares rows with the ledger, unless that was done. Resolves with whether it was done now.
   *
   * @throws LedgerUnreachable
   */
  async compare(ledger: Ledger): Promise<boolean> {
    if (this.#next !== undefined) return false
    const { next, free } = await compareSequences(this.#needs, ledger)
    // Only a state that was restored is older than its ledger, and that from the start.
    this.#unsureUpTo ??= await this.#needs.work.newest()
    this.#free = free
    this.#next = next
    return true
  }

  /**
   * Signs as much as there is room for, and what fills places that are left.
   *
   * @param room transactions at most, besides those that fill places
   * @throws LedgerUnreachable
   */
  async sign(ledger: Ledger, room: number): Promise<SignedNow> {
    const { work, clock } = this.#needs
    const nowUs = clock.steadyUs()
    const all = room > 0 ? await work.waiting(waitingMax) : []
    const found = await this.#found(ledger, all)
    const waiting = found.size > 0 ? all.filter(({ id }) => !found.has(id)) : all
    const plan = planDeeds(waiting, { nowUs, batchWaitUs: ledger.batchWaitUs, room })
    const { prepared, refused, problem } = await preparedDeeds(ledger, plan.deeds)
    const filling = await this.#fillers(ledger, prepared.length)
    const signed = await this.#signed(ledger, [...prepared, ...filling.prepared])
    const taken = await this.#store(ledger, signed, refused)
    const codes = new Map(waiting.map(({ id, assetCode }) => [id, assetCode]))
    const open = signed.slice(0, taken).map(({ transaction, intentId }) => ({
      ...transaction,
      earlier: [],
      named: transaction.hash,
      intentId,
      signedAtUs: nowUs,
      state: 'signed' as const,
      begunAtUs: nowUs,
      assetCode: codes.get(intentId) ?? null,
    }))
    const isMore = found.size + refused.length > 0
    return { open, dueAtUs: plan.dueAtUs, isMore, problem: problem ?? filling.problem }
  }

  /** What fills the free places that are left by so many deeds. */
  async #fillers(ledger: Ledger, deeds: number) {
    const planned = this.#free
      .slice(deeds)
      .map((sequence) => ({ deed: fillerDeed(sequence, ledger.account), anchors: [] }))
    const { prepared, refused, problem } = await preparedDeeds(ledger, planned)
    return { prepared, problem: problem ?? refused[0]?.failure?.message }
  }

  /** Each under a sequence of its own: those that are free first. */
  async #signed(
    ledger: Ledger,
    prepared: readonly PreparedDeed[],
  ): Promise<readonly SignedAnchors[]> {
    const signed: SignedAnchors[] = []
    for (const [at, { deed, anchors, terms }] of prepared.entries()) {
      const transaction = await ledger.sign(deed, this.#sequenceAt(at), terms)
      signed.push({ transaction, intentId: deed.intentId, anchors })
    }
    return signed
  }

  #sequenceAt(at: number): number {
    return this.#free[at] ?? (this.#next ?? 0) + at - this.#free.length
  }

  /** Resolves with how many were written down. */
  async #store(
    ledger: Ledger,
    signed: readonly SignedAnchors[],
    moved: readonly MovedAnchors[],
  ): Promise<number> {
    if (signed.length + moved.length === 0) return 0
    const { network, desk } = this.#needs
    const { account, heights } = ledger
    const request = { network, account, signed, transactions: [], moved, heights }
    const { taken } = await desk.exchange(request)
    const next = this.#sequenceAt(taken)
    // Where there was one less than expected, places may be left that nobody fills.
    if (taken < signed.length) this.forget()
    else this.#next = Math.max(this.#next ?? 0, next)
    this.#free = this.#free.slice(taken)
    return taken
  }

  /** What is on the ledger already, as a state that was restored does not know: it is gone on with. */
  async #found(
    ledger: Ledger,
    waiting: readonly WaitingAnchor[],
  ): Promise<ReadonlyMap<string, FoundTransaction>> {
    const upTo = this.#unsureUpTo ?? 0
    const unsure = waiting.filter((one) => one.isEarlier || one.number <= upTo)
    if (unsure.length === 0) return new Map()
    const found = await foundAnchors(ledger, unsure)
    if (found.size > 0) await this.#adopt(ledger, unsure, found)
    return found
  }

  async #adopt(
    ledger: Ledger,
    unsure: readonly WaitingAnchor[],
    found: ReadonlyMap<string, FoundTransaction>,
  ): Promise<void> {
    const { network, desk } = this.#needs
    const adopted = new Map<string, SignedAnchors>()
    const others: string[] = []
    for (const anchor of unsure) {
      const of = found.get(anchor.id)
      if (of === undefined) continue
      const firstLeaf = placeIn(of.deed, anchor)
      if (firstLeaf === undefined) {
        others.push(anchor.id)
        continue
      }
      const { deed, ...transaction } = of
      const { leaves } = deed.leaves.length > 0 ? deed : anchor
      const { anchors } = adopted.get(of.hash) ?? { anchors: [] }
      adopted.set(of.hash, {
        transaction,
        intentId: deed.intentId,
        anchors: [...anchors, { id: anchor.id, firstLeaf }],
        leaves: leaves.map(({ cid }) => cid),
      })
    }
    const moved = others.length > 0 ? [anchoredOtherwise(others)] : []
    const signed = [...adopted.values()]
    const { account, heights } = ledger
    await desk.exchange({ network, account, signed, transactions: [], moved, heights })
  }
}

/** The ledger says something else of an intent than we do: it is never done again. */
function anchoredOtherwise(anchorIds: readonly string[]): MovedAnchors {
  return {
    of: { anchorIds },
    from: ['waiting'],
    to: 'failed',
    statuses: ['FAILED'],
    facts: noFacts,
    failure: {
      error: 'anchored_otherwise',
      message: 'the ledger has another content for it, from before the state was restored',
    },
  }
}
