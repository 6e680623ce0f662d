import { describe, expect, test } from 'vitest'
import { readSettings } from '../../src/config/config.ts'

describe('settings of seals', () => {
  test.each(['eip155:1', 'xrpl', 'mainnet'])(
    'seals go to no network that is not configured: %s',
    (network) => {
      const { problems } = readSettings({
        STREAMVAULT_LEDGER_XRPL: 'wss://xrpl.example',
        STREAMVAULT_SEAL_NETWORK: network,
      })

      expect(problems).toEqual([
        `STREAMVAULT_SEAL_NETWORK must be one of the networks that are configured (sandbox, xrpl:0), not '${network}'`,
      ])
    },
  )

  test('seals go to the network of a ledger that is configured', () => {
    const { config, problems } = readSettings({
      STREAMVAULT_LEDGER_XRPL: 'wss://xrpl.example',
      STREAMVAULT_SEAL_NETWORK: 'xrpl:0',
    })

    expect(problems).toEqual([])
    expect(config.sealLedger).toEqual({ ledger: 'XRPL', network: 'xrpl:0' })
  })

  test('a grace that is no duration is refused', () => {
    const { problems } = readSettings({ STREAMVAULT_SEAL_GRACE: 'soon' })

    expect(problems.join()).toContain('STREAMVAULT_SEAL_GRACE must be a duration')
  })
})
