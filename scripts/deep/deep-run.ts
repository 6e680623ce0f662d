import type { DeepSuite, RecordedPass } from './deep-record.ts'

/** How a suite went: how many tests passed and failed, and whether it was ended because the time was over. */
export interface SuiteResult {
  readonly isGood: boolean
  readonly isCutOff: boolean
  readonly passed: number
  readonly failed: number
}

export interface DeepRunNeeds {
  /** Runs one suite, and ends it after `msLeft`. */
  readonly runSuite: (file: string, msLeft: number) => Promise<SuiteResult>
  /** Milliseconds from any beginning, never set back. */
  readonly now: () => number
  readonly say: (line: string) => void
  readonly onPass: (file: string, pass: RecordedPass) => void
  /** Until when suites may run, in milliseconds of `now`. */
  readonly endMs: number
  /** How many suites run at once. */
  readonly lanes: number
}

export interface DeepRunResult {
  readonly passed: number
  readonly failed: number
}

/**
 * Runs suites in the order given until the time is over, and says what was not run. One that fails is run once more
 * when all others have ended, so alone: when it passes then, it is told of as flaky.
 */
export async function runDeepSuites(
  suites: readonly DeepSuite[],
  needs: DeepRunNeeds,
): Promise<DeepRunResult> {
  const run = new DeepRun(needs)
  const waiting = [...suites]
  const lane = async () => {
    for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift()) {
      await run.first(suite)
    }
  }
  await Promise.all(Array.from({ length: needs.lanes }, lane))
  await run.failedAgain()
  return run
}

class DeepRun implements DeepRunResult {
  readonly #needs: DeepRunNeeds
  readonly #failed: DeepSuite[] = []
  passed = 0
  failed = 0

  constructor(needs: DeepRunNeeds) {
    this.#needs = needs
  }

  async first(suite: DeepSuite): Promise<void> {
    const result = await this.#run(suite)
    if (result === undefined) return
    if (result.isGood) this.passed += result.passed
    else this.#failed.push(suite)
  }

  async failedAgain(): Promise<void> {
    for (const suite of this.#failed) {
      const result = await this.#run(suite)
      // What failed and had no time to be tried again has failed.
      if (result === undefined) this.failed++
      else this.#count(suite, result)
    }
  }

  #count({ file }: DeepSuite, { isGood, passed, failed }: SuiteResult): void {
    this.#needs.say(`${isGood ? 'flaky' : 'failed twice'}: ${file}`)
    this.passed += passed
    if (!isGood) this.failed += Math.max(1, failed)
  }

  /** Nothing for a suite that had not the time. */
  async #run({ file, digest, seconds }: DeepSuite): Promise<SuiteResult | undefined> {
    const { now, endMs, runSuite, say, onPass } = this.#needs
    const startMs = now()
    const needsMs = (seconds ?? 0) * 1000
    const result = startMs + needsMs < endMs ? await runSuite(file, endMs - startMs) : undefined
    if (result === undefined || result.isCutOff) {
      say(`not run: ${file}`)
      return undefined
    }
    const tookSeconds = Math.ceil((now() - startMs) / 1000)
    if (result.isGood) onPass(file, { digest, seconds: tookSeconds })
    return result
  }
}
