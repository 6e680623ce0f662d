import type { Compilable } from 'kysely'
import type { SecretDigests } from '../../core/idempotency-key.ts'
import type { UserId } from '../../core/ids.ts'
import { type IdempotencyNeeds, IdempotencyStore } from './idempotency-store.ts'
import { answerKind, type KeyedRequest } from './keyed-request.ts'

export interface Answer {
  readonly statusCode: number
  readonly body: object
}

/** Encryption at rest: an answer may hold a secret that is shown once, and a key be as good as it. */
export interface Cipher extends SecretDigests {
  encrypt(text: string): Uint8Array
  decrypt(bytes: Uint8Array): string
}

export interface AnswerStoreNeeds extends Pick<IdempotencyNeeds, 'state' | 'writer'> {
  readonly cipher: Cipher
}

/** Remembers what requests with an Idempotency-Key were answered. */
export class AnswerStore {
  readonly #needs: AnswerStoreNeeds
  readonly #store: IdempotencyStore<'idempotent_answers'>

  constructor(needs: AnswerStoreNeeds) {
    this.#needs = needs
    this.#store = new IdempotencyStore({ ...needs, digests: needs.cipher }, answerKind)
  }

  /** @throws DomainError `idempotency_conflict` when the request came with another body */
  async find(request: KeyedRequest, steadyUs: number): Promise<Answer | undefined> {
    const row = await this.#store.find(request, steadyUs)
    if (!row) return undefined
    const body = JSON.parse(this.#needs.cipher.decrypt(row.body_encrypted)) as object
    return { statusCode: row.status_code, body }
  }

  /** What goes into the commit of the request: it changes nothing when the key is taken. */
  remember(
    request: KeyedRequest,
    { statusCode, body }: Answer,
    steadyUs: number,
  ): readonly Compilable[] {
    const bodyEncrypted = this.#needs.cipher.encrypt(JSON.stringify(body))
    const kept = { status_code: statusCode, body_encrypted: bodyEncrypted }
    return this.#store.remember(request, kept, steadyUs)
  }

  /** @throws DomainError `rate_limited` when the user has too many */
  async assertRoom(userId: UserId): Promise<void> {
    await this.#store.assertRoom(userId)
  }

  /** Removes a portion of what has expired. Resolves with whether there is more. */
  async purge(steadyUs: number): Promise<boolean> {
    return await this.#store.purge(steadyUs)
  }
}
