import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from '../api/client.ts'
import { Action } from '../components/action.tsx'
import { Field } from '../components/field.tsx'
import { addedField, type DraftField, draftOf, type Inferred, isSound, schemaOf } from './draft.ts'
import { FieldTable } from './field-table.tsx'
import { type Made, type VaultChoice, vaultOf } from './made-vault.ts'
import type { Proposed } from './sample-step.tsx'
import { VaultFields } from './vault-fields.tsx'

export interface DefinitionStepProps {
  readonly proposed: Proposed
  readonly onMade: (streamId: string) => void
}

/** What the stream will be: its name, its vault, and the fields of its readings. */
export function DefinitionStep({ proposed: { inferred }, onMade }: DefinitionStepProps) {
  const [name, setName] = useState('')
  const [choice, setChoice] = useState<VaultChoice>()
  const [fields, setFields] = useState(() =>
    inferred ? draftOf(inferred.proposal) : [addedField([])],
  )
  const made = useRef<Made>({})
  const nameBox = useRef<HTMLInputElement>(null)
  useEffect(() => nameBox.current?.focus(), [])
  const isReady = name.trim() !== '' && choice !== undefined && isSound(fields)
  const make = async () => {
    if (choice === undefined) return
    const streamName = name.trim()
    const named =
      choice.is === 'new' ? { ...choice, name: choice.name.trim() || streamName } : choice
    const vaultId = await vaultOf(named, made.current)
    onMade(await newStream({ name: streamName, vaultId, inferred, fields }))
  }
  return (
    <div class="stack">
      <Field
        label="Name of the stream"
        control={(tied) => (
          <input
            {...tied}
            ref={nameBox}
            required
            dir="auto"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      />
      <VaultFields
        choice={choice}
        streamName={name}
        onChoice={(next) => {
          // What an earlier try made belongs to what was chosen then.
          made.current = {}
          setChoice(next)
        }}
      />
      <FieldTable fields={fields} onFields={setFields} />
      {inferred && <Remarks inferred={inferred} />}
      <div class="row">
        <button
          type="button"
          class="button"
          onClick={() => setFields([...fields, addedField(fields)])}
        >
          Add a field
        </button>
        <Action look="primary" isDisabled={!isReady} run={make}>
          Make the stream
        </Action>
      </div>
    </div>
  )
}

interface Wanted {
  readonly name: string
  readonly vaultId: string
  readonly inferred: Inferred | undefined
  readonly fields: readonly DraftField[]
}

async function newStream({ name, vaultId, inferred, fields }: Wanted): Promise<string> {
  const proposal = inferred?.proposal
  const hasSource = proposal !== undefined && Object.keys(proposal.source).length > 0
  const made = await api.call('createStream', {
    body: {
      name,
      vaultId,
      type: proposal?.type ?? 'iot_sensor',
      schema: schemaOf(fields),
      // It was proposed by the service itself, in the form that it takes.
      ...(hasSource && { source: proposal.source }),
    },
  })
  return made.streamId
}

/** What the sample does not tell, and messages that the stream would refuse. */
function Remarks({ inferred: { samples, notes, misfits } }: { readonly inferred: Inferred }) {
  return (
    <>
      <p class="soft">
        Proposed from {samples} {samples === 1 ? 'message' : 'messages'}
        {misfits.length === 0 && `, which it would take as ${samples === 1 ? 'it is' : 'they are'}`}
        .
      </p>
      {misfits.length > 0 && (
        <div class="notice warn">
          <p>Some of them would be refused:</p>
          <ul>
            {misfits.map(({ index, error, message }) => (
              <li key={index}>
                message {index + 1}: {message} <code>{error}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      {notes.length > 0 && (
        <details>
          <summary>What the sample does not show ({notes.length})</summary>
          <ul>
            {notes.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path !== '' && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
