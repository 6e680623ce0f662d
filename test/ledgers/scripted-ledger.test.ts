import { describe } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { ledgerContract } from '../contracts/ledger-contract.ts'
import { ScriptedLedger } from '../support/scripted-ledger.ts'
import { ScriptedNode } from '../support/scripted-node.ts'

/** Blocks come whenever somebody waits for one. */
class MinedLedger extends ScriptedLedger {
  override async changed(): Promise<void> {
    this.node.mine()
  }
}

/** A lane is tried on it: what it promises has to be what real ones do. */
describe('a scripted ledger', () => {
  ledgerContract(async () => {
    const node = new ScriptedNode()
    const opened = () => new MinedLedger(node, 'scripted', systemClock)
    let ledger = opened()
    return {
      ledger,
      keepsLeaves: false,
      async raiseFees() {
        node.price = 50
      },
      async restart(between) {
        between?.()
        ledger = opened()
        return ledger
      },
      async reorg() {
        node.loseFinality()
        const last = node.heightOf(node.onChain().at(-1)?.hash ?? '') ?? node.height
        node.reorg(node.height - last + 1)
        return opened()
      },
      async goDown() {
        ledger.isDown = true
      },
      async [Symbol.asyncDispose]() {},
    }
  })
})
