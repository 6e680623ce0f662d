import type { UserId } from '../../core/ids.ts'

/** Who asks, once that is certain. */
export interface Caller {
  readonly userId: UserId
  readonly apiKeyId: string
  /** Space-separated permissions that the caller has now. */
  readonly scope: string
}
