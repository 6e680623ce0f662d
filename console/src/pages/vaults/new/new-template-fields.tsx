import { CheckField } from '../../../components/check-field.tsx'
import { TextField } from '../../../components/text-field.tsx'
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
        <TextField
          label="Name of the template"
          isRequired
          lengthMax={200}
          value={draft.name}
          onValue={(name) => set({ name })}
        />
        <TextField
          label="Hint"
          hint="For who makes a vault of it: one for each boiler, say"
          value={draft.hint}
          onValue={(hint) => set({ hint })}
        />
      </div>
      <TextField
        label="Asset streams that a vault needs"
        hint="Codes such as BOILER7, with spaces between them. Files are attached to these. It may need none."
        problem={
          bad.length === 0
            ? undefined
            : `No code: ${bad.join(', ')}. A code has 1 to 20 letters, digits or signs, without a slash`
        }
        isCode
        value={draft.codes}
        onValue={(codes) => set({ codes })}
      />
      <TemplateFiles draft={draft} set={set} />
      <CheckField isChecked={draft.isPublic} onChecked={(isPublic) => set({ isPublic })}>
        Everybody on this service may make vaults of it
      </CheckField>
    </>
  )
}

interface TemplateFilesProps {
  readonly draft: TemplateDraft
  readonly set: (change: Partial<TemplateDraft>) => void
}

function TemplateFiles({ draft, set }: TemplateFilesProps) {
  return (
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
  )
}
