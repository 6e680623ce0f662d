import { useRef, useState } from 'preact/hooks'
import { api } from '../api/client.ts'
import { Action } from '../components/action.tsx'
import { Field } from '../components/field.tsx'
import type { Inferred } from './draft.ts'
import { type Sample, sampleOf } from './sample.ts'

/** What became of a sample. */
export interface Proposed {
  /** Of which try: each makes the form anew. */
  readonly at: number
  readonly inferred: Inferred | undefined
  readonly sample: Sample | undefined
  /** That the sample came on. */
  readonly topic: string
}

/** A file beyond this is cut: its first lines say what the others are like. */
const fileBytesMax = 256 * 1024

const placeholder = '{"temperature": 21.5, "humidity": 40, "mode": "eco"}'

export function SampleStep({ onProposed }: { readonly onProposed: (proposed: Proposed) => void }) {
  const [text, setText] = useState('')
  const [topic, setTopic] = useState('')
  const tries = useRef(0)
  const propose = async (pasted: string) => {
    const sample = sampleOf(pasted, topic.trim())
    if (sample === undefined) return
    tries.current += 1
    const at = tries.current
    const inferred = await api.call('inferStream', sample.question)
    if (at === tries.current) onProposed({ at, inferred, sample, topic: topic.trim() })
  }
  const withoutSample = () => {
    tries.current += 1
    onProposed({ at: tries.current, inferred: undefined, sample: undefined, topic: '' })
  }
  return (
    <div class="stack">
      <Field
        label="One message, or some of them: one in each line, a JSON list, or a table in CSV with its head"
        control={(tied) => (
          <textarea
            {...tied}
            class="control mono first-sample"
            rows={6}
            spellcheck={false}
            placeholder={placeholder}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      />
      <div class="first-pair">
        <Field
          label="Topic"
          hint="Only if it is sent over MQTT to a topic of the device's own"
          control={(tied) => (
            <input
              {...tied}
              class="control mono"
              spellcheck={false}
              value={topic}
              onInput={(event) => setTopic(event.currentTarget.value)}
            />
          )}
        />
        <FileField onText={setText} />
      </div>
      <div class="row">
        <Action look="primary" isDisabled={text.trim() === ''} run={() => propose(text)}>
          Propose a stream
        </Action>
        <button type="button" class="button" onClick={withoutSample}>
          I have no sample
        </button>
      </div>
    </div>
  )
}

function FileField({ onText }: { readonly onText: (text: string) => void }) {
  return (
    <Field
      label="Or a file with messages"
      control={(tied) => (
        <input
          {...tied}
          type="file"
          accept=".json,.ndjson,.jsonl,.csv,.txt,application/json,text/csv,text/plain"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0]
            if (file) void beginningOf(file).then(onText)
          }}
        />
      )}
    />
  )
}

/** Its first part, up to the end of a line where it is cut. */
async function beginningOf(file: Blob): Promise<string> {
  const text = await file.slice(0, fileBytesMax).text()
  if (file.size <= fileBytesMax) return text
  const end = text.lastIndexOf('\n')
  return end === -1 ? text : text.slice(0, end)
}
