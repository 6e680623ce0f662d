import { useEffect } from 'preact/hooks'
import { api } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { may } from '../api/session.ts'
import { Field } from '../components/field.tsx'
import { Loaded } from '../components/states.tsx'
import type { VaultChoice } from './made-vault.ts'

export interface VaultFieldsProps {
  readonly choice: VaultChoice | undefined
  /** A new vault is called so where nothing else is said. */
  readonly streamName: string
  readonly onChoice: (choice: VaultChoice) => void
}

interface Known {
  readonly vaults: readonly { readonly vaultId: string; readonly name: string }[]
  readonly templates: readonly {
    readonly id: string
    readonly name: string
    readonly isPlain: boolean
  }[]
}

/** Vaults and templates that are offered; others are on their pages. */
const offeredMax = 100

/** The vault that the stream belongs to: one that is there, or one that is made with it. */
export function VaultFields(props: VaultFieldsProps) {
  const known = useResource(loadKnown, [])
  return (
    <Loaded of={known} lines={2}>
      {(found) => <Chosen known={found} {...props} />}
    </Loaded>
  )
}

async function loadKnown(signal: AbortSignal): Promise<Known> {
  if (!may('vaults:read')) return { vaults: [], templates: [] }
  const [vaults, templates] = await Promise.all([
    api.call('listVaults', { query: { limit: offeredMax }, signal }),
    api.call('listTemplates', { query: { page_size: offeredMax, sort_by: 'name' }, signal }),
  ])
  return {
    vaults,
    templates: templates.content.map(({ id, name, required_streams: required }) => ({
      id,
      name,
      isPlain: required.length === 0,
    })),
  }
}

function Chosen({
  known,
  choice,
  streamName,
  onChoice,
}: VaultFieldsProps & { readonly known: Known }) {
  const canMake = may('vaults:write')
  const plain = known.templates.find(({ isPlain }) => isPlain)?.id
  const fresh: VaultChoice = { is: 'new', name: '', templateId: plain }
  const [first] = known.vaults
  useEffect(() => {
    if (first) onChoice({ is: 'known', vaultId: first.vaultId })
    else if (canMake) onChoice(fresh)
  }, [])
  if (!first && !canMake) {
    return (
      <p class="notice warn">
        A stream belongs to a vault, and no vault exists yet. Your key may not make one: it needs
        the permission <code>vaults:write</code>.
      </p>
    )
  }
  return (
    <div class="first-pair">
      <Field
        label="Vault"
        hint="The thing that the readings are about, such as a machine or a building"
        control={(tied) => (
          <select
            {...tied}
            value={choice?.is === 'known' ? choice.vaultId : ''}
            onChange={({ currentTarget: { value: vaultId } }) =>
              onChoice(vaultId === '' ? fresh : { is: 'known', vaultId })
            }
          >
            {known.vaults.map(({ vaultId, name }) => (
              <option key={vaultId} value={vaultId}>
                {name}
              </option>
            ))}
            {canMake && <option value="">A new vault</option>}
          </select>
        )}
      />
      {choice?.is === 'new' && (
        <NewVaultFields choice={choice} known={known} streamName={streamName} onChoice={onChoice} />
      )}
    </div>
  )
}

interface NewVaultFieldsProps extends VaultFieldsProps {
  readonly known: Known
  readonly choice: Extract<VaultChoice, { is: 'new' }>
}

function NewVaultFields({ choice, known, streamName, onChoice }: NewVaultFieldsProps) {
  return (
    <>
      <Field
        label="Name of the vault"
        control={(tied) => (
          <input
            {...tied}
            value={choice.name}
            placeholder={streamName}
            onInput={(event) => onChoice({ ...choice, name: event.currentTarget.value })}
          />
        )}
      />
      <Field
        label="Template"
        hint="What vaults of this kind have in common"
        control={(tied) => (
          <select
            {...tied}
            value={choice.templateId ?? ''}
            onChange={({ currentTarget: { value } }) =>
              onChoice({ ...choice, templateId: value === '' ? undefined : value })
            }
          >
            {known.templates.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
            <option value="">A new template that asks for nothing</option>
          </select>
        )}
      />
    </>
  )
}
