import type { DueDelivery } from './delivery.ts'

/**
 * Attempts of one receiver at a time (decisions.md#attempts-and-passes). It begins with few, and
 * each answer allows one more; after an attempt without a good answer it is one, so that those that
 * hang cannot use up what is there for all.
 */
const attemptsAtFirst = 4
const attemptsOfReceiverMax = 16

/**
 * Deliveries that are taken for each attempt at a time: they wait in memory, without their bodies.
 */
const takenForEach = 8

/** A delivery that is ours until then. */
export interface Leased extends DueDelivery {
  readonly leasedUntilUs: number
}

/**
 * The deliveries of one receiver that are taken. Those of one resource are attempted one after the
 * other, in the order of their events.
 */
export class Lane {
  readonly receiverId: string
  /** User whose receiver it is, once a delivery was found. */
  ownerId: string | undefined
  /** Whether the state may have more that is due. */
  hasMore = true
  /** When something is due that is not yet. */
  nextDueUs: number | undefined
  #waiting: Leased[] = []
  #active = 0
  #allowed = attemptsAtFirst
  readonly #busyResources = new Set<string>()

  constructor(receiverId: string) {
    this.receiverId = receiverId
  }

  /** How many deliveries may be taken. */
  get room(): number {
    const max = this.#allowed === 1 ? 1 : this.#allowed * takenForEach
    return Math.max(0, max - this.#waiting.length - this.#active)
  }

  get isIdle(): boolean {
    const isEmpty = this.#waiting.length === 0 && this.#active === 0
    return isEmpty && !this.hasMore && this.nextDueUs === undefined
  }

  /** Has the state looked at when what was waited for is due. */
  tick(nowUs: number): void {
    if (this.nextDueUs === undefined || this.nextDueUs > nowUs) return
    this.nextDueUs = undefined
    this.hasMore = true
  }

  expect(dueAtUs: number): void {
    this.nextDueUs = Math.min(this.nextDueUs ?? dueAtUs, dueAtUs)
  }

  /** Whether a delivery of this resource is under way, or will be. */
  holds(resourceId: string): boolean {
    const isWaiting = this.#waiting.some((one) => one.resourceId === resourceId)
    return isWaiting || this.#busyResources.has(resourceId)
  }

  add(delivery: Leased): void {
    this.#waiting.push(delivery)
  }

  /** The next delivery to attempt, which is then under way; undefined when none may be. */
  next(): Leased | undefined {
    if (this.#active >= this.#allowed) return undefined
    const index = this.#waiting.findIndex(({ resourceId }) => !this.#busyResources.has(resourceId))
    const [delivery] = index < 0 ? [] : this.#waiting.splice(index, 1)
    if (delivery === undefined) return undefined
    this.#active++
    this.#busyResources.add(delivery.resourceId)
    return delivery
  }

  ended({ resourceId }: Leased, hasAnswered: boolean): void {
    this.#active--
    this.#busyResources.delete(resourceId)
    this.#allowed = hasAnswered ? Math.min(attemptsOfReceiverMax, this.#allowed + 1) : 1
  }

  /** Takes out what waits and is ours only until then; after a failure everything. */
  give(leasedUntilUs: number): readonly Leased[] {
    const isGiven = (one: Leased) => this.#allowed === 1 || one.leasedUntilUs < leasedUntilUs
    const given = this.#waiting.filter(isGiven)
    if (given.length === 0) return given
    this.#waiting = this.#waiting.filter((one) => !isGiven(one))
    this.hasMore = true
    return given
  }

  drain(): readonly Leased[] {
    return this.give(Number.POSITIVE_INFINITY)
  }
}
