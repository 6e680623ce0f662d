import type { DeliveryChannel, DeliveryState, DueDelivery, Phase } from './delivery.ts'

/** An attempt as it is written down, with what follows from it. */
export interface EndedAttempt {
  readonly deliveryId: string
  readonly receiverId: string
  readonly ownerId: string
  readonly eventId: string
  readonly eventType: string
  /** Time of the attempt by the wall clock. */
  readonly attemptedAtUs: number
  readonly endedAtUs: number
  readonly nextAttemptAtUs: number | undefined
  readonly durationUs: number
  /** When it ended, in steady time. */
  readonly endedUs: number
  readonly statusCode: number | undefined
  readonly delivered: boolean
  readonly message: string
  /** JSON object. */
  readonly requestHeaders: string
  readonly responseExcerpt: string
  readonly state: DeliveryState
  readonly phase: Phase
  /** Time of the next attempt, in steady time. */
  readonly dueAtUs: number | undefined
  readonly failures: 'same' | 'reset' | 'add'
}

/** What the engine wants to be written in one transaction. */
export interface DeskRequest {
  /** Channel of all deliveries that the request is about. */
  readonly channel: DeliveryChannel
  /** Who asks: deliveries are leased under this name. */
  readonly lease: string
  /** Present, in steady time, as the end of the lease is. */
  readonly nowUs: number
  /** How far the wall clock is ahead of it. */
  readonly aheadUs: number
  readonly leasedUntilUs: number
  readonly ended: readonly EndedAttempt[]
  /** Deliveries to be taken. */
  readonly wanted: readonly string[]
  /** Deliveries that were taken and not begun, and are to be taken by whoever comes. */
  readonly released: readonly string[]
  /** Deliveries that are too old to be attempted again. */
  readonly givenUp: readonly string[]
}

/**
 * Where the state is written: the engine's way to take deliveries and to hand in what became of them.
 * What another process has taken first, or somebody has cancelled, is not given.
 */
export interface DeliveryDesk {
  /** Resolves with the ids of the wanted deliveries that were given. */
  exchange(request: DeskRequest): Promise<readonly string[]>
  /** Resolves with receivers that something new is due for, once there are some. */
  dueReceivers(): Promise<readonly string[]>
}

/** What the engine reads, through a connection of its own. All times are steady ones. */
export interface DeliveryReader {
  /** Channel of its receivers and their deliveries. */
  readonly channel: DeliveryChannel
  /** Deliveries of a receiver that are due, the one that was due first in front. */
  due(receiverId: string, nowUs: number, limit: number): Promise<readonly DueDelivery[]>
  /** When the next delivery of a receiver is due that is not due yet. */
  nextDueUs(receiverId: string, nowUs: number): Promise<number | undefined>
  /** Receivers with deliveries that are due up to then, those that have waited longest. */
  receiversWithDue(untilUs: number, limit: number): Promise<readonly string[]>
}
