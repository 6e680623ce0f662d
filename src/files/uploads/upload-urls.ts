import type { Caller } from '../../access/auth/caller.ts'
import { grants, type Scope } from '../../access/auth/scopes.ts'
import { type Clock, monotonicMs } from '../../core/clock.ts'
import { LruMap } from '../../core/lru-map.ts'
import { type SignedPaths, signedUs } from '../signing/signed-paths.ts'
import type { FileStore } from '../store/file-store.ts'
import {
  type UploadId,
  type UploadPurpose,
  type UploadSubject,
  uploadIdOf,
} from '../store/upload-id.ts'

/** Addresses of an object store that are kept: signing one takes it a millisecond, and a page has hundreds. */
const keptMax = 10_000

/** How long none is asked for after a failure: credentials are looked for in many places, which takes seconds. */
const restMs = 30_000

/** What is left of the time of an address that is handed out once more. */
const leftMsMin = 5 * 60_000

/** What a key has to grant for what can be done with an address. */
const scopes: Readonly<Record<UploadPurpose, Scope>> = {
  attachment: 'attachments:write',
  'template-bundle': 'vaults:write',
  'template-image': 'vaults:write',
  'vault-image': 'vaults:write',
  'user-image': 'vaults:write',
}

export interface UploadUrlsNeeds {
  readonly store: Pick<FileStore, 'uploadUrl'>
  readonly signed: SignedPaths
  readonly clock: Clock
  /** Called when no address can be made. */
  readonly onFailure: (error: unknown) => void
}

/** Addresses that take the bytes of an upload by PUT, without any other credential. */
export class UploadUrls {
  readonly #needs: UploadUrlsNeeds
  readonly #kept = new LruMap<UploadId, { readonly url: string; readonly untilMs: number }>(keptMax)
  #lastMs = monotonicMs()
  #restUntilMs = 0

  constructor(needs: UploadUrlsNeeds) {
    this.#needs = needs
  }

  /** Whether an address that was handed out may still be good. Those of before the start may be. */
  get mayBeUsed(): boolean {
    return monotonicMs() < this.#lastMs + signedUs / 1_000
  }

  /** Empty for a caller who may not change what the file is for: an address is a permission to do that. */
  async urlFor(
    { scope }: Pick<Caller, 'scope'>,
    subject: UploadSubject,
    bytesMax: number,
  ): Promise<string> {
    if (!grants(scope, scopes[subject.purpose])) return ''
    this.#lastMs = monotonicMs()
    const id = uploadIdOf(subject)
    const { store, signed, clock } = this.#needs
    const kept = this.#kept.get(id)
    if (kept && kept.untilMs > this.#lastMs) return kept.url
    // One of a bucket would be good for its whole time, whatever becomes of the permission of whoever has it.
    const isOurs = !store.uploadUrl || subject.holderId !== undefined
    if (isOurs) return signed.urlOf({ method: 'PUT', path: pathOf(id), limit: bytesMax })
    const url = await this.#made(() => store.uploadUrl?.(id, (clock.nowUs() + signedUs) / 1_000))
    if (url === undefined) return ''
    this.#kept.set(id, { url, untilMs: this.#lastMs + signedUs / 1_000 - leftMsMin })
    return url
  }

  /** Undefined when it fails: what a resource shows beside its address can be shown without one. */
  async #made(make: () => Promise<string> | undefined): Promise<string | undefined> {
    if (monotonicMs() < this.#restUntilMs) return undefined
    try {
      return await make()
    } catch (error) {
      this.#restUntilMs = monotonicMs() + restMs
      this.#needs.onFailure(error)
      return undefined
    }
  }
}

/** The path of our own route. */
export function pathOf(id: UploadId): string {
  return `/uploads/${id}`
}
