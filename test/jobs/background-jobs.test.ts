import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import type { UserId } from '../../src/core/ids.ts'
import type { ExportJob, ExportRequest } from '../../src/reading/exports/export-job.ts'
import { ExportStore } from '../../src/reading/exports/export-store.ts'
import { BackgroundJobs, type JobRun } from '../../src/reading/jobs/background-jobs.ts'
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

const full = new Error('database or disk is full')

/** A store whose disk is full for some of the calls of a method. */
class FullStore extends ExportStore {
  readonly refused: string[] = []
  #left = new Map<string, number>()

  refuse(method: 'complete' | 'fail' | 'find', times: number): void {
    this.#left.set(method, times)
  }

  override async find(...asked: Parameters<ExportStore['find']>) {
    this.#refuse('find')
    return await super.find(...asked)
  }

  override async complete(...asked: Parameters<ExportStore['complete']>): Promise<void> {
    this.#refuse('complete')
    await super.complete(...asked)
  }

  override async fail(...asked: Parameters<ExportStore['fail']>): Promise<void> {
    this.#refuse('fail')
    await super.fail(...asked)
  }

  #refuse(method: string): void {
    const left = this.#left.get(method) ?? 0
    if (left === 0) return
    this.#left.set(method, left - 1)
    this.refused.push(method)
    throw full
  }
}

/** Jobs whose runs do as a test says, and are counted. */
class Subject implements AsyncDisposable {
  readonly store: FullStore
  readonly jobs: BackgroundJobs<ExportJob>
  readonly failures: unknown[] = []
  readonly ownerId: UserId
  runs = 0
  completed = 0
  readonly #state: TestState
  readonly #folder = new TemporaryFolder()

  private constructor(state: TestState, ownerId: UserId, run: () => Promise<boolean>) {
    this.#state = state
    this.ownerId = ownerId
    this.store = new FullStore(state.state, state)
    this.jobs = new BackgroundJobs<ExportJob>({
      store: this.store,
      open: () => this.#run(run),
      folder: this.#folder.path,
      atOnceMax: 2,
      clock: { nowUs: () => 1 },
      onFailure: (error) => this.failures.push(error),
    })
  }

  static async open(run: () => Promise<boolean>): Promise<Subject> {
    const state = await TestState.open()
    return new Subject(state, await state.newUser(), run)
  }

  /** Begins a job. */
  async begin(): Promise<string> {
    const { job, changes } = this.store.plan(
      { ownerId: this.ownerId, apiKeyId: 'sv_test_a' },
      request,
      0,
    )
    await this.#state.commit(...changes)
    await this.jobs.start()
    return job.id
  }

  async stateOf(id: string): Promise<string | undefined> {
    const [job] = await this.store.list(this.ownerId, { after: undefined, limit: 9 })
    return job?.id === id ? job.state : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.jobs.stop()
    await this.#state[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }

  #run(run: () => Promise<boolean>): JobRun {
    this.runs++
    return {
      progress: 1,
      run,
      completed: async () => void this.completed++,
      close: async () => undefined,
    }
  }
}

const done = async () => true
const refused = async () => {
  throw new DomainError('conflict', 'it cannot go on')
}

const forever = Number.POSITIVE_INFINITY

describe('the end of a job', () => {
  test.each([
    ['complete', done, 'completed', 1],
    ['fail', refused, 'failed', 0],
  ] as const)('is written down once it can be: %s', async (method, run, state, completed) => {
    await using subject = await Subject.open(run)
    subject.store.refuse(method, 2)

    const id = await subject.begin()

    await expect.poll(() => subject.stateOf(id)).toBe(state)
    await expect.poll(() => subject.jobs.running).toBe(0)
    expect(subject.store.refused).toEqual([method, method])
    expect(subject.failures).toEqual([full, full])
    expect([subject.runs, subject.completed]).toEqual([1, completed])
  })

  test.each([
    ['complete', done],
    ['fail', refused],
  ] as const)('does not keep a stop from ending while it cannot be: %s', async (method, run) => {
    await using subject = await Subject.open(run)
    subject.store.refuse(method, forever)
    const id = await subject.begin()
    await expect.poll(() => subject.store.refused.length).toBeGreaterThan(0)

    await subject.jobs.stop()

    expect(subject.jobs.running).toBe(0)
    expect(await subject.stateOf(id)).toBe('running')
    expect(subject.completed).toBe(0)
  })

  test.each([
    ['cancel', 'cancelled'],
    ['remove', undefined],
  ] as const)('can be another one while it cannot be: %s', async (change, state) => {
    await using subject = await Subject.open(done)
    subject.store.refuse('complete', forever)
    const id = await subject.begin()
    await expect.poll(() => subject.store.refused.length).toBeGreaterThan(0)

    await subject.jobs[change](subject.ownerId, id)

    expect(subject.jobs.running).toBe(0)
    expect(await subject.stateOf(id)).toBe(state)
    expect(subject.completed).toBe(0)
  })
})

test('a job that has begun runs once it can be looked up', async () => {
  await using subject = await Subject.open(done)
  subject.store.refuse('find', 1)

  const id = await subject.begin()

  await expect.poll(() => subject.stateOf(id)).toBe('completed')
  expect(subject.failures).toEqual([full])
})
