import { useState } from 'preact/hooks'
import type { DataStreamVersion as Version } from '../../../../../clients/typescript/operations.ts'
import { api } from '../../../api/client.ts'
import { useResource } from '../../../api/resource.ts'
import { may } from '../../../api/session.ts'
import { DiffView } from '../../../components/diff-view.tsx'
import { Loaded } from '../../../components/states.tsx'
import { Time } from '../../../components/time.tsx'
import { definitionOf, type StreamAnswer, textOf } from '../../../editor/definition.ts'
import { type QueryState, useQuery } from '../../../routing/query.ts'

export interface VersionsProps {
  readonly stream: StreamAnswer
  /** Makes the text of an earlier version the draft. */
  readonly onTake: (text: string) => void
}

/** Versions of one page. */
const shownFirst = 20

/** The newest ones, as many as are wanted: a page has a hundred at most. */
async function versionsOf(streamId: string, wanted: number, signal: AbortSignal) {
  const versions: Version[] = []
  let cursor: number | null | undefined
  do {
    const limit = Math.min(100, wanted - versions.length)
    const query = { limit, cursor: cursor ?? undefined }
    const page = await api.call('listStreamVersions', { path: { streamId }, query, signal })
    versions.push(...page.versions)
    cursor = page.nextCursor
  } while (cursor !== null && versions.length < wanted)
  return { versions, nextCursor: cursor }
}

/** How the definition was before, who has changed it when, and what differs between any two. */
export function Versions({ stream, onTake }: VersionsProps) {
  const { streamId, version: current } = stream
  const [limit, setLimit] = useState(shownFirst)
  const versions = useResource(
    (signal) => versionsOf(streamId, limit, signal),
    [streamId, current, limit],
  )
  const query = useQuery()
  return (
    <Loaded of={versions}>
      {({ versions: all, nextCursor }) => {
        const [older, newer] = chosenOf(all, query)
        if (newer === undefined || older === undefined) return null
        return (
          <>
            <VersionsTable all={all} current={current} older={older} newer={newer} query={query} />
            {nextCursor !== null && (
              <div class="row">
                <button type="button" class="button" onClick={() => setLimit(limit + shownFirst)}>
                  Show earlier versions
                </button>
              </div>
            )}
            <Compared older={older} newer={newer} />
            {may('streams:write') && older.version !== current && (
              <div class="row">
                <button
                  type="button"
                  class="button"
                  onClick={() => onTake(textOf(definitionOf(older)))}
                >
                  Make version {older.version} again
                </button>
                <span class="soft">It becomes a draft first: you see what would change.</span>
              </div>
            )}
          </>
        )
      }}
    </Loaded>
  )
}

/** The two that are compared: those of the address, else the newest with the one before. */
function chosenOf(all: readonly Version[], query: QueryState): readonly (Version | undefined)[] {
  const named = (side: string) => all.find(({ version }) => String(version) === query.get(side))
  const newer = named('newer') ?? all[0]
  const before = all.find(({ version }) => newer !== undefined && version < newer.version)
  return [named('older') ?? before ?? newer, newer]
}

function Compared({ older, newer }: { readonly older: Version; readonly newer: Version }) {
  const title = `From version ${older.version} to version ${newer.version}`
  return (
    <>
      <h2>{title}</h2>
      <DiffView
        label={title}
        before={textOf(definitionOf(older))}
        after={textOf(definitionOf(newer))}
      />
    </>
  )
}

interface VersionsTableProps {
  readonly all: readonly Version[]
  readonly current: number
  readonly older: Version
  readonly newer: Version
  readonly query: QueryState
}

function VersionsTable({ all, current, older, newer, query }: VersionsTableProps) {
  const radio = (one: Version, side: 'older' | 'newer') => (
    <label class="definition-side">
      <input
        type="radio"
        name={side}
        checked={(side === 'older' ? older : newer).version === one.version}
        onChange={() => query.set({ [side]: String(one.version) })}
      />
      {side === 'older' ? 'from' : 'to'}
      <span class="visually-hidden">version {one.version}</span>
    </label>
  )
  return (
    <div class="table-wrap">
      <table class="data cards definition-versions">
        <caption class="visually-hidden">Versions, newest first</caption>
        <thead>
          <tr>
            {['Version', 'Made', 'By key', 'Compare'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.map((one) => (
            <tr key={one.version}>
              <td class="title">
                {one.version}
                {one.version === current && <span class="soft"> current</span>}
              </td>
              <td data-label="Made">
                <Time at={one.createdAt} />
              </td>
              <td data-label="By key" class="mono">
                {one.createdBy ?? 'not written down'}
              </td>
              <td data-label="Compare">
                <span class="row">
                  {radio(one, 'older')}
                  {radio(one, 'newer')}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
