import type { StreamId, UserId } from '../../core/ids.ts'
import type { StreamPace } from './activity.ts'

interface AskedWorker {
  pacesOf(streamIds: readonly StreamId[]): Promise<ReadonlyMap<StreamId, StreamPace>>
  busiest(wish: {
    readonly ownerId: UserId
    readonly limit: number
  }): Promise<ReadonlyMap<StreamId, number>>
}

/** How much comes of streams, for threads other than the one that counts. */
export class AskedActivity {
  readonly #worker: AskedWorker

  constructor(worker: AskedWorker) {
    this.#worker = worker
  }

  /** How much comes of each of some streams. */
  async of(streamIds: readonly StreamId[]): Promise<ReadonlyMap<StreamId, StreamPace>> {
    return await this.#worker.pacesOf(streamIds)
  }

  /** Readings per second of the streams of an owner that most is received of: those of which nothing is are left out. */
  async busiest(ownerId: UserId, limit: number): Promise<ReadonlyMap<StreamId, number>> {
    return await this.#worker.busiest({ ownerId, limit })
  }
}
