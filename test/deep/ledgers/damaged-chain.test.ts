import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { unfoundBits } from '../../support/damaged-chain.ts'
import { deedOf, openSandbox, putOn } from '../../support/sandbox-ledger.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

test('every bit of a chain that is another one is found in its block', async () => {
  using folder = new TemporaryFolder()
  const ledger = await openSandbox(folder.path)
  for (const kind of ['nft', 'root', 'record'] as const) await putOn(ledger, await deedOf({ kind }))
  await ledger.close()
  const bits = 8 * statSync(folder.file('chain.jsonl')).size
  expect(await unfoundBits(folder.path, Array(bits).keys())).toEqual([])
})
