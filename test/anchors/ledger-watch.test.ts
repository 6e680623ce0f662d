import { expect, test } from 'vitest'
import { LedgerWatch } from '../../src/anchors/networks/ledger-watch.ts'
import { LedgerNodeServer } from '../support/ledger-node.ts'
import { lookWith } from '../support/low-funds.ts'
import { TestState } from '../support/test-state.ts'

test.each(['http', 'ws'] as const)(
  'a node that says nothing over %s holds up neither the start nor the end of a watch',
  async (way) => {
    await using state = await TestState.open()
    await using node = await LedgerNodeServer.start('xrpl', { mood: 'silent' })
    const { settings } = lookWith(undefined)
    const watch = new LedgerWatch({
      state: state.state,
      ledgers: [{ ...settings, endpoints: [node[way]()] }],
      onLooks: async () => undefined,
      onFailure: (error) => expect.fail(String(error)),
    })
    const beginMs = performance.now()

    await watch.start()
    await watch.stop()

    // A question may take five seconds.
    expect(performance.now() - beginMs).toBeLessThan(3_000)
    expect(watch.looks).toMatchObject([{ answers: false }])
  },
)
