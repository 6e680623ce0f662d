import { may } from '../../../api/session.ts'
import { CheckField } from '../../../components/check-field.tsx'
import { KnownTemplates } from './known-templates.tsx'
import { NewTemplateFields } from './new-template-fields.tsx'
import { emptyTemplate, type TemplateChoice } from './vault-draft.ts'

export interface TemplateFieldsProps {
  readonly choice: TemplateChoice
  readonly onChoice: (choice: TemplateChoice) => void
}

/** The template of a vault: one that is there, or one that is made with it. */
export function TemplateFields({ choice, onChoice }: TemplateFieldsProps) {
  return (
    <fieldset class="vaults-group">
      <legend>Template</legend>
      <p class="soft">
        What vaults of one kind have in common: a hint for who makes them, and the asset streams
        that they list.
      </p>
      <div class="row" role="radiogroup" aria-label="Which template">
        <CheckField
          group="which-template"
          isChecked={choice.is === 'known'}
          onChecked={() => onChoice({ is: 'known', template: undefined })}
        >
          One that is there
        </CheckField>
        <CheckField
          group="which-template"
          isChecked={choice.is === 'new'}
          onChecked={() => onChoice({ is: 'new', draft: emptyTemplate })}
        >
          A new one
        </CheckField>
      </div>
      {choice.is === 'new' ? (
        <NewTemplateFields
          draft={choice.draft}
          onDraft={(draft) => onChoice({ is: 'new', draft })}
        />
      ) : (
        may('vaults:read') && (
          <KnownTemplates
            chosen={choice.template}
            onChosen={(template) => onChoice({ is: 'known', template })}
            onNew={() => onChoice({ is: 'new', draft: emptyTemplate })}
          />
        )
      )}
    </fieldset>
  )
}
