import { expect, test } from 'vitest'
import { killedSandbox } from '../../support/killed-sandbox.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

/** Kills between 20 ms and half a second after the start: before, within and after several blocks. */
const delaysMs = Array.from({ length: 60 }, (_, at) => 20 + ((at * 37) % 480))

test('sixty kills lose nothing that was told of, and put nothing on twice', async () => {
  using folder = new TemporaryFolder()
  const { problems, told } = await killedSandbox(folder.file('ledger'), delaysMs)
  expect(problems).toEqual([])
  expect(told).toBeGreaterThan(30)
})
