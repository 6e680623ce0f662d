import { useRef, useState } from 'preact/hooks'
import type { Chosen } from './bulk-deeds.ts'
import type { ListedStream } from './stream-page.ts'

export interface ChosenStreams {
  readonly all: ReadonlyMap<string, Chosen>
  /** Chooses a row or no longer; with Shift all between it and the row before, too. */
  readonly toggle: (stream: ListedStream, isWithShift: boolean) => void
  /** Chooses the whole page, or nothing of it. */
  readonly togglePage: () => void
  readonly clear: () => void
}

/** Streams that are chosen, also on other pages of the list. */
export function useChosen(page: readonly ListedStream[]): ChosenStreams {
  const [all, setAll] = useState<ReadonlyMap<string, Chosen>>(new Map())
  const last = useRef<string | undefined>(undefined)
  const set = (streams: readonly ListedStream[], isChosen: boolean) => {
    setAll((before) => {
      const after = new Map(before)
      for (const { streamId: id, name } of streams) {
        if (isChosen) after.set(id, { id, name })
        else after.delete(id)
      }
      return after
    })
  }
  return {
    all,
    toggle: (stream, isWithShift) => {
      const isChosen = !all.has(stream.streamId)
      const from = page.findIndex(({ streamId }) => streamId === last.current)
      const to = page.indexOf(stream)
      const rows =
        isWithShift && from >= 0 ? page.slice(Math.min(from, to), Math.max(from, to) + 1) : [stream]
      last.current = stream.streamId
      set(rows, isChosen)
    },
    togglePage: () => set(page, !page.every(({ streamId }) => all.has(streamId))),
    clear: () => setAll(new Map()),
  }
}
