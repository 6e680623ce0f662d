import { CheckField } from '../../../components/check-field.tsx'
import { Field } from '../../../components/field.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { FileField } from './file-field.tsx'
import {
  imageBytesMax,
  imageTypes,
  type Ledger,
  ledgers,
  payloadDoubt,
  type VaultDraft,
} from './vault-draft.ts'

export interface VaultFieldsProps {
  readonly draft: VaultDraft
  readonly set: (change: Partial<VaultDraft>) => void
}

/** What a vault says of itself. */
export function VaultFields({ draft, set }: VaultFieldsProps) {
  const doubt = payloadDoubt(draft.payload)
  return (
    <>
      <TextField
        label="Name"
        hint="Of the thing that it is about: a machine, a building"
        isRequired
        lengthMax={200}
        value={draft.name}
        onValue={(name) => set({ name })}
      />
      <TextField
        label="Description"
        rows={2}
        value={draft.description}
        onValue={(description) => set({ description })}
      />
      <TextField
        label="Payload"
        hint={
          doubt ?? 'Data that is written onto the ledger with it, such as {"serial": 8}. Optional.'
        }
        isCode
        rows={4}
        value={draft.payload}
        onValue={(payload) => set({ payload })}
      />
      <div class="vaults-pair">
        <LedgerField draft={draft} set={set} />
        <VaultImageField draft={draft} set={set} />
      </div>
      <CheckField isChecked={draft.isPublic} onChecked={(isPublic) => set({ isPublic })}>
        Everybody on this service may see it. Its readings stay yours.
      </CheckField>
    </>
  )
}

function LedgerField({ draft, set }: VaultFieldsProps) {
  return (
    <Field
      label="Ledger"
      hint="What a test key makes goes to the sandbox all the same"
      control={(tied) => (
        <select
          {...tied}
          value={draft.ledger}
          onChange={(event) => set({ ledger: event.currentTarget.value as Ledger })}
        >
          {ledgers.map((ledger) => (
            <option key={ledger} value={ledger}>
              {ledger}
            </option>
          ))}
        </select>
      )}
    />
  )
}

export function VaultImageField({ draft, set }: VaultFieldsProps) {
  return (
    <FileField
      label="Image"
      what="PNG, JPEG, WebP, GIF or AVIF"
      accept={imageTypes}
      bytesMax={imageBytesMax}
      file={draft.image}
      onFile={(image) => set({ image })}
    />
  )
}
