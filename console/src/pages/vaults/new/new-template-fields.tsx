import { Field } from '../../../components/field.tsx'
import { FileField } from './file-field.tsx'
import {
  badCodes,
  bundleBytesMax,
  codesIn,
  imageBytesMax,
  imageTypes,
  type TemplateDraft,
} from './vault-draft.ts'

export interface NewTemplateFieldsProps {
  readonly draft: TemplateDraft
  readonly onDraft: (draft: TemplateDraft) => void
}

/** A template that is made with the vault. */
export function NewTemplateFields({ draft, onDraft }: NewTemplateFieldsProps) {
  const set = (change: Partial<TemplateDraft>) => onDraft({ ...draft, ...change })
  const bad = badCodes(codesIn(draft.codes))
  return (
    <>
      <div class="vaults-pair">
        <Field
          label="Name of the template"
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
          label="Hint"
          hint="For who makes a vault of it: one for each boiler, say"
          control={(tied) => (
            <input
              {...tied}
              dir="auto"
              value={draft.hint}
              onInput={(event) => set({ hint: event.currentTarget.value })}
            />
          )}
        />
      </div>
      <Field
        label="Asset streams that a vault needs"
        hint="Codes such as BOILER7, with spaces between them. Files are attached to these. It may need none."
        problem={
          bad.length === 0
            ? undefined
            : `No code: ${bad.join(', ')}. A code has 1 to 20 letters, digits or signs, without a slash`
        }
        control={(tied) => (
          <input
            {...tied}
            class="control"
            spellcheck={false}
            autocomplete="off"
            value={draft.codes}
            onInput={(event) => set({ codes: event.currentTarget.value })}
          />
        )}
      />
      <div class="vaults-pair">
        <FileField
          label="Image of its vaults"
          what="PNG, JPEG, WebP, GIF or AVIF"
          accept={imageTypes}
          bytesMax={imageBytesMax}
          file={draft.image}
          onFile={(image) => set({ image })}
        />
        <FileField
          label="Files of the template"
          what="One archive (.zip)"
          accept=".zip,application/zip"
          bytesMax={bundleBytesMax}
          file={draft.bundle}
          onFile={(bundle) => set({ bundle })}
        />
      </div>
      <label class="vaults-choice">
        <input
          type="checkbox"
          checked={draft.isPublic}
          onChange={(event) => set({ isPublic: event.currentTarget.checked })}
        />
        Everybody on this service may make vaults of it
      </label>
    </>
  )
}
