import { setTimeout as sleep } from 'node:timers/promises'
import { verifyChain } from '../../src/ledgers/sandbox/chain-reader.ts'
import { type SandboxOutcome, SandboxProcess } from './sandbox-process.ts'

/**
 * Kills a sandbox again and again while it writes blocks.
 *
 * @returns what is wrong: nothing, if each intent is on the chain once, where it was told to be
 */
export async function killedSandbox(folder: string, delaysMs: readonly number[]) {
  const told = new Map<string, SandboxOutcome>()
  const problems: string[] = []
  let count = 0
  for (const delayMs of delaysMs) {
    await using sandbox = await SandboxProcess.start(folder)
    const killed = sleep(delayMs).then(async () => await sandbox[Symbol.asyncDispose]())
    for (;;) {
      const intent = `intent-${count}`
      const outcome = await sandbox.perform({ what: 'put', intent })
      if (!outcome) break
      if (outcome.failure !== undefined) problems.push(outcome.failure)
      told.set(intent, outcome)
      count++
    }
    await killed
    const { broken } = await verifyChain(folder)
    if (broken) problems.push(broken.reason)
  }
  await using sandbox = await SandboxProcess.start(folder)
  for (const [intent, before] of told) {
    const after = await sandbox.perform({ what: 'put', intent })
    if (JSON.stringify(after) !== JSON.stringify(before)) problems.push(`${intent} is another one`)
  }
  const { blocks, transactions } = await verifyChain(folder)
  // The one after the last that was told of may have got in before the kill.
  if (transactions < told.size || transactions > told.size + 1) {
    problems.push(`${transactions} transactions for ${told.size} intents`)
  }
  return { problems, told: told.size, blocks }
}
