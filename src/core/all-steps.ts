/**
 * Takes steps in their order, also those behind one that fails: what has to be closed is closed.
 *
 * @throws the failure of the first that failed, once all were taken
 */
export async function takeAllSteps(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** Resolves when all have ended, also those beside one that fails. @throws the first failure */
export async function allOf(tasks: readonly unknown[]): Promise<void> {
  const outcomes = await Promise.allSettled(tasks)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
