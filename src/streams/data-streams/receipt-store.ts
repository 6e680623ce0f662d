import type { StreamId } from '../../core/ids.ts'
import {
  type IdempotencyNeeds,
  IdempotencyStore,
} from '../../requests/idempotency/idempotency-store.ts'
import { type KeyedRequest, receiptKind } from '../../requests/idempotency/keyed-request.ts'

/** A request with readings that may be repeated. */
export interface IdempotentRequest extends Omit<KeyedRequest, 'scope'> {
  /** The stream that it was about; `several` for a request with readings of any streams. */
  readonly streamId: StreamId | 'several'
}

export interface Receipt {
  readonly receivedAtUs: number
  /** Whether the request came before. */
  readonly isRepeated: boolean
}

/**
 * Remembers the time of receipt of readings with an Idempotency-Key, so that a repetition gets the
 * same one: readings without times of their own then keep their identity
 * (decisions.md#times-of-readings).
 */
export class ReceiptStore {
  readonly #store: IdempotencyStore<'idempotency_keys'>

  constructor(needs: IdempotencyNeeds) {
    this.#store = new IdempotencyStore(needs, receiptKind)
  }

  /**
   * The time of receipt of the first such request: this one if there was none. Durable before it
   * returns.
   *
   * @param steadyUs now, in steady time: how long the key is remembered counts from there
   * @throws DomainError `idempotency_conflict` when the key was used with another body, or
   *   `rate_limited` when too many keys of the user are remembered
   */
  async receiptOf(
    { streamId, ...request }: IdempotentRequest,
    nowUs: number,
    steadyUs: number,
  ): Promise<Receipt> {
    const asked = { ...request, scope: streamId }
    const { kept, isRepeated } = await this.#store.first(asked, { received_at: nowUs }, steadyUs)
    return { receivedAtUs: kept.received_at, isRepeated }
  }

  /** Removes a portion of what has expired. Resolves with whether there is more. */
  async purge(steadyUs: number): Promise<boolean> {
    return await this.#store.purge(steadyUs)
  }
}
