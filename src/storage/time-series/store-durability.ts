import type { Offset } from '../journal/journal.ts'
import type { Removal, Shipment } from './shipment.ts'

/** A part of the journal that a store has had, and gets again. */
export interface Repetition {
  readonly from: Offset
  /** It ends here at the latest. */
  readonly until: Offset
}

/**
 * What a store has whose server says that it has readings before they are on its disk: what it
 * could lose is kept in the journal, and sent again in the same order when it may have been lost.
 * Counts and position stay as they are meanwhile, and nothing else is stored.
 */
export interface StoreDurability {
  /** The first entry of the journal that is still needed. */
  keptFrom(): Offset

  /** Bytes that the journal keeps for that reason, about. */
  heldBytes(): number

  /**
   * The problem that keeps readings from being stored and that nobody but an operator can solve.
   */
  problem(): string | undefined

  /** Where the next repetition begins, as far as it is known without asking. */
  repeatsFrom(): Offset | undefined

  /**
   * Asks the server what has to be sent again before anything else; undefined when nothing has to be.
   *
   * @throws Error when the server is away, or has lost what the journal does not have any more
   */
  nextRepetition(): Promise<Repetition | undefined>

  /** Sends a part of a repetition again, from its start on: what became rows then, and no more. */
  repeat(shipment: Shipment): Promise<void>

  /** Repeats a removal that stands alone in its repetition. */
  repeatRemoval(removal: Removal): Promise<void>

  /** Resolves when something has to be sent again. One may wait at a time. */
  repetitionWanted(): Promise<void>
}
