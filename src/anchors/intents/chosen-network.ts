import type { Ledger as LedgerName } from '../../core/ledger.ts'

/** The network of our own. */
export const sandbox = 'sandbox'

/** Networks that are configured, by the ledger that they are of. */
export type ConfiguredNetworks = ReadonlyMap<LedgerName, string>

/**
 * Where something that a key makes is anchored (decisions.md#keys): what a live key makes, on the network that is configured for the
 * ledger, and all else on the sandbox.
 *
 * @param apiKeyId a key of neither kind counts as a test key
 */
export function chosenNetwork(
  apiKeyId: string,
  ledger: LedgerName,
  configured: ConfiguredNetworks,
): string {
  if (!apiKeyId.startsWith('sv_live_')) return sandbox
  return configured.get(ledger) ?? sandbox
}
