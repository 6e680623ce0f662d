import { Field } from '../../../components/field.tsx'
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
      <Field
        label="Name"
        hint="Of the thing that it is about: a machine, a building"
        control={(tied) => (
          <input
            {...tied}
            required
            maxLength={200}
            dir="auto"
            value={draft.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        )}
      />
      <Field
        label="Description"
        control={(tied) => (
          <textarea
            {...tied}
            rows={2}
            dir="auto"
            value={draft.description}
            onInput={(event) => set({ description: event.currentTarget.value })}
          />
        )}
      />
      <Field
        label="Payload"
        hint={
          doubt ?? 'Data that is written onto the ledger with it, such as {"serial": 8}. Optional.'
        }
        control={(tied) => (
          <textarea
            {...tied}
            rows={4}
            spellcheck={false}
            value={draft.payload}
            onInput={(event) => set({ payload: event.currentTarget.value })}
          />
        )}
      />
      <div class="vaults-pair">
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
        <VaultImageField draft={draft} set={set} />
      </div>
      <label class="vaults-choice">
        <input
          type="checkbox"
          checked={draft.isPublic}
          onChange={(event) => set({ isPublic: event.currentTarget.checked })}
        />
        Everybody on this service may see it. Its readings stay yours.
      </label>
    </>
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
