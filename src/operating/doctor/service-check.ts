import { messageOf } from '../../core/errors.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** Asks the service for a path. @throws Error when it cannot be reached */
export type Ask = (path: string) => Promise<{ readonly status: number; readonly text: string }>

/** Whether the running service lives and is ready, with each part that is not. */
export async function checkService(ask: Ask | undefined, isLocked: boolean): Promise<Check> {
  const name = 'service'
  if (!ask && isLocked) {
    return warn(name, 'it does not listen (yet)', 'look again in some seconds, then at its log')
  }
  if (!ask) return ok(name, 'it does not run')
  try {
    const { status, text } = await ask('/health/ready')
    if (status === 200) return ok(name, 'it runs and is ready')
    const { failing = {} } = JSON.parse(text) as { readonly failing?: Record<string, string> }
    const parts = Object.entries(failing).map(([part, problem]) => `${part}: ${problem}`)
    const message = `it runs and is not ready (${status}): ${parts.join('; ') || 'no reason given'}`
    return fail(name, message, 'docs/operations.md says what to do for each part')
  } catch (error) {
    return fail(name, messageOf(error), 'look at its log, at --url, and for HTTPS at --ca')
  }
}
