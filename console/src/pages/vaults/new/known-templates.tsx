import { useState } from 'preact/hooks'
import { api } from '../../../api/client.ts'
import { useResource } from '../../../api/resource.ts'
import { CheckField } from '../../../components/check-field.tsx'
import { useSettled } from '../../../components/settled.ts'
import { Loaded } from '../../../components/states.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { count } from '../../../formats/numbers.ts'
import type { KnownTemplate } from './vault-draft.ts'

/** Templates that are shown at once; others are found by their names. */
const shownMax = 20

export interface KnownTemplatesProps {
  readonly chosen: KnownTemplate | undefined
  readonly onChosen: (template: KnownTemplate) => void
  readonly onNew: () => void
}

/** Templates to choose from, found by a part of their names. */
export function KnownTemplates({ chosen, onChosen, onNew }: KnownTemplatesProps) {
  const [term, setTerm] = useState('')
  const [isPublic, setPublic] = useState(false)
  const asked = { term: useSettled(term), isPublic }
  const found = useResource((signal) => findTemplates(asked, signal), [asked])
  return (
    <>
      <TextField label="Find a template" value={term} onValue={setTerm} />
      <CheckField isChecked={isPublic} onChecked={setPublic}>
        Public ones of everybody, instead of your own
      </CheckField>
      <Loaded
        of={found}
        lines={3}
        isEmpty={({ templates }) => templates.length === 0}
        empty={<NoTemplates isFiltered={term !== '' || isPublic} onNew={onNew} />}
      >
        {({ templates, total }) => (
          <>
            <div class="vaults-templates" role="radiogroup" aria-label="Templates">
              {withChosen(templates, chosen).map((template) => (
                <TemplateRow
                  key={template.id}
                  template={template}
                  isChosen={template.id === chosen?.id}
                  onChosen={onChosen}
                />
              ))}
            </div>
            {total > templates.length && (
              <p class="soft">
                {count(templates.length)} of {count(total)}: type more of the name to find others.
              </p>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

async function findTemplates(
  { term, isPublic }: { readonly term: string; readonly isPublic: boolean },
  signal: AbortSignal,
) {
  const { content, total_records: total } = await api.call('listTemplates', {
    query: { search_term: term, public: isPublic, page_size: shownMax, sort_by: 'name' },
    signal,
  })
  const templates = content.map(({ id, name, description, hint, required_streams: required }) => ({
    id,
    name,
    description,
    hint,
    required,
  }))
  return { templates, total }
}

/** What was chosen stays in sight when something else is looked for. */
function withChosen(
  templates: readonly KnownTemplate[],
  chosen: KnownTemplate | undefined,
): readonly KnownTemplate[] {
  if (!chosen || templates.some(({ id }) => id === chosen.id)) return templates
  return [chosen, ...templates]
}

interface TemplateRowProps {
  readonly template: KnownTemplate
  readonly isChosen: boolean
  readonly onChosen: (template: KnownTemplate) => void
}

function TemplateRow({ template, isChosen, onChosen }: TemplateRowProps) {
  const { name, hint, required } = template
  return (
    <CheckField group="template" isChecked={isChosen} onChecked={() => onChosen(template)}>
      <bdi>{name}</bdi>
      <span class="soft">
        {hint !== '' && hint !== name && (
          <>
            {' · '}
            <bdi>{hint}</bdi>
          </>
        )}
        {required.length > 0 && ` · needs ${required.join(', ')}`}
      </span>
    </CheckField>
  )
}

function NoTemplates({ isFiltered, onNew }: { isFiltered: boolean; onNew: () => void }) {
  return (
    <div class="row">
      <span>{isFiltered ? 'No template has this in its name.' : 'There is no template yet.'}</span>
      <button type="button" class="button" onClick={onNew}>
        Make a new one
      </button>
    </div>
  )
}
