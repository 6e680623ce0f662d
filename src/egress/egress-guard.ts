import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { DomainError } from '../core/errors.ts'
import type { AllowedDestinations, Destination } from './allowed-destinations.ts'
import { isPublicAddress } from './private-addresses.ts'

/** A name server that does not answer costs this much, and is asked twice. */
const answerMs = 2_000

/** All addresses of a name, of either family; none when there is no such name. */
export type Resolve = (name: string) => Promise<readonly string[]>

export interface EgressGuardNeeds {
  readonly allowed: AllowedDestinations
  /** Of names that may be anybody's. */
  readonly resolve?: Resolve
  /** Of names that the operator allows, as this machine understands them. */
  readonly resolveLocally?: Resolve
}

export interface ExaminedAddresses {
  readonly addresses: readonly string[]
  readonly refused: readonly string[]
}

/**
 * Keeps connections that users ask for out of the network of the operator (D42). Whoever connects
 * asks here first, and connects to an address that this has answered: a name that leads elsewhere a
 * moment later is not asked again.
 */
export class EgressGuard {
  readonly #allowed: AllowedDestinations
  readonly #resolve: Resolve
  readonly #resolveLocally: Resolve

  constructor({ allowed, resolve, resolveLocally }: EgressGuardNeeds) {
    this.#allowed = allowed
    this.#resolve = resolve ?? askNameServers
    this.#resolveLocally = resolveLocally ?? askThisMachine
  }

  /**
   * The addresses of a destination that may be connected to; none when its name does not resolve.
   *
   * @throws DomainError `destination_not_allowed` when any of them is private and not allowed
   */
  async addressesOf(destination: Destination): Promise<readonly string[]> {
    const { addresses, refused } = await this.examine(destination)
    if (refused.length > 0) {
      const { host, port } = destination
      throw new DomainError('destination_not_allowed', `${host}:${port} may not be connected to`)
    }
    return addresses
  }

  /** The addresses of a destination: those that may be connected to, and the others. */
  async examine(destination: Destination): Promise<ExaminedAddresses> {
    const { host, port } = destination
    if (this.isNamed(destination)) {
      const addresses = isIP(host) === 0 ? await this.#resolveLocally(host) : [host]
      return { addresses, refused: [] }
    }
    const found = isIP(host) === 0 ? await this.#resolve(host) : [host]
    const isAllowed = (address: string) =>
      isPublicAddress(address) || this.#allowed.has({ host: address, port })
    const { true: addresses = [], false: refused = [] } = Object.groupBy(found, (address) =>
      isAllowed(address) ? 'true' : 'false',
    )
    return { addresses, refused }
  }

  /** Whether the operator has named this very destination: then every port is good. */
  isNamed(destination: Destination): boolean {
    return this.#allowed.has(destination)
  }
}

/** Asked over the network only: a name server that hangs must not take the store's threads. */
async function askNameServers(name: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: answerMs, tries: 2 })
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
}

async function askThisMachine(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address)
  } catch {
    return []
  }
}
