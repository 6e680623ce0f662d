import { Pencil, Trash2 } from 'lucide'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api } from '../../../api/client.ts'
import { may } from '../../../api/session.ts'
import { AnchorState } from '../../../components/anchor-state.tsx'
import { ConfirmedDeed } from '../../../components/confirmed-deed.tsx'
import { Icon } from '../../../components/icon.tsx'
import { paths } from '../../../routing/paths.ts'
import type { ShownVault, TabProps } from '../shown-vault.ts'
import { ChangeVault } from './change-vault.tsx'

/** What stands beside the name of a vault: its state, who sees it, and what can be done with it. */
export function VaultHead({ vault, reload }: TabProps) {
  const [shown, setShown] = useState<'change' | 'delete'>()
  const close = () => setShown(undefined)
  return (
    <>
      <AnchorState status={vault.status} />
      <span class="soft">{vault.public ? 'seen by everybody' : 'seen by you alone'}</span>
      <span class="spring" />
      {may('vaults:write') && (
        <>
          <button type="button" class="button" onClick={() => setShown('change')}>
            <Icon of={Pencil} />
            Change
          </button>
          <button type="button" class="button danger" onClick={() => setShown('delete')}>
            <Icon of={Trash2} />
            Delete
          </button>
        </>
      )}
      {shown === 'change' && <ChangeVault vault={vault} onClose={close} reload={reload} />}
      {shown === 'delete' && <DeleteVault vault={vault} onClose={close} />}
    </>
  )
}

interface DeleteVaultProps {
  readonly vault: ShownVault
  readonly onClose: () => void
}

function DeleteVault({ vault: { id, name }, onClose }: DeleteVaultProps) {
  const { route } = useLocation()
  const remove = async () => {
    await api.call('deleteVault', { path: { vaultId: id } })
    route(paths.vaults)
  }
  return (
    <ConfirmedDeed
      title="Delete this vault"
      typed={name}
      deed="Delete permanently"
      run={remove}
      onClose={onClose}
    >
      <p>
        This removes the vault <bdi>{name}</bdi> with its image, its retention and its keys for new
        devices. It cannot be brought back. A vault with data streams stays: delete those first. Its
        asset streams and their attachments stay, and so does what is on the ledger.
      </p>
    </ConfirmedDeed>
  )
}
