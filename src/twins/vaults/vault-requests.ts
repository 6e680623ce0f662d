import type { TemplateId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { NewVault, VaultChange } from './vault.ts'

export interface CreateVault {
  Body: {
    template_id: string
    name: string
    description?: string | null
    ledger?: Ledger | null
    json_payload?: string | null
    public?: boolean | null
  }
}

export interface OneVault {
  Params: { vaultId: string }
}

export interface ChangeVault extends OneVault {
  Body: VaultChange
}

/** The vault that a body describes, with the defaults of the specification. */
export function newVault(body: CreateVault['Body'], templateId: TemplateId): NewVault {
  return {
    templateId,
    name: body.name,
    description: body.description ?? null,
    ledger: body.ledger ?? 'XRPL',
    jsonPayload: body.json_payload ?? null,
    public: body.public ?? true,
  }
}
