import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { newId, type UserId } from '../../src/core/ids.ts'
import { formatUs } from '../../src/core/time.ts'
import type { ExportJob, ExportRequest } from '../../src/reading/exports/export-job.ts'
import { ExportStore } from '../../src/reading/exports/export-store.ts'
import { BackgroundJobs, type JobRun } from '../../src/reading/jobs/background-jobs.ts'
import type { JobState } from '../../src/reading/jobs/job.ts'
import { jobBody } from '../../src/reading/jobs/job-api.ts'
import { JobQueue, type QueuedJob } from '../../src/reading/jobs/job-queue.ts'
import { dayUs, movesOf } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { TestState } from '../support/test-state.ts'

const request: ExportRequest = {
  streamIds: [],
  start: '2026-01-01T00:00:00.000000Z',
  end: '2026-02-01T00:00:00.000000Z',
  format: 'csv',
  aggregation: 'raw',
  tz: 'UTC',
}

type Outcome = 'completed' | 'failed' | 'running'

/** Jobs of as many users, each with the outcome that a test wants; those that run do so until they are told to end. */
class ManyJobs implements AsyncDisposable {
  readonly clock = new HandClock()
  /** The owner of each job that was made. */
  readonly owners = new Map<string, UserId>()
  readonly #tests: TestState
  readonly #store: ExportStore
  readonly #folder = new TemporaryFolder()
  readonly #outcomes = new Map<string, Outcome>()
  #jobs: BackgroundJobs<ExportJob>

  constructor(tests: TestState) {
    this.#tests = tests
    this.#store = new ExportStore(tests.state, tests)
    this.#jobs = this.#process()
  }

  async make(outcome: Outcome): Promise<void> {
    const ownerId = await this.#tests.newUser()
    const maker = { ownerId, apiKeyId: 'sv_test_a' }
    const { job, changes } = this.#store.plan(maker, request, this.clock.nowUs())
    this.owners.set(job.id, ownerId)
    this.#outcomes.set(job.id, outcome)
    await this.#tests.commit(...changes)
    this.#jobs.wake()
    await this.#becomes(job.id, outcome)
  }

  async find(id: string): Promise<ExportJob | undefined> {
    return await this.#jobs.find(this.#ownerOf(id), id)
  }

  async cancel(id: string): Promise<void> {
    await this.#jobs.cancel(this.#ownerOf(id), id)
    await this.#becomes(id, 'cancelled')
  }

  async resume(id: string): Promise<void> {
    this.#outcomes.set(id, 'completed')
    await this.#jobs.resume(this.#ownerOf(id), id)
    await this.#becomes(id, 'completed')
  }

  async restart(): Promise<void> {
    await this.#jobs.stop()
    this.#jobs = this.#process()
    await this.#jobs.start()
    for (const [id, outcome] of this.#outcomes) {
      if (outcome === 'running' && (await this.find(id))?.state === 'queued')
        await this.#becomes(id, 'running')
    }
  }

  async purge(): Promise<void> {
    while (await this.#jobs.purge());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#jobs.stop()
    this.#folder[Symbol.dispose]()
    await this.#tests.state.deleteFrom('export_jobs').execute()
  }

  #ownerOf(id: string): UserId {
    return this.owners.get(id) ?? newId<UserId>()
  }

  /** What has ended says when, by the wall clock. */
  async #becomes(id: string, state: JobState): Promise<void> {
    const finishedAtUs = state === 'running' ? undefined : this.clock.nowUs()
    const find = async () => await this.find(id)
    await expect.poll(find, { interval: 1 }).toMatchObject({ state, finishedAtUs })
  }

  #process(): BackgroundJobs<ExportJob> {
    return new BackgroundJobs<ExportJob>({
      store: this.#store,
      open: ({ id }, signal) => this.#run(this.#outcomes.get(id), signal),
      folder: this.#folder.path,
      atOnceMax: 50,
      clock: this.clock,
      onFailure: (error) => {
        throw error
      },
    })
  }

  #run(outcome: Outcome | undefined, signal: AbortSignal): JobRun {
    const run = async () => {
      if (outcome === 'failed') throw new DomainError('conflict', 'it cannot go on')
      if (outcome !== 'running') return true
      const aborted = Promise.withResolvers<false>()
      signal.addEventListener('abort', () => aborted.resolve(false))
      return signal.aborted ? false : await aborted.promise
    }
    return { progress: 0, run, close: async () => undefined }
  }
}

const deeds = ['completed', 'failed', 'running', 'cancel', 'resume', 'restart'] as const

async function does(jobs: ManyJobs, deed: (typeof deeds)[number]): Promise<void> {
  if (deed === 'restart') return await jobs.restart()
  if (deed !== 'cancel' && deed !== 'resume') return await jobs.make(deed)
  const from = deed === 'cancel' ? ['running'] : ['cancelled', 'failed']
  for (const id of jobs.owners.keys()) {
    const state = (await jobs.find(id))?.state
    if (state !== undefined && from.includes(state)) return await jobs[deed](id)
  }
}

test('however the wall clock is set, a job is kept until it shows what was told', async () => {
  await using tests = await TestState.open()
  const runs = fc.record({
    moves: movesOf(4 * dayUs),
    done: fc.array(fc.constantFrom(...deeds), { minLength: 12, maxLength: 12 }),
  })
  await fc.assert(
    fc.asyncProperty(runs, async ({ moves, done }) => {
      await using jobs = new ManyJobs(tests)
      const { clock, owners } = jobs
      await jobs.make('completed')
      for (const [place, { passUs, stepUs }] of moves.entries()) {
        await does(jobs, done[place] ?? 'restart')
        const before = await Promise.all([...owners.keys()].map((id) => jobs.find(id)))
        clock.atUs += passUs
        clock.step(stepUs)
        await jobs.purge()
        const now = formatUs(clock.nowUs())
        for (const job of before.filter((one) => one !== undefined)) {
          const { state, expiresAt } = jobBody(job, {
            byCode: {},
            resume: 'POST /imports/{importId}/resume',
          })
          expect(expiresAt === null).toBe(state === 'running')
          const isKept = (await jobs.find(job.id)) !== undefined
          expect(isKept).toBe(expiresAt === null || expiresAt >= now)
        }
      }
    }),
    { numRuns: 20 },
  )
})

describe('a queue whose state cannot be read', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
  afterEach(() => void vi.useRealTimers())

  test('looks again after five seconds, however the wall clock is set', async () => {
    await fc.assert(
      fc.asyncProperty(movesOf(7_000_000), async (moves) => {
        let looks = 0
        const queue = new JobQueue<QueuedJob>({
          atOnceMax: 1,
          next: async () => {
            looks++
            throw new Error('the disk is full')
          },
          run: async () => undefined,
          onFailure: () => undefined,
        })
        queue.wake()
        await vi.advanceTimersByTimeAsync(0)
        let passedMs = 0
        for (const { passUs, stepUs } of moves) {
          const passMs = Math.floor(passUs / 1_000)
          await vi.advanceTimersByTimeAsync(passMs)
          vi.setSystemTime(Date.now() + Math.floor(stepUs / 1_000))
          passedMs += passMs
          expect(looks).toBe(1 + Math.floor(passedMs / 5_000))
        }
        await queue.stop()
      }),
      { numRuns: 30 },
    )
  })
})
