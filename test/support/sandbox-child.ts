import { messageOf } from '../../src/core/errors.ts'
import { deedOf, includedOf, openSandbox } from './sandbox-ledger.ts'
import type { SandboxDeed, SandboxOutcome } from './sandbox-process.ts'

const [, , folder = ''] = process.argv

const ledger = await openSandbox(folder)

/** One after the other, as the one lane of an account does it: what is there already is not done again. */
async function perform({ what, intent }: SandboxDeed): Promise<SandboxOutcome> {
  const found = (await ledger.find([intent])).get(intent)
  if (what === 'find') return found ? { hash: found.hash } : {}
  const sequence = found?.sequence ?? (await ledger.nextSequence())
  const deed = await deedOf({ intentId: intent })
  const { hash, blob } = found ?? (await ledger.sign(deed, sequence))
  const { is } = await ledger.submit(blob)
  if (what === 'send') return { hash, is }
  const { height, blockHash } = await includedOf(ledger, hash)
  return { hash, is, height, blockHash }
}

process.on('message', (deed: SandboxDeed) => {
  perform(deed).then(
    (outcome) => process.send?.(outcome),
    (error: unknown) => process.send?.({ failure: messageOf(error) }),
  )
})
process.send?.('open')
