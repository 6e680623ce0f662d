import { randomBytes } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { LimitedKey } from './limited-key.ts'
import { loadByCertificate, loadLimitedKey, type StoredKey } from './limited-key-rows.ts'
import type { MasterKey } from './master-key.ts'

/** Keys at hand, about 1 KiB each: as many as there can be connections over MQTT, twice. */
const cachedMax = 20_000

export interface LimitedKeysNeeds {
  readonly state: StateDatabase
  readonly masterKey: MasterKey
  readonly clock: Clock
}

/**
 * The keys of devices, and those that devices register with: too many to have all of them in memory.
 *
 * Who asks with such a key is known in two steps. `lookUp` brings the key in, and waits for the state
 * only when there is something to wait for; the check itself waits for nothing, so that whoever was
 * let in can be written down in the same turn, and a key that ends right after finds it there.
 *
 * What is at hand is never outdated: whoever commits a change of a key calls `forget` before it
 * answers, and what was being read meanwhile is read again.
 */
export class LimitedKeys {
  readonly #needs: LimitedKeysNeeds
  #entries = new LruMap<string, StoredKey>(cachedMax)
  readonly #idOfCertificate = new LruMap<string, string>(cachedMax)
  readonly #endListeners: ((keyId: string) => void)[] = []
  readonly #userListeners: ((userId: UserId) => void)[] = []
  readonly #nobodysDigest: string
  /** Grows with each change: what was read before it may be outdated. */
  #changes = 0

  constructor(needs: LimitedKeysNeeds) {
    this.#needs = needs
    this.#nobodysDigest = needs.masterKey.digest(randomBytes(32).toString('hex'))
  }

  /** Keys at hand. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * Brings a key in. Undefined when it is at hand and the secret is its own: every refusal takes
   * the same look-up, so that a known key is not told apart from none by the time
   * (decisions.md#devices).
   */
  lookUp(id: string, secret: string): Promise<void> | undefined {
    const stored = this.#entries.get(id)
    // Compared with something in any case, as that takes time, too.
    const matches = this.#matches(stored, secret)
    return stored !== undefined && matches ? undefined : this.#load(id)
  }

  /** Brings in a key whose secret was checked before. Undefined when it is at hand. */
  lookUpId(id: string): Promise<void> | undefined {
    return this.#entries.get(id) === undefined ? this.#load(id) : undefined
  }

  /** Brings in the device that certificates of this common name stand for. */
  async lookUpCertificate(name: string): Promise<void> {
    const known = this.findAny(this.#idOfCertificate.get(name) ?? '')
    if (known?.kind === 'device' && known.certificateName === name) return
    await this.#read(() => loadByCertificate(this.#needs, name))
  }

  /** The key, if it is at hand and has not expired. */
  find(id: string): LimitedKey | undefined {
    const stored = this.#entries.get(id)
    return stored && this.#isCurrent(stored.key) ? stored.key : undefined
  }

  /** The device of a common name, if it is at hand and has not expired. */
  findByCertificate(name: string): LimitedKey | undefined {
    const id = this.#idOfCertificate.get(name)
    const key = id === undefined ? undefined : this.find(id)
    return key?.kind === 'device' && key.certificateName === name ? key : undefined
  }

  /** The key, if it is at hand, even when it has expired. */
  findAny(id: string): LimitedKey | undefined {
    return this.#entries.get(id)?.key
  }

  /**
   * The key when it is at hand and the secret is its own. All refusals take the same work
   * (decisions.md#devices).
   */
  verify(id: string, secret: string): LimitedKey | undefined {
    const stored = this.#entries.get(id)
    const matches = this.#matches(stored, secret)
    return stored && matches && this.#isCurrent(stored.key) ? stored.key : undefined
  }

  /** Whether whoever proved to have this key would do so again: nothing about it can have ended. */
  isUnchanged(key: LimitedKey): boolean {
    const stored = this.#entries.get(key.id)
    // While it has two secrets, one of them can end without a change.
    return stored?.key === key && stored.previousDigest === undefined && this.#isCurrent(key)
  }

  /** To be called once the secret of a key was changed, and before anybody is told so. */
  forget(id: string): void {
    this.#changes++
    const key = this.findAny(id)
    if (key?.kind === 'device' && key.certificateName !== undefined) {
      this.#idOfCertificate.delete(key.certificateName)
    }
    this.#entries.delete(id)
  }

  /** Forgets a key that has ended, or can do something else now: its sessions end. */
  end(id: string): void {
    this.forget(id)
    for (const listener of this.#endListeners) listener(id)
  }

  /** Forgets all keys, because those of a user have ended: the sessions of the user end. */
  endUser(userId: UserId): void {
    this.#changes++
    this.#entries = new LruMap(cachedMax)
    this.#idOfCertificate.clear()
    for (const listener of this.#userListeners) listener(userId)
  }

  /** The listener is told of each key whose rights have changed or ended. */
  onEnd(listener: (keyId: string) => void): void {
    this.#endListeners.push(listener)
  }

  /** The listener is told of each user whose keys have all ended. */
  onUserEnd(listener: (userId: UserId) => void): void {
    this.#userListeners.push(listener)
  }

  async #load(id: string): Promise<void> {
    await this.#read(() => loadLimitedKey(this.#needs, id))
  }

  async #read(load: () => Promise<StoredKey | undefined>): Promise<void> {
    for (;;) {
      const before = this.#changes
      const stored = await load()
      if (before !== this.#changes) continue
      if (stored) this.#put(stored)
      return
    }
  }

  #put(stored: StoredKey): void {
    const { key } = stored
    // Callers who were let in by the one that is at hand are known by that object.
    if (this.#entries.get(key.id) === undefined) this.#entries.set(key.id, stored)
    if (key.kind === 'device' && key.certificateName !== undefined) {
      this.#idOfCertificate.set(key.certificateName, key.id)
    }
  }

  #matches(stored: StoredKey | undefined, secret: string): boolean {
    const { masterKey, clock } = this.#needs
    const isGood = stored?.previousDigest !== undefined && stored.previousUntilUs > clock.nowUs()
    const previous = isGood ? stored.previousDigest : this.#nobodysDigest
    return masterKey.matches(secret, stored?.digest ?? this.#nobodysDigest, previous)
  }

  #isCurrent({ expiresAtUs }: LimitedKey): boolean {
    return expiresAtUs === undefined || expiresAtUs > this.#needs.clock.nowUs()
  }
}
