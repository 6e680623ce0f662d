import { useState } from 'preact/hooks'
import { api } from '../../../api/client.ts'
import { Action } from '../../../components/action.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
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
      <Field
        label="Name"
        control={(tied) => (
          <input
            {...tied}
            required
            maxLength={200}
            dir="auto"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      />
      <Field
        label="Description"
        control={(tied) => (
          <textarea
            {...tied}
            rows={4}
            dir="auto"
            value={description}
            onInput={(event) => setDescription(event.currentTarget.value)}
          />
        )}
      />
      <label class="vault-choice">
        <input
          type="checkbox"
          checked={isPublic}
          onChange={(event) => setPublic(event.currentTarget.checked)}
        />
        Everybody on this service may see it. Its readings stay yours.
      </label>
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
