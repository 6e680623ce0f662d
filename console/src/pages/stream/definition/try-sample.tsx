import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { type Resource, useResource } from '../../../api/resource.ts'
import { may } from '../../../api/session.ts'
import { Field } from '../../../components/field.tsx'
import { FailureText } from '../../../components/states.tsx'
import type { Definition, StreamAnswer } from '../../../editor/definition.ts'
import { JsonEditor } from '../../../editor/json-editor.tsx'
import { useQuery } from '../../../routing/query.ts'
import { placeInMessage, type ReadSample, readingsMax, readSample } from './samples.ts'
import { quiet, type RawType, rawTypes, type TrialResult, tryReadings, tryText } from './trial.ts'
import { Verdicts } from './verdicts.tsx'

export interface TrySampleProps {
  readonly stream: StreamAnswer
  /** The draft, or the definition as it is while the draft cannot be read. */
  readonly definition: Definition
  readonly change: Readonly<Record<string, unknown>> | undefined
  readonly isReadable: boolean
}

/** Samples of so many streams. */
const samplesMax = 50

/** Samples live as long as the page does, as drafts do. */
const samples = signal<ReadonlyMap<string, string>>(new Map())

export function keepSample(streamId: string, text: string): void {
  const others = [...samples.peek()].filter(([id]) => id !== streamId).slice(1 - samplesMax)
  samples.value = new Map([...others, [streamId, text]])
}

/** What would become of a pasted sample, as one types: by the draft, step by step. */
export function TrySample(props: TrySampleProps) {
  const { stream, definition, change } = props
  const { streamId } = stream
  const query = useQuery()
  const type = rawTypes.find((one) => one === query.get('type'))
  const text = samples.value.get(streamId) ?? ''
  const { source, schema } = definition
  const sample = useMemo(
    () => (type === undefined ? readSample(text, source) : undefined),
    [text, type, source],
  )
  const trial = useTrial({ streamId, version: stream.version, text, type, sample, change })
  const { data } = trial
  const problems = useMemo(
    () => (data === undefined || !sample?.ok ? [] : problemsIn(data, sample, schema)),
    [data, sample, schema],
  )
  return (
    <section class="card stack definition-try" aria-labelledby="try-heading">
      <h2 id="try-heading">Try a sample</h2>
      <p class="soft">
        Paste what a device sends: one reading, a list, or one a line. Nothing of it is stored or
        counted.
      </p>
      {may('data:write') && <TypeField type={type} onType={(next) => query.set({ type: next })} />}
      <JsonEditor
        label="Sample"
        value={text}
        onChange={(next) => keepSample(streamId, next)}
        problems={problems}
        height="12rem"
      />
      <div aria-live="polite" aria-busy={trial.isLoading} class="stack">
        <Outcome {...props} text={text} type={type} sample={sample} trial={trial} />
      </div>
    </section>
  )
}

interface OutcomeProps extends TrySampleProps {
  readonly text: string
  readonly type: RawType | undefined
  readonly sample: ReadSample | undefined
  readonly trial: Resource<TrialResult | undefined>
}

function Outcome({ definition, change, isReadable, text, type, sample, trial }: OutcomeProps) {
  const { data, failure } = trial
  if (text.trim() === '') return <p class="soft">Nothing to try yet.</p>
  if (sample?.ok === false)
    return <p class="definition-problem">It is no JSON: {sample.problem}.</p>
  return (
    <>
      {!isReadable && (
        <p class="soft">The draft cannot be read: this is by the definition as it is saved.</p>
      )}
      {type !== undefined && change !== undefined && (
        <p class="soft">
          Text of this kind is tried by the definition as it is saved, not by the draft.
        </p>
      )}
      {failure !== undefined && (
        <div class="notice warn">
          <FailureText failure={failure} />
        </div>
      )}
      {failure === undefined && data !== undefined && (
        <Verdicts result={data} definition={definition} sample={sample} text={text} />
      )}
      {sample?.ok === true && sample.readings.length === readingsMax && (
        <p class="soft">The first {readingsMax} readings are tried.</p>
      )}
    </>
  )
}

interface TypeFieldProps {
  readonly type: RawType | undefined
  readonly onType: (type: RawType | undefined) => void
}

function TypeField({ type, onType }: TypeFieldProps) {
  return (
    <Field
      label="Kind of text"
      control={(tied) => (
        <select
          {...tied}
          value={type ?? 'json'}
          onChange={(event) => {
            const { value } = event.currentTarget
            onType(rawTypes.find((one) => one === value))
          }}
        >
          <option value="json">JSON</option>
          <option value="application/x-ndjson">Lines of JSON (NDJSON)</option>
          <option value="text/csv">CSV</option>
          <option value="text/plain">Plain text</option>
          <option value="application/senml+json">SenML</option>
        </select>
      )}
    />
  )
}

interface Trial {
  readonly streamId: string
  readonly version: number
  readonly text: string
  readonly type: RawType | undefined
  readonly sample: ReadSample | undefined
  readonly change: Readonly<Record<string, unknown>> | undefined
}

function useTrial({ streamId, version, text, type, sample, change }: Trial) {
  return useResource<TrialResult | undefined>(
    async (aborted) => {
      if (text.trim() === '' || sample?.ok === false) return undefined
      await quiet(aborted)
      if (type !== undefined) return await tryText(streamId, { type, content: text }, aborted)
      if (sample === undefined) return undefined
      const { readings } = sample
      return await tryReadings(
        { streamId, readings, change, mayValidate: may('data:write') },
        aborted,
      )
    },
    [streamId, version, text, type, change],
  )
}

/** Details of refusals with paths into the sample. */
function problemsIn(
  { previews }: TrialResult,
  sample: Extract<ReadSample, { ok: true }>,
  schema: Definition['schema'],
) {
  // Of several readings in one message it is not known where each stands.
  if (previews.length !== sample.readings.length) return []
  return previews.flatMap(({ details = [] }, index) => {
    const place = sample.places[index]
    if (place === undefined) return []
    return details.map(({ path, message }) => ({
      path: [place, placeInMessage(path, schema)].filter((part) => part !== '').join('.'),
      message: `${path}: ${message}`,
    }))
  })
}
