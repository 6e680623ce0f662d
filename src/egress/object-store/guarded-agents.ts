import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import {
  type AllowedDestination,
  AllowedDestinations,
  type Destination,
} from '../allowed-destinations.ts'
import { EgressGuard } from '../egress-guard.ts'
import type { S3Address } from './s3-address.ts'

export interface Agents {
  readonly httpAgent: HttpAgent
  readonly httpsAgent: HttpsAgent
}

/**
 * Connections to what the guard has checked only: Node asks `lookup` for names alone, so an address
 * is looked at here.
 *
 * @throws DomainError `destination_not_allowed`
 */
export async function guardedAgents(
  { endpoint }: S3Address,
  egressAllowed: readonly AllowedDestination[],
): Promise<Agents> {
  const guard = new EgressGuard({ allowed: new AllowedDestinations(egressAllowed) })
  const port = endpoint === undefined ? 443 : portOf(new URL(endpoint))
  const lookup: LookupFunction = (host, _options, answer) => {
    void addressesFor(guard, { host, port }, answer)
  }
  if (endpoint !== undefined) await guard.addressesOf(destinationOf(new URL(endpoint)))
  const options = { lookup, keepAlive: true }
  return { httpAgent: new HttpAgent(options), httpsAgent: new HttpsAgent(options) }
}

async function addressesFor(
  guard: EgressGuard,
  destination: Destination,
  answer: Parameters<LookupFunction>[2],
): Promise<void> {
  try {
    const addresses = await guard.addressesOf(destination)
    const problem = addresses.length > 0 ? null : new Error(`${destination.host} does not resolve`)
    answer(
      problem,
      addresses.map((address) => ({ address, family: isIP(address) })),
    )
  } catch (error) {
    answer(error as Error, [])
  }
}

function destinationOf(url: URL): Destination {
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: portOf(url) }
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}
