import type { Compilable } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { StateWriter } from '../../storage/state/database.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { LoginAttempt } from './authenticate.ts'

/** Pairs of key and address that are told apart between two writes; others are one sum. */
const pairsMax = 200

/** The keys that there are, as far as they are at hand. */
interface KnownKeys {
  findAny(id: string): { readonly id: string; readonly userId: UserId } | undefined
}

interface Failures {
  readonly apiKeyId: string | undefined
  readonly address: string | undefined
  count: number
}

/**
 * Failed logins, summed up: an attack of a million attempts is a few lines of the audit log.
 *
 * What was sent as the id of a key is written down only where there is such a key: it may be a
 * secret that was put into the wrong field.
 */
export class FailedLogins {
  readonly #keys: KnownKeys
  readonly #failures = new Map<string, Failures>()
  /** Since the start. */
  total = 0

  constructor(keys: KnownKeys) {
    this.#keys = keys
  }

  record({ address, apiKeyId }: LoginAttempt): void {
    this.total++
    const known = apiKeyId === undefined ? undefined : this.#keys.findAny(apiKeyId)?.id
    const pair = `${known ?? ''} ${address}`
    const failures = this.#failures.get(pair) ?? this.#add(pair, { apiKeyId: known, address })
    failures.count++
  }

  #add(pair: string, { apiKeyId, address }: Omit<Failures, 'count'>): Failures {
    if (this.#failures.size < pairsMax) {
      const added = { apiKeyId, address, count: 0 }
      this.#failures.set(pair, added)
      return added
    }
    const others = this.#failures.get('others') ?? {
      apiKeyId: undefined,
      address: undefined,
      count: 0,
    }
    this.#failures.set('others', others)
    return others
  }

  /**
   * Writes down what failed since the last time. To be called about once a minute. What cannot be
   * written is tried again the next time.
   */
  async flush(audit: AuditLog, writer: StateWriter): Promise<void> {
    if (this.#failures.size === 0) return
    const flushed = [...this.#failures]
    this.#failures.clear()
    try {
      await writer.commit(...flushed.map(([, failures]) => this.#entry(audit, failures)))
    } catch (error) {
      for (const [pair, failures] of flushed) {
        const since = this.#failures.get(pair) ?? this.#add(pair, failures)
        since.count += failures.count
      }
      throw error
    }
  }

  #entry(audit: AuditLog, { apiKeyId, address, count }: Failures): Compilable {
    return audit.entry({
      action: 'login.failed',
      subjectId: apiKeyId,
      userId: apiKeyId === undefined ? undefined : this.#keys.findAny(apiKeyId)?.userId,
      address,
      details: { count },
    })
  }
}
