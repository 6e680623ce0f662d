import type { Clocks } from '../../core/clock.ts'
import type { MakeAttempt } from './attempt.ts'
import type { ConsequenceOf } from './delivery.ts'
import type { DeliveryDesk, DeliveryReader } from './desk.ts'

/** What an engine works with: one engine for each channel, so that none waits for another. */
export interface DelivererNeeds {
  readonly clock: Clocks
  readonly desk: DeliveryDesk
  readonly reader: DeliveryReader
  readonly attempt: MakeAttempt
  readonly consequenceOf: ConsequenceOf
  readonly resendEveryUs: number
  /** Attempts at a time, of all receivers together and of those of one user. */
  readonly attemptsMax: number
  readonly attemptsOfUserMax: number
  /** Types whose deliveries may be replaced by newer ones for as long as nobody has taken them. */
  readonly isReplaceable: (eventType: string) => boolean
  /** Called with a failure that nobody waits for. */
  readonly onFailure: (error: unknown) => void
}

/** What the engine has done since its start, and is doing. */
export interface DeliveryStats {
  readonly active: number
  readonly taken: number
  /** Receivers that something is due for, or will be. */
  readonly receivers: number
  readonly delivered: number
  readonly failed: number
}
