import { ScrollArea } from '../../../components/scroll-area.tsx'
import type { TabProps } from '../shown-vault.ts'
import { AnchorProgress } from './anchor-progress.tsx'
import { ProofCard } from './proof-card.tsx'
import { VaultImage } from './vault-image.tsx'
import { Verification } from './verification.tsx'

/** What the vault is on the ledger: how it got there, its proof, and what was written. */
export function TwinTab({ vault, reload }: TabProps) {
  return (
    <div class="stack">
      <AnchorProgress vault={vault} reload={reload} />
      <div class="vault-columns">
        <ProofCard vault={vault} reload={reload} />
        <div class="stack">
          <Verification vault={vault} reload={reload} />
          <VaultImage vault={vault} reload={reload} />
          {vault.json_payload !== null && (
            <div class="card">
              <h2>Payload</h2>
              <ScrollArea label="Payload" class="vault-payload">
                <pre>{vault.json_payload}</pre>
              </ScrollArea>
            </div>
          )}
        </div>
      </div>
    </div>
  )
}
