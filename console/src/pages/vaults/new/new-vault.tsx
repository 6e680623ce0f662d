import { useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { may } from '../../../api/session.ts'
import { Action } from '../../../components/action.tsx'
import { CheckField } from '../../../components/check-field.tsx'
import { NeedsPermission } from '../../../components/needs-permission.tsx'
import { Page } from '../../../components/page.tsx'
import { paths } from '../../../routing/paths.ts'
import '../vaults.css'
import { type MadeBefore, makeVault } from './make-vault.ts'
import { TemplateFields } from './template-fields.tsx'
import { emptyVault, isReady, neededCodes, type VaultDraft } from './vault-draft.ts'
import { VaultFields, VaultImageField } from './vault-fields.tsx'

/** Makes a vault, with its template where none fits. */
export function NewVault() {
  return (
    <Page title="New vault">
      {may('vaults:write') ? (
        <Form />
      ) : (
        <NeedsPermission scopes={['vaults:write']} to="make" what="vaults" />
      )}
    </Page>
  )
}

function Form() {
  const { route } = useLocation()
  const [draft, setDraft] = useState(emptyVault)
  const [isMade, setMade] = useState(false)
  const made = useRef<MadeBefore>({ uploaded: new Set(), keys: new Map() })
  const set = (change: Partial<VaultDraft>) => {
    // The template that an earlier try has made belongs to what was said then.
    if (change.choice) delete made.current.template
    setDraft({ ...draft, ...change })
  }
  const make = async () => {
    try {
      route(paths.vault(await makeVault(draft, made.current), 'twin'))
    } catch (error) {
      setMade(made.current.vault !== undefined)
      throw error
    }
  }
  if (isMade) {
    return <ImageOnly draft={draft} set={set} send={make} href={hrefOf(made.current)} />
  }
  return (
    <div class="stack vaults-form">
      <VaultFields draft={draft} set={set} />
      <TemplateFields choice={draft.choice} onChoice={(choice) => set({ choice })} />
      <NeededStreams draft={draft} set={set} />
      <p class="soft">
        What is made here is written onto the ledger by itself, within seconds. Template, ledger and
        payload stay what they are from then on; name, description and who may see it can be
        changed.
      </p>
      <div class="row">
        <Action look="primary" isDisabled={!isReady(draft)} run={make}>
          Make the vault
        </Action>
        <a class="button" href={paths.vaults}>
          Cancel
        </a>
      </div>
    </div>
  )
}

function hrefOf({ vault }: MadeBefore): string {
  return vault === undefined ? paths.vaults : paths.vault(vault.id, 'twin')
}

interface ImageOnlyProps {
  readonly draft: VaultDraft
  readonly set: (change: Partial<VaultDraft>) => void
  readonly send: () => Promise<void>
  readonly href: string
}

/** The vault is there; its image did not get there. */
function ImageOnly({ draft, set, send, href }: ImageOnlyProps) {
  return (
    <div class="stack vaults-form">
      <p class="notice warn" role="status">
        The vault <bdi>{draft.name}</bdi> is made; its image has not arrived.
      </p>
      <VaultImageField draft={draft} set={set} />
      <div class="row">
        <Action look="primary" isDisabled={!isReady(draft)} run={send}>
          Send the image
        </Action>
        <a class="button" href={href}>
          Go on without an image
        </a>
      </div>
    </div>
  )
}

interface NeededStreamsProps {
  readonly draft: VaultDraft
  readonly set: (change: Partial<VaultDraft>) => void
}

function NeededStreams({ draft, set }: NeededStreamsProps) {
  const codes = neededCodes(draft)
  if (codes.length === 0) return null
  if (!may('streams:write')) {
    return (
      <p class="notice">
        The vault needs the asset streams {codes.join(', ')}. Those that you do not have yet can
        only be made with a key that has <code>streams:write</code>.
      </p>
    )
  }
  return (
    <CheckField isChecked={draft.makesStreams} onChecked={(makesStreams) => set({ makesStreams })}>
      Make the asset streams that it needs, where they are not there yet:{' '}
      <bdi>{codes.join(', ')}</bdi>
    </CheckField>
  )
}
