import type { MerklePath } from '../../ledgers/merkle/merkle.ts'
import { type LeafPath, LeafPaths } from '../seals/leaf-paths.ts'
import type { Seal, SealProgress, SealRecord, SealStore } from '../seals/seal-store.ts'
import type { SealedStore } from '../seals/stretch-leaves.ts'

/** Revisions that are looked through for a path: each reads 1,024 readings again. */
const revisionsMax = 4

export interface SealNeeds {
  readonly seals: Pick<SealStore, 'covering' | 'progressOf' | 'waiting'>
  readonly store: SealedStore
}

/** A seal of the stretch that a reading is in, with the path to its root. */
export interface ReadingSeal {
  readonly seal: Seal
  readonly progress: SealProgress
  readonly path: MerklePath | undefined
  /** Why there is no path. */
  readonly problem: { readonly error: string; readonly message: string } | undefined
}

/** A reading, with the text that seals have the hash of. */
interface SealedReading {
  readonly timestampUs: number
  readonly text: string
  /** Without it, there is no path: its neighbours are all that could show it. */
  readonly isStored: boolean
}

/** Seals of one time, which are read once for all readings of it. */
export class SealsOfTime {
  readonly #needs: SealNeeds
  readonly #records: readonly SealRecord[]
  /** For those that a path may lead to, the newest first. */
  readonly #paths: readonly LeafPaths[]
  /** How many readings had each text. */
  readonly #texts = new Map<string, number>()
  /** How far seals have come, by their ids: made once for all readings. */
  readonly #progress = new Map<number, Promise<SealProgress>>()
  /** Whether a stretch with the time in it is to be sealed again. */
  readonly isWaiting: boolean

  static async read(needs: SealNeeds, streamId: string, timestampUs: number): Promise<SealsOfTime> {
    const records = await needs.seals.covering(streamId, timestampUs)
    const waiting = await needs.seals.waiting(streamId, {
      startUs: timestampUs,
      endUs: timestampUs + 1,
    })
    return new SealsOfTime(needs, records, waiting.length > 0)
  }

  private constructor(needs: SealNeeds, records: readonly SealRecord[], isWaiting: boolean) {
    this.#needs = needs
    this.#records = records
    this.#paths = records.slice(0, revisionsMax).map((one) => new LeafPaths(needs.store, one))
    this.isWaiting = isWaiting
  }

  /** The newest seal that a path leads to; without one, the newest. */
  async of({ timestampUs, text, isStored }: SealedReading): Promise<ReadingSeal | undefined> {
    const [newest] = this.#records
    if (!newest) return undefined
    if (!isStored) return await this.#shown(newest, undefined, problems.not_stored)
    const nth = this.#texts.get(text) ?? 0
    this.#texts.set(text, nth + 1)
    let first: LeafPath | undefined
    for (const [at, paths] of this.#paths.entries()) {
      const found = await paths.path({ timestampUs, text }, nth)
      const record = this.#records[at] ?? newest
      if ('path' in found) return await this.#shown(record, found.path, undefined)
      first ??= found
    }
    const problem = first && 'problem' in first ? first.problem : 'neighbours_gone'
    const isNew = problem === 'neighbours_gone' && this.isWaiting
    return await this.#shown(newest, undefined, problems[isNew ? 'not_sealed_yet' : problem])
  }

  async #shown(
    seal: Seal,
    path: MerklePath | undefined,
    problem: ReadingSeal['problem'],
  ): Promise<ReadingSeal> {
    const known = this.#progress.get(seal.sealId) ?? this.#progressOf(seal)
    this.#progress.set(seal.sealId, known)
    return { seal, progress: await known, path, problem }
  }

  async #progressOf(seal: Seal): Promise<SealProgress> {
    const [progress] = await this.#needs.seals.progressOf([seal])
    if (!progress) throw new Error(`nothing is known of the seal ${seal.sealId}`)
    return progress
  }
}

const problems = {
  neighbours_gone: {
    error: 'neighbours_gone',
    message:
      'Readings that were sealed with this one are not stored any more, or others were stored between them: a path cannot be made.',
  },
  too_many_at_once: {
    error: 'too_many_at_once',
    message: 'Too many readings have the same time: a path cannot be made.',
  },
  not_sealed_yet: {
    error: 'not_sealed_yet',
    message:
      'The stretch waits to be sealed again, because readings came in after this seal: ask again after the next revision.',
  },
  not_stored: {
    error: 'not_stored',
    message: 'The reading is not stored any more: a path cannot be made.',
  },
} as const
