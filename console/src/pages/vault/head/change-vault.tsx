import { useState } from 'preact/hooks'
import { api } from '../../../api/client.ts'
import { Action } from '../../../components/action.tsx'
import { CheckField } from '../../../components/check-field.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { TextField } from '../../../components/text-field.tsx'
import type { TabProps } from '../shown-vault.ts'

/** What may be changed about a vault: all else is what was anchored. */
export function ChangeVault({
  vault,
  onClose,
  reload,
}: TabProps & { readonly onClose: () => void }) {
  const [name, setName] = useState(vault.name)
  const [description, setDescription] = useState(vault.description ?? '')
  const [isPublic, setPublic] = useState(vault.public)
  const save = async () => {
    await api.call('changeVault', {
      path: { vaultId: vault.id },
      body: { name: name.trim(), description: description.trim() || null, public: isPublic },
    })
    reload()
    onClose()
  }
  return (
    <Dialog title="Change this vault" onClose={onClose}>
      <p class="soft">
        What is on the ledger keeps the name and the description that it was made with.
      </p>
      <TextField label="Name" isRequired lengthMax={200} value={name} onValue={setName} />
      <TextField label="Description" rows={4} value={description} onValue={setDescription} />
      <CheckField isChecked={isPublic} onChecked={setPublic}>
        Everybody on this service may see it. Its readings stay yours.
      </CheckField>
      <div class="row">
        <Action look="primary" isDisabled={name.trim() === ''} run={save}>
          Save
        </Action>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}
