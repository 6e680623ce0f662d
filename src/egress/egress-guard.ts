import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { DomainError } from '../core/errors.ts'
import {
  type AllowedDestinations,
  type Destination,
  entryAllowing,
  entryText,
} from './allowed-destinations.ts'
import { isPublicAddress } from './private-addresses.ts'
import { notPublic } from './reserved-names.ts'

/** A name server that does not answer costs this much, and is asked twice. */
const answerMs = 2_000

/** All addresses of a name, of either family; none when there is no such name. */
export type Resolve = (name: string) => Promise<readonly string[]>

export interface EgressGuardNeeds {
  readonly allowed: AllowedDestinations
  /** Resolves names that may be anybody's. */
  readonly resolve?: Resolve
  /** Resolves names that the operator allows, as this machine understands them. */
  readonly resolveLocally?: Resolve
}

export interface ExaminedAddresses {
  /** Addresses that may be connected to. */
  readonly addresses: readonly string[]
  /** The others. */
  readonly refused: readonly string[]
  /** Why it may not be connected to, and what would allow it, as a sentence. */
  readonly problem: string | undefined
}

/**
 * Keeps connections that users ask for out of the network of the operator
 * (decisions.md#destinations-that-are-allowed). Whoever connects asks here first, and connects to
 * an address that this has answered: a name that leads elsewhere a moment later is not asked again.
 */
export class EgressGuard {
  readonly #needs: EgressGuardNeeds
  readonly #resolve: Resolve
  readonly #resolveLocally: Resolve

  constructor(needs: EgressGuardNeeds) {
    this.#needs = needs
    const { resolve = askNameServers, resolveLocally = askThisMachine } = needs
    this.#resolve = resolve
    this.#resolveLocally = resolveLocally
  }

  /**
   * The addresses of a destination that may be connected to; none when its name does not resolve.
   *
   * @throws DomainError `destination_not_allowed` when any of them is private, or the name is kept from public
   *   DNS, and the operator has not allowed it
   */
  async addressesOf(destination: Destination): Promise<readonly string[]> {
    const { addresses, problem } = await this.examine(destination)
    if (problem === undefined) return addresses
    const message = `${entryText(destination)} may not be connected to: ${problem}`
    const remedy = destinationRemedy(destination)
    throw new DomainError('destination_not_allowed', message, { remedy })
  }

  /** The addresses of a destination. A name that is kept from public DNS is not asked for. */
  async examine(destination: Destination): Promise<ExaminedAddresses> {
    const { host, port } = destination
    if (this.isNamed(destination)) {
      const addresses = isIP(host) === 0 ? await this.#resolveLocally(host) : [host]
      return { addresses, refused: [], problem: undefined }
    }
    const problem = this.problemOf(destination)
    if (problem !== undefined) {
      return { addresses: [], refused: isIP(host) === 0 ? [] : [host], problem }
    }
    const found = isIP(host) === 0 ? await this.#resolve(host) : [host]
    const isAllowed = (address: string) =>
      isPublicAddress(address) || this.#needs.allowed.has({ host: address, port })
    const { true: addresses = [], false: refused = [] } = Object.groupBy(found, (address) =>
      isAllowed(address) ? 'true' : 'false',
    )
    const isRefused = refused.length > 0
    return {
      addresses,
      refused,
      problem: isRefused ? withRemedy(isPrivate, destination) : undefined,
    }
  }

  /**
   * Why a destination may not be connected to, as far as it can be told without asking anybody: by its address, or
   * by a name that nobody has. Undefined when nothing speaks against it, or only what its name leads to.
   */
  problemOf(destination: Destination): string | undefined {
    const { host } = destination
    if (this.isNamed(destination)) return undefined
    const reason = isIP(host) === 0 || isPublicAddress(host) ? notPublic(host) : isPrivate
    return reason === undefined ? undefined : withRemedy(reason, destination)
  }

  /** Whether the operator has named this very destination, or its network: then every port is good. */
  isNamed(destination: Destination): boolean {
    return this.#needs.allowed.has(destination)
  }
}

const isPrivate = 'it leads to an address that is not on the public internet'

/** A reason, with what the operator can do about it: named as it was asked for, never by what it leads to. */
export function withRemedy(reason: string, destination: Destination): string {
  const entry = entryAllowing(destination)
  if (entry === undefined) return reason
  return `${reason}; the operator of the service can allow '${entry}' in STREAMVAULT_EGRESS_ALLOW`
}

/** What to do about a refusal; undefined where nothing is known but what its code says. */
export function destinationRemedy(destination: Destination): string | undefined {
  const entry = entryAllowing(destination)
  if (entry === undefined) return undefined
  return `Name a public address, or ask the operator to add ${entry} to STREAMVAULT_EGRESS_ALLOW and restart the service.`
}

/** Asks over the network only: a name server that hangs must not take the store's threads. */
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
