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

test('what both accounts of a network spend is told of together', async () => {
  await using state = await TestState.open()
  await using node = await LedgerNodeServer.start('xrpl', { balance: 5_000_000n })
  for (const role of ['issuer', 'distributor']) {
    await state.commit(
      state.state.insertInto('ledger_keys').values({
        network: 'xrpl:99',
        role,
        account: role,
        algorithm: 'Ed25519',
        public_key: '',
        private_key_encrypted: new Uint8Array(),
        created_at: 0,
      }),
    )
  }
  const { settings } = lookWith(undefined)
  const watch = new LedgerWatch({
    state: state.state,
    ledgers: [{ ...settings, endpoints: [node.http()] }],
    onLooks: async () => undefined,
    onFailure: (error) => expect.fail(String(error)),
    everyMs: 20,
  })
  await watch.start()
  expect(watch.looks).toMatchObject([{ answers: true, problem: undefined }])

  node.state.balance -= 7n

  await expect.poll(() => watch.spent.get('xrpl:99')).toBe(14n)
  await watch.stop()
})
