import { definedWindows } from '../../reading/windows/defined-windows.ts'
import type { WindowPoint, WindowsPage } from '../../reading/windows/read-windows.ts'
import type { StoredWindowsQuery } from '../../storage/time-series/windows/window-store.ts'
import type { VersionedDefinition } from '../../streams/data-streams/definition.ts'

/** A window, with its end. */
export interface HoldingWindow extends WindowPoint {
  readonly endUs: number
}

/** Asks for windows as they are now. @throws DomainError `overloaded`, `query_too_slow` */
export type AskWindows = (query: StoredWindowsQuery) => Promise<WindowsPage>

/**
 * The window of a stream that holds a time, if there is one. A changed definition leaves earlier windows as long as
 * they are, and they do not overlap: so it is the last one that begins by then.
 */
export async function windowAt(
  ask: AskWindows,
  { streamId, timestampUs }: { readonly streamId: string; readonly timestampUs: number },
  definitions: readonly Pick<VersionedDefinition, 'schema' | 'processing'>[],
): Promise<HoldingWindow | undefined> {
  const widths = widthsOf(definitions)
  const widest = widths.at(-1)
  if (widest === undefined) return undefined
  const { points } = await ask({
    streamIds: [streamId],
    startUs: Math.max(0, timestampUs - widest + 1),
    endUs: timestampUs + 1,
    order: 'desc',
    limit: 1,
    after: undefined,
  })
  const [last] = points
  if (last === undefined) return undefined
  const startUs = last.timestampUs
  const widthUs = widths.find((width) => startUs % width === 0 && startUs + width > timestampUs)
  return widthUs === undefined ? undefined : { ...last, endUs: startUs + widthUs }
}

/** Ascending. */
function widthsOf(
  definitions: readonly Pick<VersionedDefinition, 'schema' | 'processing'>[],
): readonly number[] {
  const widths = new Set<number>()
  for (const definition of definitions) {
    const windows = definedWindows(definition)
    if (windows) widths.add(windows.widthUs)
  }
  return [...widths].sort((left, right) => left - right)
}
