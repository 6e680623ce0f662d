import { useEffect, useMemo, useState } from 'preact/hooks'
import { api } from '../../../api/client.ts'
import { may } from '../../../api/session.ts'
import {
  changeBetween,
  readDefinition,
  type StreamAnswer,
  textOf,
} from '../../../editor/definition.ts'
import { JsonEditor } from '../../../editor/json-editor.tsx'
import type { TextProblem } from '../../../editor/text-problems.ts'
import { type QueryState, useQuery } from '../../../routing/query.ts'
import './definition.css'
import { draftOf, dropDraft, freshDraft, keepDraft } from '../../../editor/drafts.ts'
import { withType } from './fields.ts'
import { FieldsTable } from './fields-table.tsx'
import { SaveBar } from './save-bar.tsx'
import { keepSample, TrySample } from './try-sample.tsx'
import { Versions } from './versions.tsx'

export interface DefinitionTabProps {
  readonly stream: StreamAnswer
  readonly reload: () => void
}

const views = [
  ['', 'Fields'],
  ['json', 'JSON'],
  ['versions', 'Versions'],
] as const

/** What a stream takes: its fields, all of it as JSON, what a sample would become, and how it was before. */
export function DefinitionTab({ stream, reload }: DefinitionTabProps) {
  const query = useQuery()
  const view = query.get('view')
  useSample(stream.streamId, query)
  useMend(stream, query)
  return (
    <div class="stack definition">
      <ViewLinks query={query} view={view} version={stream.version} />
      {view === 'versions' ? (
        <Versions
          stream={stream}
          onTake={(text) => {
            keepDraft(stream.streamId, { ...freshDraft(stream), text })
            query.set({ view: 'json' }, 'push')
          }}
        />
      ) : (
        <>
          <Warnings warnings={stream.warnings} />
          <Editing stream={stream} reload={reload} view={view} />
        </>
      )}
    </div>
  )
}

/** The draft as a table or as JSON, its end, and a sample tried by it. */
function Editing({ stream, reload, view }: DefinitionTabProps & { readonly view: string }) {
  const { streamId } = stream
  const draft = draftOf(stream)
  const [problems, setProblems] = useState<readonly TextProblem[]>([])
  const read = useMemo(() => readDefinition(draft.text), [draft.text])
  const change = read.ok ? changeBetween(draft.base, read.definition) : undefined
  const isWritable = may('streams:write')
  const set = (text: string) => {
    setProblems([])
    keepDraft(streamId, { ...draft, text })
  }
  return (
    <>
      {view === 'json' ? (
        <JsonEditor
          label="Definition"
          value={draft.text}
          onChange={set}
          problems={problems}
          isReadOnly={!isWritable}
          height="min(34rem, 70vh)"
        />
      ) : (
        <FieldsTable
          read={read}
          isWritable={isWritable}
          problems={problems}
          onSchema={(schema) => read.ok && set(textOf({ ...read.definition, schema }))}
        />
      )}
      {isWritable && (
        <SaveBar
          stream={stream}
          draft={draft}
          read={read}
          onDraft={(next) => (next ? keepDraft(streamId, next) : dropDraft(streamId))}
          onProblems={setProblems}
          reload={reload}
        />
      )}
      <TrySample
        stream={stream}
        definition={read.ok ? read.definition : draft.base}
        change={change}
        isReadable={read.ok}
      />
    </>
  )
}

interface ViewLinksProps {
  readonly query: QueryState
  readonly view: string
  readonly version: number
}

function ViewLinks({ query, view, version }: ViewLinksProps) {
  return (
    <nav class="row definition-views" aria-label="Views of the definition">
      {views.map(([name, label]) => (
        <a
          key={name}
          class="button"
          href={query.linkTo({ view: name === '' ? undefined : name })}
          aria-current={view === name ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
      <span class="soft">version {version}</span>
    </nav>
  )
}

function Warnings({ warnings = [] }: { readonly warnings?: readonly string[] | undefined }) {
  if (warnings.length === 0) return null
  return (
    <div class="notice warn">
      {warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
    </div>
  )
}

/** A message that is longer is looked at in the quarantine: as a sample it would be sent with each letter typed. */
const sampleLengthMax = 200_000

/** Whoever comes from an entry of the quarantine has its bytes as the sample. */
function useSample(streamId: string, query: QueryState): void {
  const entryId = query.get('sample')
  useEffect(() => {
    if (entryId === '' || !may('data:read')) return undefined
    const abort = new AbortController()
    const take = async () => {
      const path = { streamId, entryId: Number(entryId) }
      const asked = { path, signal: abort.signal }
      const { payload, encoding } = await api.call('readQuarantineEntry', asked)
      const isSample = encoding === 'utf8' && payload.length <= sampleLengthMax
      if (isSample) keepSample(streamId, payload)
    }
    // It may have left the quarantine: the sample stays what it was.
    take().catch(() => undefined)
    return () => abort.abort()
  }, [streamId, entryId])
}

/** Whoever comes from an entry with a mend has a draft with it: `temperature:string`. It is there to be looked at, and not saved. */
function useMend(stream: StreamAnswer, query: QueryState): void {
  const mend = query.get('mend')
  useEffect(() => {
    if (mend === '') return
    const at = mend.lastIndexOf(':')
    const draft = draftOf(stream)
    const read = readDefinition(draft.text)
    if (read.ok && may('streams:write')) {
      const schema = withType(read.definition.schema, mend.slice(0, at), mend.slice(at + 1))
      keepDraft(stream.streamId, { ...draft, text: textOf({ ...read.definition, schema }) })
    }
    query.set({ mend: undefined })
  }, [mend])
}
