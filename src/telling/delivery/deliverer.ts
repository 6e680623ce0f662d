import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { aheadUsOf } from '../../core/clock.ts'
import { race } from '../../core/race.ts'
import { attemptMsMax } from './attempt.ts'
import type { DelivererNeeds, DeliveryStats } from './deliverer-needs.ts'
import { givenUpAfterUs } from './delivery.ts'
import type { EndedAttempt } from './desk.ts'
import { endedAttempt, faultyAttempt } from './ended-attempt.ts'
import { FairShare } from './fair-share.ts'
import type { Lane, Leased } from './lane.ts'
import { Lanes, lanesMax } from './lanes.ts'

/** Deliveries that are taken for each attempt at a time, those being attempted included. */
const takenForEachAttempt = 4

/** A lease is long enough for one attempt to be waited for, and for one to be made. */
const leaseUs = 3 * attemptMsMax * 1_000

/** Time that has to be left for an attempt to be begun. */
const leaseLeftUsMin = (attemptMsMax + 5_000) * 1_000

/** How often deliveries that other processes have left behind are looked for. */
const lookEveryUs = 30_000_000

/** Wait after a failure of our own. */
const tryAgainMs = 1_000

/** What is under way may end when the service stops; the rest is made again after the next start. */
const stopPatienceMs = 2_000

/**
 * Takes deliveries that are due (in steady time), attempts them, and hands in what became of them. All that it takes and
 * hands in during one commit goes into the next one.
 */
export class Deliverer {
  readonly #needs: DelivererNeeds
  readonly #lease = randomUUID()
  readonly #lanes = new Lanes()
  readonly #underWay = new Map<Leased, AbortController>()
  readonly #attempts: FairShare
  readonly #taken: FairShare
  #ended: EndedAttempt[] = []
  #released: string[] = []
  #givenUp: string[] = []
  #delivered = 0
  #failed = 0
  #lookAtUs = 0
  #woken = Promise.withResolvers<void>()
  #isStopping = false
  #running: Promise<unknown> | undefined

  constructor(needs: DelivererNeeds) {
    this.#needs = needs
    this.#attempts = new FairShare(needs.attemptsMax, needs.attemptsOfUserMax)
    this.#taken = new FairShare(takenForEachAttempt * needs.attemptsMax)
  }

  start(): void {
    void this.#listen()
    this.#running = this.#run()
  }

  /** Looks at these receivers now, and at whatever the clock says. */
  wake(receiverIds: readonly string[] = []): void {
    this.#lanes.expectMore(receiverIds)
    this.#woken.resolve()
  }

  stats(): DeliveryStats {
    return {
      active: this.#underWay.size,
      taken: this.#taken.total,
      receivers: this.#lanes.size,
      delivered: this.#delivered,
      failed: this.#failed,
    }
  }

  /** Resolves when nothing is under way, and what has ended is written down. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.wake()
    await this.#running
    const patience = sleep(stopPatienceMs, undefined, { ref: false })
    while (this.#underWay.size > 0) {
      this.#woken = Promise.withResolvers()
      const isOver = await race([this.#woken.promise, patience.then(() => true)])
      if (isOver === true) break
    }
    for (const [{ id }, ending] of this.#underWay) {
      this.#released.push(id)
      ending.abort(new Error('the service stops'))
    }
    for (const lane of this.#lanes.all()) this.#release(lane.drain())
    await this.#exchange([])
  }

  async #listen(): Promise<void> {
    while (!this.#isStopping) {
      try {
        this.wake(await this.#needs.desk.dueReceivers())
      } catch {
        // The thread that tells of news has ended: so does the service.
        return
      }
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      this.#woken = Promise.withResolvers()
      try {
        await this.#turn()
        await this.#rest()
      } catch (error) {
        this.#needs.onFailure(error)
        await sleep(tryAgainMs)
      }
    }
  }

  /** Waits until something has ended or come, or is due. */
  async #rest(): Promise<void> {
    const dueAtUs = this.#lanes.nextDueUs(this.#lookAtUs)
    const restMs = (dueAtUs - this.#needs.clock.steadyUs()) / 1_000
    const timer = setTimeout(() => this.#woken.resolve(), Math.max(1, Math.ceil(restMs)))
    await this.#woken.promise
    clearTimeout(timer)
  }

  async #turn(): Promise<void> {
    const nowUs = this.#needs.clock.steadyUs()
    if (nowUs >= this.#lookAtUs) {
      this.#lookAtUs = nowUs + lookEveryUs
      this.#lanes.expectMore(await this.#needs.reader.receiversWithDue(nowUs, lanesMax))
    }
    const wanted: Leased[] = []
    try {
      for (const lane of this.#lanes.all()) {
        lane.tick(nowUs)
        this.#release(lane.give(nowUs + leaseLeftUsMin))
        if (lane.hasMore && this.#roomOf(lane) > 0) wanted.push(...(await this.#dueOf(lane, nowUs)))
      }
      await this.#exchange(wanted)
    } catch (error) {
      this.#giveBack(wanted)
      this.#lanes.expectMore(wanted.map(({ receiverId }) => receiverId))
      throw error
    }
    this.#beginAll()
    this.#lanes.dropIdle()
  }

  #roomOf({ room, ownerId = '' }: Lane): number {
    return Math.min(room, this.#taken.roomFor(ownerId))
  }

  /** What is due of a receiver, without what is given up; it counts as taken. */
  async #dueOf(lane: Lane, nowUs: number): Promise<readonly Leased[]> {
    const { reader, isReplaceable } = this.#needs
    lane.hasMore = false
    const room = this.#roomOf(lane)
    const read = await reader.due(lane.receiverId, nowUs, room)
    lane.ownerId = read[0]?.ownerId ?? lane.ownerId
    // Whose it is may be known only now, and what room there is for that user.
    const found = read.slice(0, this.#roomOf(lane))
    const due = found.filter(
      ({ eventType, resourceId }) => !isReplaceable(eventType) || !lane.holds(resourceId),
    )
    if (found.length < read.length || read.length === room || due.length < found.length) {
      lane.hasMore = true
    } else {
      const nextDueUs = await reader.nextDueUs(lane.receiverId, nowUs)
      if (nextDueUs !== undefined) lane.expect(nextDueUs)
    }
    const isTooOld = ({ lastAttemptAtUs = nowUs }) => lastAttemptAtUs < nowUs - givenUpAfterUs
    this.#givenUp.push(...due.filter(isTooOld).map(({ id }) => id))
    const leasedUntilUs = nowUs + leaseUs
    const wanted = due.filter((one) => !isTooOld(one)).map((one) => ({ ...one, leasedUntilUs }))
    this.#taken.add(lane.ownerId ?? '', wanted.length)
    return wanted
  }

  /** One commit: what is wanted, and what became of what was taken before. */
  async #exchange(wanted: readonly Leased[]): Promise<void> {
    const [ended, released, givenUp] = [this.#ended, this.#released, this.#givenUp]
    if (wanted.length + ended.length + released.length + givenUp.length === 0) return
    this.#ended = []
    this.#released = []
    this.#givenUp = []
    const nowUs = this.#needs.clock.steadyUs()
    try {
      const given = new Set(
        await this.#needs.desk.exchange({
          channel: this.#needs.reader.channel,
          lease: this.#lease,
          nowUs,
          aheadUs: aheadUsOf(this.#needs.clock),
          leasedUntilUs: wanted[0]?.leasedUntilUs ?? nowUs,
          wanted: wanted.map(({ id }) => id),
          ended,
          released,
          givenUp,
        }),
      )
      this.#giveBack(wanted.filter(({ id }) => !given.has(id)))
      for (const one of wanted) if (given.has(one.id)) this.#lanes.get(one.receiverId)?.add(one)
    } catch (error) {
      this.#ended.unshift(...ended)
      this.#released.unshift(...released)
      this.#givenUp.unshift(...givenUp)
      throw error
    }
  }

  #beginAll(): void {
    const served = this.#lanes
      .all()
      .filter((lane) => this.#begin(lane))
      .toArray()
    for (const lane of served) this.#lanes.served(lane)
  }

  /** Begins what a lane may begin. Resolves with whether there was something. */
  #begin(lane: Lane): boolean {
    const { ownerId } = lane
    if (ownerId === undefined) return false
    let hasBegun = false
    for (;;) {
      const mayBegin = !this.#isStopping && this.#attempts.roomFor(ownerId) > 0
      const delivery = mayBegin ? lane.next() : undefined
      if (delivery === undefined) return hasBegun
      hasBegun = true
      void this.#make(lane, delivery)
    }
  }

  async #make(lane: Lane, delivery: Leased): Promise<void> {
    const { clock, attempt, onFailure } = this.#needs
    const ending = new AbortController()
    this.#underWay.set(delivery, ending)
    this.#attempts.add(delivery.ownerId, 1)
    const attemptedAtUs = clock.nowUs()
    const begunUs = clock.steadyUs()
    const made = await attempt(delivery, ending).catch((error: unknown) => {
      onFailure(error)
      return faultyAttempt
    })
    this.#underWay.delete(delivery)
    this.#attempts.remove(delivery.ownerId, 1)
    this.#giveBack([delivery])
    lane.ended(delivery, made?.result.outcome !== 'retry')
    // An attempt that was broken off by our own end counts as none.
    if (this.#isStopping && ending.signal.aborted) return
    if (made === undefined) this.#givenUp.push(delivery.id)
    else {
      const endedUs = clock.steadyUs()
      const times = {
        attemptedAtUs,
        endedAtUs: clock.nowUs(),
        durationUs: endedUs - begunUs,
        endedUs,
      }
      this.#note(lane, endedAttempt(delivery, made, { ...this.#needs, ...times }))
    }
    this.#begin(lane)
    this.wake()
  }

  #release(deliveries: readonly Leased[]): void {
    this.#giveBack(deliveries)
    for (const { id } of deliveries) this.#released.push(id)
  }

  #note(lane: Lane, ended: EndedAttempt): void {
    if (ended.delivered) this.#delivered++
    else if (ended.state !== 'skipped') this.#failed++
    this.#ended.push(ended)
    if (ended.dueAtUs !== undefined) lane.expect(ended.dueAtUs)
  }

  #giveBack(deliveries: readonly Leased[]): void {
    for (const { ownerId } of deliveries) this.#taken.remove(ownerId, 1)
  }
}
