import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import * as s from '../../requests/http/schema.ts'

/** How long an address is good (decisions.md#uploads). */
export const signedUs = 15 * 60 * 1_000_000

export interface SignedPathsNeeds {
  /** A digest that nobody else can make. */
  readonly digests: { digest(text: string): string }
  readonly clock: Clock
  /** Base of the addresses that we hand out. */
  readonly publicUrl: string
}

/** What an address lets its bearer do, whoever that is. */
export interface SignedRequest {
  readonly method: 'GET' | 'PUT'
  readonly path: string
  /** Largest body in bytes; 0 where there is none. */
  readonly limit: number
}

/** Parameters of an address, as they came. */
export interface SignedQuery {
  readonly expires?: string
  readonly limit?: string
  readonly signature?: string
}

const expiresParameter = { ...s.text, description: 'Seconds since the Unix epoch.' }
const signatureParameter = { ...s.text, description: 'Of method, path, time and limit.' }

/** The parameters of an address that something is loaded from, and of one that takes a file. */
export const signedQuery = s.query({
  expires: expiresParameter,
  signature: signatureParameter,
})
export const signedUploadQuery = s.query({
  expires: expiresParameter,
  limit: { ...s.text, description: 'Bytes.' },
  signature: signatureParameter,
})

/** Addresses that are credentials by themselves: one method, one path, until a time, up to a size. */
export class SignedPaths {
  readonly #needs: SignedPathsNeeds

  constructor(needs: SignedPathsNeeds) {
    this.#needs = needs
  }

  urlOf(request: SignedRequest): string {
    const { clock, publicUrl } = this.#needs
    const expires = String(Math.floor((clock.nowUs() + signedUs) / 1_000_000))
    const limit = request.limit === 0 ? '' : `&limit=${request.limit}`
    const signature = this.#signature(request, expires)
    return `${publicUrl}${request.path}?expires=${expires}${limit}&signature=${signature}`
  }

  /** Why an address is not good, as a phrase; undefined for one that is. */
  refusalOf(request: Omit<SignedRequest, 'limit'>, query: SignedQuery): string | undefined {
    const { expires = '', limit = '0', signature = '' } = query
    if (!/^\d{1,12}$/.test(expires) || !/^\d{1,15}$/.test(limit)) return 'is not complete'
    const signed = { ...request, limit: Number(limit) }
    if (!isEqual(signature, this.#signature(signed, expires))) return 'was changed'
    return Number(expires) * 1_000_000 > this.#needs.clock.nowUs() ? undefined : 'has expired'
  }

  #signature({ method, path, limit }: SignedRequest, expires: string): string {
    // The first word keeps it from being the digest of anything else.
    return this.#needs.digests.digest(`address\n${method}\n${path}\n${expires}\n${limit}`)
  }
}

/** Takes as long wherever they differ. */
function isEqual(given: string, own: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(own)]
  return a.length === b.length && timingSafeEqual(a, b)
}
