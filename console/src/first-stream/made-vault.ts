import { api } from '../api/client.ts'

/** A vault that is there, or one to make, of a template that is there or is made with it. */
export type VaultChoice =
  | { readonly is: 'known'; readonly vaultId: string }
  | { readonly is: 'new'; readonly name: string; readonly templateId: string | undefined }

/** What has been made by an earlier try: the next one goes on from there. */
export interface Made {
  templateId?: string
  vaultId?: string
}

/** The id of the chosen vault, which is made if it has to be. @throws ApiFailure */
export async function vaultOf(choice: VaultChoice, made: Made): Promise<string> {
  if (choice.is === 'known') return choice.vaultId
  made.vaultId ??= await newVault(choice, made)
  return made.vaultId
}

async function newVault({ name, templateId }: Extract<VaultChoice, { is: 'new' }>, made: Made) {
  made.templateId ??= templateId ?? (await newTemplate(name))
  // Nobody was asked whether others may see it.
  const body = { name, template_id: made.templateId, public: false }
  return (await api.call('createVault', { body })).id
}

/** A template that asks for nothing: its vaults are ready at once. */
async function newTemplate(name: string): Promise<string> {
  const body = { name, hint: name, required_streams: [] }
  return (await api.call('createTemplate', { body })).id
}
