import { Badge } from '../../../components/badge.tsx'
import type { Definition } from '../../../editor/definition.ts'
import { lineAndColumn, placeOfDotted } from '../../../formats/json-place.ts'
import { readTree } from '../../../formats/json-tree.ts'
import { count } from '../../../formats/numbers.ts'
import { reasonWords } from '../../../quarantine/reasons.ts'
import { placeInMessage, type ReadSample, stepWords } from './samples.ts'
import type { Preview, TrialResult, Verdict } from './trial.ts'

export interface VerdictsProps {
  readonly result: TrialResult
  readonly definition: Definition
  readonly sample: ReadSample | undefined
  readonly text: string
}

/** Readings that are shown each by itself. */
const shownMax = 20

/** What would become of each reading of a sample. */
export function Verdicts({ result, definition, sample, text }: VerdictsProps) {
  const { previews, verdicts } = result
  const isRaw = previews.length === 0
  const all = isRaw ? (verdicts ?? []).map(previewOf) : previews
  const fitting = all.filter(({ status }) => status !== 'refused').length
  const places = sample?.ok === true && sample.readings.length === all.length ? sample.places : []
  const steps = definition.processing['transform']
  return (
    <>
      {all.length > 1 && (
        <p>
          <strong>
            {count(fitting)} of {count(all.length)} readings fit.
          </strong>
        </p>
      )}
      <ol class="definition-verdicts">
        {all.slice(0, shownMax).map((preview, index) => (
          <li key={index} class="stack">
            <div class="row">
              {all.length > 1 && <span class="soft">Reading {index + 1}</span>}
              <StatusBadge preview={preview} />
            </div>
            <Details preview={preview} place={places[index]} definition={definition} text={text} />
            <Stored verdict={verdicts?.[index]} />
            <Steps preview={preview} steps={Array.isArray(steps) ? steps : []} />
          </li>
        ))}
      </ol>
      {all.length > shownMax && (
        <p class="soft">{count(all.length - shownMax)} more are not shown.</p>
      )}
    </>
  )
}

/** What is said of a text of another kind than JSON has no steps. */
function previewOf(verdict: Verdict): Preview {
  if (verdict.status === 'rejected') {
    const { error, message, details } = verdict
    return { status: 'refused', steps: [], reason: error, message, details }
  }
  return { status: verdict.status === 'filtered' ? 'filtered' : 'stored', steps: [] }
}

function StatusBadge({ preview: { status, reason = '' } }: { readonly preview: Preview }) {
  if (status === 'stored') return <Badge tone="good">fits</Badge>
  if (status === 'filtered') return <Badge tone="quiet">filtered: it is not stored</Badge>
  return (
    <>
      <Badge tone="bad">refused</Badge>
      <span>{reasonWords(reason).name}</span>
      <code>{reason}</code>
    </>
  )
}

interface DetailsProps {
  readonly preview: Preview
  readonly place: string | undefined
  readonly definition: Definition
  readonly text: string
}

function Details({ preview, place, definition, text }: DetailsProps) {
  const { details = [], message } = preview
  if (preview.status !== 'refused') return null
  if (details.length === 0) return <p>{message}</p>
  const root = readTree(text)
  return (
    <ul class="definition-details">
      {details.map(({ path, message: what }) => {
        const inText = [place, placeInMessage(path, definition.schema)]
        const found =
          root && place !== undefined
            ? placeOfDotted(root, inText.filter((part) => part !== '').join('.'))
            : undefined
        const at = found && lineAndColumn(text, found.start)
        return (
          <li key={`${path} ${what}`}>
            <code>{path}</code> {what}
            {found?.isWhole === true && (
              <>
                {': '}
                <code class="definition-value">
                  {text.slice(found.start, found.end).slice(0, 80)}
                </code>
              </>
            )}
            {at && isInReading(path) && (
              <span class="soft">
                {' '}
                line {at.line}, column {at.column}
              </span>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** Of steps and of the source nothing stands in the reading. */
function isInReading(path: string): boolean {
  return !/^(?:processing|source)\./.test(path)
}

function Stored({ verdict }: { readonly verdict: Verdict | undefined }) {
  if (verdict?.status !== 'accepted') return null
  const { values, flagged, extra, timestamp } = verdict
  return (
    <div class="stack">
      <p class="soft">
        Stored at <code>{timestamp}</code>:
      </p>
      <pre>{JSON.stringify(values)}</pre>
      {flagged.length > 0 && (
        <p>
          Out of range, kept and marked: <code>{flagged.join(', ')}</code>
        </p>
      )}
      {extra !== undefined && (
        <p>
          Not among the fields, kept beside them: <code>{JSON.stringify(extra)}</code>
        </p>
      )}
    </div>
  )
}

function Steps({
  preview,
  steps,
}: {
  readonly preview: Preview
  readonly steps: readonly unknown[]
}) {
  if (steps.length === 0 || preview.steps.length === 0) return null
  return (
    <details open>
      <summary>Step by step</summary>
      <ol>
        {preview.steps.map((fields, at) => (
          <li key={at}>
            {stepWords(steps[at])}
            <pre>{JSON.stringify(fields)}</pre>
          </li>
        ))}
        {preview.status !== 'stored' && preview.steps.length < steps.length && (
          <li>
            {stepWords(steps[preview.steps.length])}: <strong>here it ends</strong>
          </li>
        )}
      </ol>
    </details>
  )
}
