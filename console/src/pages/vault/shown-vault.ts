import type { Operations } from '../../../../clients/typescript/call.ts'

export type ShownVault = Operations['readVault']['answer']

/** Parts of the page of a vault. */
export type VaultTab = 'latest' | 'streams' | 'twin' | 'attachments' | 'retention'

export interface TabProps {
  readonly vault: ShownVault
  /** To be called when the vault was changed. */
  readonly reload: () => void
}
