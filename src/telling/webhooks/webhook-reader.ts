import type { StateDatabase } from '../../storage/state/database.ts'
import type { Webhook } from './webhook.ts'
import { type Cipher, webhookOf } from './webhook-rows.ts'

/** Webhooks for who delivers to them, whoever owns them. */
export class WebhookReader {
  readonly #state: StateDatabase
  readonly #cipher: Cipher

  constructor(state: StateDatabase, cipher: Cipher) {
    this.#state = state
    this.#cipher = cipher
  }

  async find(id: string): Promise<Webhook | undefined> {
    const row = await this.#state
      .selectFrom('webhooks')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && webhookOf(row, this.#cipher)
  }
}
