import { signal } from '@preact/signals'
import {
  changeBetween,
  type Definition,
  definitionOf,
  readDefinition,
  type StreamAnswer,
  textOf,
} from './definition.ts'

/** What somebody is writing, and the version that it began from. */
export interface Draft {
  readonly version: number
  readonly base: Definition
  /** As it is typed: it may be no JSON for a while. */
  readonly text: string
}

/** Of so many streams; who forgets that many does not miss the first. */
const draftsMax = 50

/** Drafts live as long as the page does: they outlast a session, other tabs of the stream, and other pages. */
const drafts = signal<ReadonlyMap<string, Draft>>(new Map())

/** The draft of a stream; without one it is the stream as it is. */
export function draftOf(stream: StreamAnswer): Draft {
  return drafts.value.get(stream.streamId) ?? freshDraft(stream)
}

export function freshDraft(stream: StreamAnswer): Draft {
  const base = definitionOf(stream)
  return { version: stream.version, base, text: textOf(base) }
}

export function keepDraft(streamId: string, draft: Draft): void {
  // What says what its version says is no draft: it would hold the page to that version.
  if (draft.text === textOf(draft.base)) {
    dropDraft(streamId)
    return
  }
  const others = [...drafts.peek()].filter(([id]) => id !== streamId).slice(1 - draftsMax)
  drafts.value = new Map([...others, [streamId, draft]])
}

export function dropDraft(streamId: string): void {
  drafts.value = new Map([...drafts.peek()].filter(([id]) => id !== streamId))
}

/** What would make the draft of a stream its definition; undefined where there is none, or none that can be read. */
export function changeOf(streamId: string): Readonly<Record<string, unknown>> | undefined {
  const draft = drafts.value.get(streamId)
  if (draft === undefined) return undefined
  const read = readDefinition(draft.text)
  return read.ok ? changeBetween(draft.base, read.definition) : undefined
}
